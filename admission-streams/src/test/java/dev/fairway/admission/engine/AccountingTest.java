package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseExpired;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseRenewed;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.QuotaDefinition.OutputReservation;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What of a call counts, where that is the model's to say: output burndown and cache reads. */
class AccountingTest {
  private static final Amounts MINUTE = EngineContext.tokens(60_000);

  /** Where a bucket begins: its depth is one second short of a minute. */
  private static final long FULL = 59_000;

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldReserveAndSettleOutputTimesItsBurndown(Preset preset) {
    // given
    EngineContext context = EngineContext.with(burning(MINUTE, 5).preset(preset).definition());

    // when
    String lease = granted(context.ask(EngineContext.request("r1", "a1", 1_000, 400)));
    final long afterGrant = context.level(Dimension.TOKENS);
    List<Event> settled = context.settle(lease, "a1", Outcome.SUCCEEDED, 900L, 300L);

    // then
    assertThat(afterGrant).isEqualTo(FULL - 1_000 - 5 * 400);
    assertThat(only(settled, LeaseSettled.class).actual())
        .isEqualTo(EngineContext.tokens(900 + 5 * 300));
    assertThat(only(settled, LeaseSettled.class).usedOutput()).isEqualTo(300);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(FULL - 900 - 5 * 300);
  }

  @Test
  void shouldCountTheBurndownWhateverIsLimited() {
    // given
    Amounts limits =
        Amounts.of(Dimension.INPUT_TOKENS, 60_000).with(Dimension.OUTPUT_TOKENS, 60_000);
    EngineContext context = EngineContext.with(burning(limits, 15).definition());

    // when
    String lease = granted(context.ask(EngineContext.request("r1", "a1", 1_000, 400)));
    context.settle(lease, "a1", Outcome.SUCCEEDED, 1_000L, 100L);

    // then
    assertThat(context.level(Dimension.INPUT_TOKENS)).isEqualTo(FULL - 1_000);
    assertThat(context.level(Dimension.OUTPUT_TOKENS)).isEqualTo(FULL - 15 * 100);
  }

  @Test
  void shouldKeepWhatWasToldOnTheWayTimesTheBurndown() {
    // given: a call that was told to have produced more than was reserved
    EngineContext context = EngineContext.with(burning(MINUTE, 5).definition());
    String told = granted(context.ask(EngineContext.request("r1", "a1", 1_000, 100)));
    List<Event> interim = context.settle(told, "a1", Outcome.IN_PROGRESS, 1_000L, 200L);
    final String silent = granted(context.ask(EngineContext.request("r2", "a1", 1_000, 100)));
    context.settle(silent, "a1", Outcome.IN_PROGRESS, 1_000L, 200L);

    // when: one ends without a word, and the other never does
    List<Event> ended = context.settle(told, "a1", Outcome.FAILED_AFTER_SEND, null, null);
    List<Event> later = context.sleep(130_000);

    // then
    assertThat(only(interim, LeaseRenewed.class).told().output()).isEqualTo(5 * 200);
    assertThat(only(ended, LeaseSettled.class).actual())
        .isEqualTo(EngineContext.tokens(1_000 + 5 * 200));
    assertThat(only(later, LeaseExpired.class).adjusted())
        .isEqualTo(EngineContext.tokens(-5 * (200 - 100)));
  }

  @Test
  void shouldChargeACallWithoutALeaseItsBurndown() {
    // given
    EngineContext context = EngineContext.with(burning(MINUTE, 10).definition());
    UnaryOperator<Settlement> unleased =
        s ->
            new Settlement(
                null,
                "u1",
                "a1",
                s.quotaId(),
                Outcome.UNLEASED,
                new Usage(700L, null, null, 50L, true),
                false,
                null);

    // when
    List<Event> events = context.settle(null, "a1", Outcome.UNLEASED, null, null, unleased);

    // then
    assertThat(only(events, UnleasedCharged.class).charged())
        .isEqualTo(EngineContext.tokens(700 + 10 * 50));
  }

