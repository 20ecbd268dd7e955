package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.AlertCleared;
import dev.fairway.admission.engine.Event.AlertRaised;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.alert.AlertKind;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is learned of settled calls, and what follows from it. */
class LearnedEstimatesTest {
  private static final Amounts LIMITS =
      Amounts.of(Dimension.INPUT_TOKENS, 100_000_000).with(Dimension.OUTPUT_TOKENS, 100_000_000);

  private int calls;

  private static EngineContext context() {
    return EngineContext.with(
        EngineContext.quota(LIMITS, null, MarginModeName.RATE, 1.0, Window.TOKEN_BUCKET));
  }

  private static LeaseRequest request(String id, String agent, String role, Long in, Long out) {
    return new LeaseRequest(
        id,
        agent,
        EngineContext.QUOTA,
        null,
        role,
        "batch",
        null,
        0,
        null,
        new Estimate(in, 0, null, out, ""),
        null,
        null,
        null,
        null);
  }

  private Amounts charged(EngineContext context, String role, Long in, Long out) {
    return only(context.ask(request("c" + calls++, "a1", role, in, out)), LeaseGranted.class)
        .charged();
  }

  private List<Event> call(
      EngineContext context, String agent, String role, Long estimate, long input, long output) {
    LeaseGranted granted =
        only(
            context.ask(request("c" + calls++, agent, role, estimate, 8_192L)), LeaseGranted.class);
    return context.settle(granted.leaseId(), agent, Outcome.SUCCEEDED, input, output);
  }

  @Test
  void shouldReserveMaxTokensUntilOutputsAreKnownAndThenTheirUpperQuartile() {
    // given
    EngineContext context = context();

    // when
    long first = charged(context, "worker", 1L, 8_192L).get(Dimension.OUTPUT_TOKENS);
    for (long output : new long[] {400, 100, 300, 200}) {
      call(context, "a1", "worker", 1L, 1, output);
    }

    // then
    assertThat(first).isEqualTo(8_192);
    assertThat(charged(context, "worker", 1L, 8_192L).get(Dimension.OUTPUT_TOKENS)).isEqualTo(300);
    assertThat(charged(context, "worker", 1L, 250L).get(Dimension.OUTPUT_TOKENS)).isEqualTo(250);
    assertThat(charged(context, "worker", 1L, null).get(Dimension.OUTPUT_TOKENS)).isEqualTo(300);
    // A role that nobody knows yet is taken for one of all.
    assertThat(charged(context, "stranger", 1L, 8_192L).get(Dimension.OUTPUT_TOKENS))
        .isEqualTo(300);
  }

  @Test
  void shouldReserveNoMoreOutputThanFitsWhileNothingIsKnown() {
    // given: max_tokens above the limit, which the provider would let through
    EngineContext output = EngineContext.with(Amounts.of(Dimension.OUTPUT_TOKENS, 8_000), null);
    EngineContext combined = EngineContext.with(EngineContext.tokens(8_000), null);

    // when
    LeaseGranted granted =
        only(output.ask(request("r", "a1", "worker", 500L, 8_192L)), LeaseGranted.class);
    output.settle(granted.leaseId(), "a1", Outcome.SUCCEEDED, 500L, 300L);

    // then: debt would absorb the rest, and what was too much comes back
    assertThat(granted.charged().get(Dimension.OUTPUT_TOKENS)).isEqualTo(8_000);
    assertThat(output.level(Dimension.OUTPUT_TOKENS)).isEqualTo(7_567);
    assertThat(charged(combined, "worker", 500L, 8_192L).get(Dimension.TOKENS)).isEqualTo(8_000);
  }

  @Test
  void shouldStillRefuseWhatTheProviderItselfReservesAboveItsLimit() {
    // given
    EngineContext context =
        EngineContext.with(
            Redefined.like(EngineContext.quota(Amounts.of(Dimension.OUTPUT_TOKENS, 8_000), null))
                .provider("bedrock")
                .definition());

    // when
    List<Event> events = context.ask(request("r", "a1", "worker", 500L, 8_192L));

    // then
    assertThat(only(events, LeaseRejected.class).reason()).isEqualTo(RejectReason.NEVER_FITS);
  }

