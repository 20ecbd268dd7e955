package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.agent.fallback.FailMode;
import dev.fairway.agent.fallback.FallbackConfig;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.SafeCapacity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Two clients with one agent id, such as two gateways, when the coordinator falls silent. */
class SharesOfOneIdTest {
  private static final long SILENT_AFTER_MS = 5_000;
  private static final long CALLS_PER_MINUTE = 12;

  private final ClientFixture one = fixture();
  private final ClientFixture other = fixture();

  private static ClientFixture fixture() {
    return new ClientFixture(
        settings ->
            settings
                .callTimeout(Duration.ofMinutes(20))
                .fallback(
                    new FallbackConfig(FailMode.SAFE_SHARE, Duration.ofMillis(SILENT_AFTER_MS))));
  }

  @Test
  void shouldUseTheShareOfAnAgentOnceInAll() {
    // given: an agent that calls through both, at last through the other one
    tellShare(one, null, 1);
    tellShare(other, null, 2);

    // when
    List<CompletableFuture<Lease>> calls = callsOf(null);
    pass(SILENT_AFTER_MS + 60_000);

    // then
    assertThat(done(calls)).isEqualTo(CALLS_PER_MINUTE);
    assertThat(other.stats().unleased()).isEqualTo(CALLS_PER_MINUTE);
    assertThat(one.calls.safeCapacity(ClientFixture.AGENT, ClientFixture.QUOTA)).isEmpty();
    assertThat(other.calls.safeCapacity(ClientFixture.AGENT, ClientFixture.QUOTA)).isPresent();
  }

  @Test
  void shouldUseTheSharesOfAllMembersOnceInAllWhereverTheyCallNow() {
    // given: each agent has its own gateway
    tellShare(one, "a", 1);
    tellShare(other, "b", 2);
    tellShare(one, "c", 3);

    // when: in the silence all of them call at both
    List<CompletableFuture<Lease>> calls = callsOf("a");
    calls.addAll(callsOf("b"));
    calls.addAll(callsOf("c"));
    pass(SILENT_AFTER_MS + 60_000);

    // then
    assertThat(one.stats().unleased()).isEqualTo(2 * CALLS_PER_MINUTE);
    assertThat(other.stats().unleased()).isEqualTo(CALLS_PER_MINUTE);
    assertThat(done(calls)).isEqualTo(3 * CALLS_PER_MINUTE);
  }

  @Test
  void shouldNotTakeTheShareBackByAnOlderDecisionThatComesAgain() {
    // given
    Decision first = tellShare(one, "a", 1);
    Decision second = tellShare(other, "a", 2);

    // when
    deliver(first);
    deliver(second);

    // then
    assertThat(one.calls.safeCapacity(ClientFixture.AGENT + ":a", ClientFixture.QUOTA)).isEmpty();
    assertThat(other.calls.safeCapacity(ClientFixture.AGENT + ":a", ClientFixture.QUOTA))
        .isPresent();
  }

  @Test
  void shouldKeepTheShareOfARequestWithAnIdOfItsOwnWhileItIsKnown() {
    // given: a request that is named by its caller, and withdrawn
    CompletableFuture<Lease> call =
        one.calls.acquire(ClientFixture.call().requestId("named").build());
    call.cancel(false);

    // when
    deliver(decision(one, "named", 1));

    // then
    assertThat(one.calls.safeCapacity(ClientFixture.AGENT, ClientFixture.QUOTA)).isPresent();
    assertThat(other.calls.safeCapacity(ClientFixture.AGENT, ClientFixture.QUOTA)).isEmpty();
  }

  private Decision tellShare(ClientFixture to, String member, long sequence) {
    CompletableFuture<Lease> call = to.calls.acquire(ClientFixture.call().member(member).build());
    Decision decision = decision(to, to.lastRequestId(), sequence);
    deliver(decision);
    call.join().close();
    return decision;
  }

  private static Decision decision(ClientFixture to, String requestId, long sequence) {
    Amounts share =
        Amounts.newBuilder()
            .setInputTokens(CALLS_PER_MINUTE * 100)
            .setOutputTokens(CALLS_PER_MINUTE * 50)
            .build();
    return to.grantBuilder(requestId, 1, ClientFixture.TTL_MS)
        .setDecisionId("decision-" + sequence)
        .setSequence(sequence)
        .setSafeCapacity(new SafeCapacity(share, 600_000L))
        .build();
  }

  /** All clients with one id read the same decisions in the same order. */
  private void deliver(Decision decision) {
    one.deliver(decision);
    other.deliver(decision);
  }

  private List<CompletableFuture<Lease>> callsOf(String member) {
    List<CompletableFuture<Lease>> calls = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      for (ClientFixture client : List.of(one, other)) {
        calls.add(client.calls.acquire(ClientFixture.call().member(member).build()));
      }
    }
    return calls;
  }

  private void pass(long ms) {
    one.timers.advance(ms);
    other.timers.advance(ms);
  }

  private static long done(List<CompletableFuture<Lease>> calls) {
    return calls.stream().filter(CompletableFuture::isDone).count();
  }
}
