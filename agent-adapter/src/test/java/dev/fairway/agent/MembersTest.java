package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** One client speaks for many agents. */
class MembersTest {
  private final ClientFixture client = new ClientFixture();

  @Test
  void shouldAskAndSettleInTheNameOfAMember() {
    // given
    CompletableFuture<Lease> future = acquire("session-1");

    // when
    client.deliver(client.grant(client.lastRequestId(), 1));
    var unused = future.join().succeeded(UsageReport.of(10, 5), null);

    // then
    assertThat(client.outbox.requests.get(0).getAgentId()).isEqualTo("agent-1:session-1");
    assertThat(client.outbox.lastSettlement().getAgentId()).isEqualTo("agent-1:session-1");
    assertThat(future.join().agentId()).isEqualTo("agent-1:session-1");
  }

  @Test
  void shouldKeepMembersApart() {
    // given
    CompletableFuture<Lease> first = acquire("session-1");
    String firstId = client.lastRequestId();
    CompletableFuture<Lease> second = acquire("session-2");
    String secondId = client.lastRequestId();

    // when: a decision that names the other member
    client.deliver(grantTo("agent-1:session-2", firstId));
    client.deliver(client.grant(secondId, 1));

    // then
    assertThat(first).isNotDone();
    assertThat(second).isCompleted();
    assertThat(client.stats().foreignReplies()).isEqualTo(1);
  }

  @Test
  void shouldIgnoreMembersOfOthers() {
    // given
    CompletableFuture<Lease> future = acquire("session-1");

    // when
    client.deliver(grantTo("agent-10:session-1", client.lastRequestId()));

    // then
    assertThat(future).isNotDone();
    assertThat(client.stats().foreignReplies()).isEqualTo(1);
  }

  @Test
  void shouldCancelAndGiveBackInTheNameOfAMember() {
    // given
    CompletableFuture<Lease> future = acquire("session-1");
    String requestId = client.lastRequestId();

    // when: the grant crosses the cancellation
    future.cancel(false);
    client.deliver(client.grant(requestId, 1));

    // then
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.CANCELLED, Outcome.NOT_SENT);
    assertThat(client.outbox.settlements)
        .extracting(Settlement::getAgentId)
        .containsOnly("agent-1:session-1");
  }

  @Test
  void shouldRefuseMembersWhoseAgentIdIsOutOfTheGrammar() {
    // when / then
    assertThatThrownBy(() -> ClientFixture.call().member("a b").build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a member");
    assertThatThrownBy(() -> acquire("m".repeat(95)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("an agent id");
  }

  private Decision grantTo(String agentId, String requestId) {
    return client.grantBuilder(requestId, 1, ClientFixture.TTL_MS).setAgentId(agentId).build();
  }

  private CompletableFuture<Lease> acquire(String member) {
    return client.calls.acquire(ClientFixture.call().member(member).build());
  }
}