  @Test
  void shouldTakeTheRolesMeanForAMissingEstimateAndZeroForZero() {
    // given
    EngineContext context = context();

    // when
    long unknown = charged(context, "worker", null, 1L).get(Dimension.INPUT_TOKENS);
    for (int i = 0; i < 4; i++) {
      call(context, "a1", "worker", null, 4_000 + 1_000 * i, 1);
    }

    // then
    assertThat(unknown).isEqualTo(2_000);
    assertThat(charged(context, "worker", null, 1L).get(Dimension.INPUT_TOKENS)).isEqualTo(5_500);
    assertThat(charged(context, "worker", 0L, 1L).get(Dimension.INPUT_TOKENS)).isZero();
    assertThat(charged(context, "other", null, 1L).get(Dimension.INPUT_TOKENS)).isEqualTo(2_000);
  }

  @Test
  void shouldGainNothingByEstimatingTooLittle() {
    // given: half of what calls use
    EngineContext context = context();
    for (int i = 0; i < 200; i++) {
      call(context, "a1", "worker", 1_000L, 2_000, 1);
    }

    // then: what the role asks for is corrected, and nobody else's
    assertThat(charged(context, "worker", 1_000L, 1L).get(Dimension.INPUT_TOKENS))
        .isBetween(1_990L, 2_000L);
    assertThat(charged(context, "reviewer", 1_000L, 1L).get(Dimension.INPUT_TOKENS))
        .isEqualTo(1_000);
  }

  @Test
  void shouldRaiseAnAlertAfterFiveMinutesOfBadEstimatesAndClearItWhenTheyAreGood() {
    // given
    EngineContext context = context();
    for (int i = 0; i < 20; i++) {
      call(context, "a7", "worker", 1_000L, 2_000, 1);
      context.sleep(1_000);
    }

    // when
    List<Event> within = context.sleep(270_000);
    List<Event> after = context.sleep(30_000);
    List<Event> good = List.of();
    for (int i = 0; i < 40 && good.stream().noneMatch(AlertCleared.class::isInstance); i++) {
      good = call(context, "a7", "worker", 1_000L, 1_000, 1);
    }

    // then
    assertThat(within).noneMatch(AlertRaised.class::isInstance);
    assertThat(after)
        .filteredOn(AlertRaised.class::isInstance)
        .extracting(e -> ((AlertRaised) e).subject())
        .containsExactlyInAnyOrder("agent:a7", "role:worker");
    assertThat(good)
        .filteredOn(AlertCleared.class::isInstance)
        .contains(new AlertCleared("k/q", AlertKind.ESTIMATE_ERROR, "agent:a7"));
    assertThat(context.show().alerts()).isEmpty();
  }

  @Test
  void shouldClearAnAlertAboutSomebodyWhoIsNoLongerHeardOf() {
    // given
    EngineContext context = context();
    for (int i = 0; i < 20; i++) {
      call(context, "a7", "worker", 1_000L, 2_000, 1);
    }
    context.sleep(300_000);
    assertThat(context.show().alerts()).hasSize(2);

    // when
    context.sleep(3_300_000);

    // then: and it does not come back by itself
    assertThat(context.show().alerts()).isEmpty();
    assertThat(context.sleep(3_600_000)).isEmpty();
  }

  @Test
  void shouldBoundWhatItRemembersAndForgetItAfterADay() {
    // given
    EngineContext context = context();

    // when
    for (int i = 0; i < 230; i++) {
      call(context, "agent-" + i, "role-" + i, 1_000L, 1_000, 7);
    }
    long roles = rows(context, Row.Kind.ROLE);
    context.sleep(25L * 3_600_000);
    context.ask(request("last", "a", "worker", 1L, 1L));

    // then: 200 roles and all of them together
    assertThat(roles).isEqualTo(201);
    assertThat(rows(context, Row.Kind.ROLE)).isZero();
    assertThat(rows(context, Row.Kind.OUTPUTS)).isZero();
    assertThat(rows(context, Row.Kind.AGENT)).isZero();
  }

  private static long rows(EngineContext context, Row.Kind kind) {
    return context.engine.rows(EngineContext.KEY).stream()
        .filter(row -> row.id().kind() == kind)
        .count();
  }
}