  @ParameterizedTest
  @CsvSource({"3_000, 46_000", "4_000, 60_000", "59_000, 60_000", "59_001, "})
  void shouldRefuseForItsBurndownNothingThatTheProviderTakes(String maxTokens, String charged) {
    // given: max_tokens is reserved, and its burndown is more than the quota holds
    EngineContext context =
        EngineContext.with(
            burning(MINUTE, 15).outputReservation(OutputReservation.MAX_TOKENS).definition());
    long most = number(maxTokens);

    // when
    List<Event> events = context.ask(EngineContext.request("r1", "a1", 1_000, most));

    // then
    if (charged == null) {
      assertThat(only(events, LeaseRejected.class).reason()).isEqualTo(RejectReason.NEVER_FITS);
    } else {
      assertThat(charged(events)).isEqualTo(EngineContext.tokens(number(charged)));
    }
  }

  /** A call that failed, by provider, preset, status and whether the answer named the limits. */
  @ParameterizedTest
  @CsvSource({
    "openai, FAIRWAY, 400, true, 1400",
    "openai, FAIRWAY, 422, true, 1400",
    "openai, FAIRWAY, 400, false, 0",
    "openai, FAIRWAY, 404, false, 0",
    "openai, FAIRWAY, 500, true, 0",
    "openai, SEED, 400, true, 0",
    "anthropic, FAIRWAY, 400, true, 0"
  })
  void shouldCountAFailedCallWhereTheProviderCountedItBeforeItRefusedIt(
      String provider, Preset preset, int status, boolean named, long counts) {
    // given
    QuotaDefinition quota =
        Redefined.like(EngineContext.quota(MINUTE, null))
            .provider(provider)
            .preset(preset)
            .outputReservation(OutputReservation.MAX_TOKENS)
            .definition();
    EngineContext context = EngineContext.with(quota);
    String lease = granted(context.ask(EngineContext.request("r1", "a1", 1_000, 400)));
    Map<Dimension, Reading> limits =
        named ? Map.of(Dimension.TOKENS, new Reading(60_000L, null, null)) : Map.of();
    Signal signal = new Signal(status, Kind.ERROR, null, null, 0L, 10L, limits);

    // when: who made the call says that it used nothing
    List<Event> settled =
        context.settle(
            lease,
            "a1",
            Outcome.FAILED_AFTER_SEND,
            0L,
            0L,
            s ->
                new Settlement(
                    s.leaseId(), null, "a1", s.quotaId(), s.outcome(), s.usage(), false, signal));

    // then
    assertThat(only(settled, LeaseSettled.class).actual()).isEqualTo(EngineContext.tokens(counts));
  }

  @Test
  void shouldReserveWhatItLearnedTimesTheBurndown() {
    // given: a role whose calls produce 200 tokens
    QuotaDefinition quota =
        burning(MINUTE, 5).outputReservation(OutputReservation.LEARNED).definition();
    EngineContext context = EngineContext.with(quota);
    for (int i = 0; i < 4; i++) {
      String lease = granted(context.ask(EngineContext.request("r" + i, "a1", 100, 1_000)));
      context.settle(lease, "a1", Outcome.SUCCEEDED, 100L, 200L);
    }

    // when: also when the burndown is another since
    List<Event> same = context.ask(EngineContext.request("same", "a1", 100, 1_000));
    context.submit(
        new Command.DefineQuota(
            burning(MINUTE, 10).outputReservation(OutputReservation.LEARNED).definition(),
            EngineContext.SALT));
    List<Event> another = context.ask(EngineContext.request("another", "a1", 100, 1_000));

    // then
    assertThat(charged(same)).isEqualTo(EngineContext.tokens(100 + 5 * 200));
    assertThat(charged(another)).isEqualTo(EngineContext.tokens(100 + 10 * 200));
  }

