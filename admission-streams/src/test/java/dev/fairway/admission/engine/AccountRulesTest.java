package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.SALT;
import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.quota;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.LimitForgotten;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.OutputReservation;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.margin.LearnedLimits;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each rule of what is charged, and of what is known of a limit, at work where it is on, and not
 * where it is off, under both presets.
 */
class AccountRulesTest {

  private static EngineContext with(QuotaDefinition d, Preset preset, Rule rule, boolean on) {
    return EngineContext.with(Redefined.like(d).preset(preset).rule(rule, on).definition());
  }

  private static String lease(EngineContext context, String id, long input) {
    return only(context.ask(id, "a1", input), LeaseGranted.class).leaseId();
  }

  private static long charged(EngineContext context, Estimate estimate) {
    LeaseRequest request =
        Asking.like(EngineContext.request("asked", "a1", 0, 0)).estimate(estimate).request();
    return only(context.ask(request), LeaseGranted.class).charged().get(Dimension.TOKENS);
  }

  // ---- charges

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldTakeTheRolesMeanForAMissingEstimate(Preset preset) {
    Estimate missing = new Estimate(null, 0, null, 0L, "");
    assertThat(charged(after30Calls(preset, Rule.LEARNED_ESTIMATE, true), missing)).isEqualTo(700);
    assertThat(charged(after30Calls(preset, Rule.LEARNED_ESTIMATE, false), missing))
        .isEqualTo(2_000);
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldCorrectEstimates(Preset preset) {
    Estimate half = new Estimate(350L, 0, null, 0L, "");
    assertThat(charged(after30Calls(preset, Rule.ESTIMATE_CORRECTION, true), half))
        .isBetween(500L, 700L);
    assertThat(charged(after30Calls(preset, Rule.ESTIMATE_CORRECTION, false), half)).isEqualTo(350);
  }

  /** Of 700 tokens each, of which agents estimate half. */
  private static EngineContext after30Calls(Preset preset, Rule rule, boolean on) {
    EngineContext context = with(quota(tokens(600_000), null), preset, rule, on);
    for (int i = 0; i < 30; i++) {
      context.settle(lease(context, "c" + i, 350), "a1", Outcome.SUCCEEDED, 700L, 0L);
    }
    return context;
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldChargeAPrefixWhoseCacheIsCold(Preset preset) {
    Estimate cold = new Estimate(10L, 3_000, null, 0L, "");
    QuotaDefinition definition = quota(tokens(60_000), null);
    assertThat(charged(with(definition, preset, Rule.COLD_CACHE, true), cold)).isEqualTo(3_010);
    assertThat(charged(with(definition, preset, Rule.COLD_CACHE, false), cold)).isEqualTo(10);
  }

  // ---- windows and margins

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldRefundNothingOfAMinuteThatIsOver(Preset preset) {
    assertThat(levelAfterALateRefund(preset, true)).isEqualTo(200);
    assertThat(levelAfterALateRefund(preset, false)).isEqualTo(600);
  }

  private static long levelAfterALateRefund(Preset preset, boolean on) {
    QuotaDefinition fixed = quota(tokens(600), null, MarginModeName.RATE, 1.0, Window.FIXED);
    EngineContext context = with(fixed, preset, Rule.EXACT_WINDOWS, on);
    String lease = lease(context, "r1", 500);
    context.sleep(20_150);
    lease(context, "r2", 400);
    context.settle(lease, "a1", Outcome.SUCCEEDED, 100L, 0L);
    return context.level(Dimension.TOKENS);
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldAddUpTheLastMinuteOfARollingWindow(Preset preset) {
    assertThat(grantsOf70Seconds(preset, true)).isEqualTo(1);
    assertThat(grantsOf70Seconds(preset, false)).isZero();
  }

  /** Behind a call that took all of a bucket as deep as the limit. */
  private static long grantsOf70Seconds(Preset preset, boolean on) {
    QuotaDefinition rolling =
        Redefined.like(quota(tokens(600), null, MarginModeName.RATE, 1.0, Window.ROLLING))
            .depth(tokens(600))
            .maxQueueWaitMs(3_600_000L)
            .definition();
    EngineContext context = with(rolling, preset, Rule.EXACT_WINDOWS, on);
    lease(context, "r1", 600);
    context.ask("r2", "a2", 100);
    return context.sleep(70_000).stream().filter(LeaseGranted.class::isInstance).count();
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldKeepWhatWasUsedWhenTheMarginShrinks(Preset preset) {
    assertThat(levelAfterAShrink(preset, true)).isEqualTo(600 - 240);
    assertThat(levelAfterAShrink(preset, false)).isEqualTo(600);
  }

  private static long levelAfterAShrink(Preset preset, boolean on) {
    EngineContext context = with(fixed(0.85), preset, Rule.KEEP_USE, on);
    context.sleep(30_000);
    lease(context, "r1", 240);
    QuotaDefinition shrunk =
        Redefined.like(fixed(0.6)).preset(preset).rule(Rule.KEEP_USE, on).definition();
    context.submit(new Command.DefineQuota(shrunk, SALT));
    return context.level(Dimension.TOKENS);
  }

  private static QuotaDefinition fixed(double start) {
    return quota(tokens(1_000), null, MarginModeName.RATE, start, Window.FIXED);
  }

  // ---- headers

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldLiftNothingByWhatIsLeftOfALargerLimit(Preset preset) {
    assertThat(levelAfterALargerLimit(preset, true)).isEqualTo(29_000);
    assertThat(levelAfterALargerLimit(preset, false)).isEqualTo(59_000);
  }

  private static long levelAfterALargerLimit(Preset preset, boolean on) {
    QuotaDefinition definition = quota(tokens(60_000), tokens(30_000));
    EngineContext context = with(definition, preset, Rule.OWN_LIMIT, on);
    header(context, lease(context, "r1", 1_000), new Reading(450_000L, 400_000L, null));
    return context.level(Dimension.TOKENS);
  }

  private static List<Event> header(EngineContext context, String lease, Reading reading) {
    return context.settle(
        lease, Outcome.SUCCEEDED, 1_000L, 0L, Dimension.TOKENS, reading, 0L, (Long) 0L);
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldForgetALowerLimitThatNobodyNames(Preset preset) {
    assertThat(forgotten(preset, true)).isEqualTo(1);
    assertThat(forgotten(preset, false)).isZero();
  }

  private static long forgotten(Preset preset, boolean on) {
    EngineContext context = with(quota(tokens(60_000), null), preset, Rule.LIMIT_EXPIRY, on);
    header(context, lease(context, "r1", 1_000), new Reading(30_000L, null, null));
    return context.sleep(LearnedLimits.FORGET_MS).stream()
        .filter(LimitForgotten.class::isInstance)
        .count();
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldLearnWhatOthersTake(Preset preset) {
    assertThat(outside(preset, true)).isPositive();
    assertThat(outside(preset, false)).isZero();
  }

  /** After headers that tell less than is assumed, again and again. */
  private static long outside(Preset preset, boolean on) {
    QuotaDefinition adaptive =
        quota(tokens(60_000), null, MarginModeName.ADAPTIVE, 1.0, Window.TOKEN_BUCKET);
    EngineContext context = with(adaptive, preset, Rule.OUTSIDE_RATE, on);
    for (int i = 0; i < 8; i++) {
      header(context, lease(context, "r" + i, 1_000), new Reading(null, 30_000L, null));
      context.sleep(5_000);
    }
    Amounts outside = context.show().outsideRate();
    return outside.get(Dimension.TOKENS);
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldTakeReservedOutputForCountedFromTheStart(Preset preset) {
    assertThat(resyncedBesideAnOpenCall(preset, true)).isEqualTo(40_000);
    assertThat(resyncedBesideAnOpenCall(preset, false)).isEqualTo(39_000);
  }

  /** The output that is left by the header of a call, while one sent before still produces. */
  private static long resyncedBesideAnOpenCall(Preset preset, boolean on) {
    QuotaDefinition reserving =
        Redefined.like(quota(Amounts.of(Dimension.OUTPUT_TOKENS, 60_000), null))
            .provider("openai")
            .outputReservation(OutputReservation.MAX_TOKENS)
            .definition();
    EngineContext context = with(reserving, preset, Rule.RESERVED_OUTPUT, on);
    only(context.ask(EngineContext.request("open", "a1", 1, 1_000)), LeaseGranted.class);
    context.sleep(1_000);
    String lease =
        only(context.ask(EngineContext.request("r1", "a1", 1, 500)), LeaseGranted.class).leaseId();
    context.sleep(1_000);
    List<Event> settled =
        context.settle(
            lease,
            Outcome.SUCCEEDED,
            1L,
            500L,
            Dimension.OUTPUT_TOKENS,
            new Reading(60_000L, 40_000L, null),
            0L,
            (Long) 1_000L);
    return only(settled, BucketsResynced.class).dimensions().get(0).high();
  }

  // ---- reports

  @ParameterizedTest
  @EnumSource(Preset.class)
  void shouldHoldReportsAgainstWhatIsKnown(Preset preset) {
    assertThat(endOfACallThatWasSent(preset, true)).isEqualTo(Outcome.FAILED_AFTER_SEND);
    assertThat(endOfACallThatWasSent(preset, false)).isEqualTo(Outcome.NOT_SENT);
  }

  /** It is given back as never sent after its provider answered. */
  private static Outcome endOfACallThatWasSent(Preset preset, boolean on) {
    EngineContext context = with(quota(tokens(60_000), null), preset, Rule.STRICT_REPORTS, on);
    String lease = lease(context, "r1", 1_000);
    Signal answered = new Signal(200, Kind.OK, null, null, 0L, 10L, Map.of());
    context.submit(
        new Command.SettleLease(
            new Settlement(
                lease, null, "a1", EngineContext.QUOTA, Outcome.IN_PROGRESS, null, false, answered),
            context.nowMs));
    List<Event> ended = context.settle(lease, "a1", Outcome.NOT_SENT, null, null);
    return only(ended, LeaseSettled.class).outcome();
  }
}
