package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.admission.engine.Event.DecisionRepeated;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.CallTokens;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What no honest agent sends: numbers and ids out of their grammar, times long gone. */
class RefusedInputTest {

  @ParameterizedTest
  @ValueSource(longs = {-1, CallTokens.MOST + 1, 1L << 62})
  void shouldRejectAbsurdTokensAndTellWhy(long tokens) {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));

    // when
    List<Event> answered = context.ask("r1", "a1", tokens);

    // then
    assertThat(only(answered, LeaseRejected.class).reason()).isEqualTo(RejectReason.INVALID);
    assertThat(only(answered, LeaseRejected.class).detail())
        .contains("Expected input_tokens from 0 to", String.valueOf(tokens));
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(500);
  }

  @ParameterizedTest
  @EnumSource(
      value = Outcome.class,
      names = {"SUCCEEDED", "UNLEASED"})
  void shouldRefuseAnAbsurdUsageReport(Outcome outcome) {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));
    String lease = granted(context.ask("r1", "a1", 10));
    Settlement report =
        new Settlement(
            lease,
            "r2",
            "a1",
            EngineContext.QUOTA,
            outcome,
            new Settlement.Usage(CallTokens.MOST, 0L, 0L, CallTokens.MOST + 1, true),
            false,
            null);

    // when
    Command command = new Command.SettleLease(report, context.nowMs);

    // then
    assertThatThrownBy(() -> context.submit(command))
        .isInstanceOf(InvalidCommandException.class)
        .hasMessage("Expected usage.output_tokens from 0 to 100000000, but found 100000001");
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(490);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a/b", "ä", "a b"})
  void shouldRejectAnAgentsBadIdsAndRefuseABadAgent(String id) {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));

    // when
    LeaseRejected told = only(context.ask(id, "a1", 10), LeaseRejected.class);

    // then
    assertThat(told.reason()).isEqualTo(RejectReason.INVALID);
    assertThat(told.detail()).contains("Expected a request_id");
    assertThat(told.requestId()).isEqualTo(id);
    assertThatThrownBy(() -> context.ask("r1", id, 10))
        .isInstanceOf(InvalidCommandException.class)
        .hasMessageContaining("Expected an agent_id");
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(500);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 4_102_444_800_000L})
  void shouldRejectADeadlineBeforeTheEpochOrInTheYear2100(long deadlineMs) {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));

    // when
    List<Event> answered =
        context.ask(
            Asking.like(EngineContext.request("r1", "a1", 10, 0)).deadlineMs(deadlineMs).request());

    // then
    assertThat(only(answered, LeaseRejected.class).reason()).isEqualTo(RejectReason.INVALID);
  }

  @Test
  void shouldRejectAStaleRequestUnlessItIsKnown() {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));
    LeaseRequest known = EngineContext.request("r1", "a1", 10, 0);
    LeaseRequest unknown = EngineContext.request("r2", "a1", 10, 0);
    context.ask(known);
    long old = context.nowMs - 600_001;

    // when
    List<Event> repeated = context.submit(new Command.RequestLease(known, old));
    List<Event> stale = context.submit(new Command.RequestLease(unknown, old));

    // then
    only(repeated, DecisionRepeated.class);
    assertThat(only(stale, LeaseRejected.class).reason()).isEqualTo(RejectReason.STALE);
  }

  private static String granted(List<Event> events) {
    return only(events, LeaseGranted.class).leaseId();
  }
}