  @Test
  void shouldBelieveNoMoreThanTenMinutesOfTheLimitTimesTheBurndown() {
    // given
    EngineContext context = EngineContext.with(burning(MINUTE, 5).definition());
    String lease = granted(context.ask(EngineContext.request("r1", "a1", 0, 10)));

    // when
    List<Event> settled = context.settle(lease, "a1", Outcome.SUCCEEDED, 0L, 1_000_000L);

    // then
    assertThat(only(settled, LeaseSettled.class).actual()).isEqualTo(EngineContext.tokens(600_000));
  }

  @Test
  void shouldChargeAnotherQuotaTheBurndownOfTheCallsOwn() {
    // given: the model's quota, and one of all models
    EngineContext context = new EngineContext(1_000_000);
    context.submit(
        new Command.DefineQuota(burning(MINUTE, 2).id("k/all").definition(), EngineContext.SALT));
    context.submit(
        new Command.DefineQuota(
            burning(MINUTE, 5).takingFrom("k/all").definition(), EngineContext.SALT));

    // when
    String lease = granted(context.ask(EngineContext.request("r1", "a1", 1_000, 400)));
    final long held = context.engine.show("k/all", context.nowMs).levels().get(Dimension.TOKENS);
    context.settle(lease, "a1", Outcome.SUCCEEDED, 1_000L, 300L);

    // then
    assertThat(held).isEqualTo(FULL - 1_000 - 5 * 400);
    assertThat(context.engine.show("k/all", context.nowMs).levels().get(Dimension.TOKENS))
        .isEqualTo(FULL - 1_000 - 5 * 300);
  }

  @ParameterizedTest
  @CsvSource({
    "anthropic, , false",
    "anthropic, true, true",
    "openai, , true",
    "openai, false, false"
  })
  void shouldCountCacheReadsAsTheQuotaSaysElseAsItsProvider(
      String provider, Boolean said, boolean counts) {
    // given
    EngineContext context =
        EngineContext.with(
            Redefined.like(EngineContext.quota(MINUTE, null))
                .provider(provider)
                .cacheReadsCount(said)
                .definition());
    LeaseRequest request = EngineContext.request("r1", "a1", 100, 0);
    LeaseRequest cached =
        Asking.like(request)
            .estimate(new LeaseRequest.Estimate(100L, 5_000, context.nowMs + 60_000, 0L, ""))
            .request();

    // when
    List<Event> asked = context.ask(cached);
    List<Event> settled =
        context.settle(
            granted(asked),
            "a1",
            Outcome.SUCCEEDED,
            null,
            null,
            s ->
                new Settlement(
                    s.leaseId(),
                    null,
                    "a1",
                    s.quotaId(),
                    Outcome.SUCCEEDED,
                    new Usage(100L, 4_000L, 0L, 0L, true),
                    false,
                    null));

    // then
    assertThat(charged(asked)).isEqualTo(EngineContext.tokens(counts ? 5_100 : 100));
    assertThat(only(settled, LeaseSettled.class).actual())
        .isEqualTo(EngineContext.tokens(counts ? 4_100 : 100));
  }

  @ParameterizedTest
  @CsvSource({"0", "101", "-5"})
  void shouldRefuseABurndownThatIsNone(int burndown) {
    assertThat(
            DefinitionRules.violations(
                Redefined.like(EngineContext.quota(MINUTE, null))
                    .outputBurndown(burndown)
                    .definition()))
        .containsExactly("output_burndown: expected 1 to 100, but found " + burndown);
  }

  private static Redefined burning(Amounts limits, int burndown) {
    return Redefined.like(EngineContext.quota(limits, null)).outputBurndown(burndown);
  }

  private static long number(String text) {
    return Long.parseLong(text.replace("_", ""));
  }

  private static String granted(List<Event> events) {
    return only(events, LeaseGranted.class).leaseId();
  }

  private static Amounts charged(List<Event> events) {
    return only(events, LeaseGranted.class).charged();
  }
}
