package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.ResetLearned;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Providers that count in windows of their own, and shallow buckets. */
class WindowTest {
  private static EngineContext with(Window window, MarginModeName mode, double start) {
    return EngineContext.with(EngineContext.quota(tokens(600), null, mode, start, window));
  }

  @Test
  void shouldRefillAFixedWindowAtTheClocksMinutesAndNotBetween() {
    // given: the context starts at 1000 s, 20 s before the end of a minute of the clock
    EngineContext context = with(Window.FIXED, MarginModeName.AUTO, 0.8);
    only(context.ask("r1", "a1", 480), LeaseGranted.class);

    // when
    LeaseQueued next = only(context.ask("r2", "a2", 300), LeaseQueued.class);
    LeaseQueued after = only(context.ask("r3", "a3", 400), LeaseQueued.class);
    List<Event> before = context.sleep(20_149);
    long levelBefore = context.level(Dimension.TOKENS);
    List<Event> atReset = context.sleep(1);

    // then: one window holds 480, so the second of them waits for the next reset
    assertThat(next.etaMs()).isEqualTo(20_150);
    assertThat(after.etaMs()).isEqualTo(80_150);
    assertThat(before).noneMatch(LeaseGranted.class::isInstance);
    assertThat(levelBefore).isZero();
    assertThat(only(atReset, LeaseGranted.class).requestId()).isEqualTo("r2");
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(180);
  }

  @Test
  void shouldNotLetALargeCallGoBecauseTheOperatorLowersTheMargin() {
    // given: 240 of 1000 are used in this window, and a call as large as a window waits
    EngineContext context =
        EngineContext.with(
            EngineContext.quota(tokens(1_000), null, MarginModeName.RATE, 0.85, Window.FIXED));
    context.sleep(30_000);
    only(context.ask("used", "a1", 240), LeaseGranted.class);
    context.ask("large", "a2", 1_000);

    // when
    List<Event> lowered =
        context.submit(
            new Command.DefineQuota(
                EngineContext.quota(tokens(1_000), null, MarginModeName.RATE, 0.6, Window.FIXED),
                EngineContext.SALT));

    // then: what was used stays used, and it goes in the next window
    assertThat(lowered).noneMatch(LeaseGranted.class::isInstance);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(600 - 240);
    assertThat(only(context.sleep(60_000), LeaseGranted.class).requestId()).isEqualTo("large");
  }

  @Test
  void shouldNotLetALargeCallGoBecauseA429CutsTheMargin() {
    // given
    EngineContext context =
        EngineContext.with(
            EngineContext.quota(tokens(1_000), null, MarginModeName.RATE, 1.0, Window.FIXED));
    context.sleep(30_000);
    only(context.ask("used", "a1", 40), LeaseGranted.class);
    String refused = only(context.ask("r", "a1", 1), LeaseGranted.class).leaseId();
    context.ask("large", "a2", 980);

    // when
    context.settle(refused, "a1", Outcome.RATE_LIMITED, null, null);
    List<Event> inThisWindow = context.sleep(15_000);

    // then
    assertThat(inThisWindow).noneMatch(LeaseGranted.class::isInstance);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(910);
  }

  @Test
  void shouldKeepTheDebtOfAWindowBeyondItsReset() {
    // given
    EngineContext context = with(Window.FIXED, MarginModeName.RATE, 1.0);
    String lease = only(context.ask("r1", "a1", 500), LeaseGranted.class).leaseId();
    context.settle(lease, "a1", Outcome.SUCCEEDED, 700L, 0L);

    // when
    context.sleep(20_150);

    // then
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(500);
  }

  @Test
  void shouldNotRefundInAMinuteWhatAnotherOneGaveOut() {
    // given: the reset brought back all that r1 took, and r2 took 400 of it
    EngineContext context = with(Window.FIXED, MarginModeName.RATE, 1.0);
    String lease = only(context.ask("r1", "a1", 500), LeaseGranted.class).leaseId();
    context.sleep(20_150);
    context.ask("r2", "a2", 400);

    // when
    context.settle(lease, "a1", Outcome.SUCCEEDED, 100L, 0L);
    List<Event> next = context.ask("r3", "a3", 300);

    // then: 700 of 600 would have gone out in this minute
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(200);
    assertThat(next).noneMatch(LeaseGranted.class::isInstance);
  }

  @Test
  void shouldLearnWhenAFixedWindowIsReset() {
    // given
    EngineContext context = with(Window.FIXED, MarginModeName.RATE, 1.0);
    String lease = only(context.ask("r1", "a1", 600), LeaseGranted.class).leaseId();

    // when: the provider says that its window ends in 5 s
    List<Event> settled =
        context.settle(
            lease,
            Outcome.SUCCEEDED,
            600L,
            0L,
            Dimension.TOKENS,
            new Reading(null, 0L, 5_000L),
            0,
            100L);
    LeaseQueued queued = only(context.ask("r2", "a2", 300), LeaseQueued.class);

    // then
    assertThat(only(settled, ResetLearned.class).resetAtMs()).isEqualTo(context.nowMs + 5_000);
    assertThat(queued.etaMs()).isEqualTo(5_150);
  }

  @Test
  void shouldNeverGrantMoreThanTheLimitInAnyMinuteOfARollingWindow() {
    // given: the case of a greedy consumer, 15 requests a minute
    EngineContext context =
        EngineContext.with(
            EngineContext.quota(
                Amounts.of(Dimension.REQUESTS, 15),
                null,
                MarginModeName.AUTO,
                1.0,
                Window.ROLLING));

    // when
    List<Long> grants = new ArrayList<>();
    for (int i = 0; i < 240; i++) {
      context.sleep(500);
      List<Event> events = context.ask("r" + i, "a1", 0);
      if (events.stream().anyMatch(LeaseGranted.class::isInstance)) {
        grants.add(context.nowMs);
      } else {
        context.settle(null, "a1", Outcome.CANCELLED, null, null, s -> cancel(events));
      }
    }

    // then
    for (int from = 0; from < grants.size(); from++) {
      long start = grants.get(from);
      assertThat(grants.stream().filter(at -> at >= start && at < start + 60_000).count())
          .isLessThanOrEqualTo(15);
    }
    assertThat(grants).hasSizeGreaterThan(24);
  }

  @Test
  void shouldUseARollingLimitHoweverDeepItsBucket() {
    // given: all of the limit at once, which leaves nothing beside it
    Amounts limit = tokens(1_000);
    EngineContext context =
        EngineContext.with(
            Redefined.like(
                    EngineContext.quota(limit, null, MarginModeName.AUTO, 0.85, Window.ROLLING))
                .depth(limit)
                .definition());

    // when: calls of 100 tokens
    List<Long> grants = grants(context, 100, 600_000);

    // then
    assertThat(mostInAMinute(grants)).isBetween(7L, 10L);
    assertThat(grants).hasSizeGreaterThan(65);
  }

  @ParameterizedTest
  @CsvSource({"FAIRWAY, 1", "FAIRWAY, 2", "FAIRWAY, 4", "SEED, 1", "SEED, 2", "SEED, 4"})
  void shouldServeARollingLimitOfAFewRequests(Preset preset, long limit) {
    // given
    EngineContext context =
        EngineContext.with(
            Redefined.like(
                    EngineContext.quota(
                        Amounts.of(Dimension.REQUESTS, limit),
                        null,
                        MarginModeName.RATE,
                        0.85,
                        Window.ROLLING))
                .preset(preset)
                .definition());
    context.ask("first", "a1", 0);

    // when: the rate is 80 % of the limit, and 85 % of that are used
    LeaseQueued second = only(context.ask("second", "a1", 0), LeaseQueued.class);
    List<Long> grants = grants(context, 0, 600_000);

    // then: a minute and a quarter of a second where the last minute is added up
    long refillMs = (long) Math.ceil(60_000 / (0.8 * 0.85 * limit));
    assertThat(second.etaMs()).isBetween(refillMs, Math.max(refillMs + 1, 60_500));
    assertThat(mostInAMinute(grants)).isLessThanOrEqualTo(limit);
    assertThat(grants).hasSizeGreaterThanOrEqualTo(5);
  }

  /** Times of what is granted to somebody who always has a call waiting. */
  private static List<Long> grants(EngineContext context, long tokens, long forMs) {
    List<Long> grants = new ArrayList<>();
    long untilMs = context.nowMs + forMs;
    for (int i = 0; context.nowMs < untilMs; i++) {
      List<Event> events = new ArrayList<>(context.ask("more" + i, "a2", tokens));
      events.addAll(context.sleep(2_000));
      events.stream()
          .filter(LeaseGranted.class::isInstance)
          .forEach(e -> grants.add(((LeaseGranted) e).grantedAtMs()));
    }
    return grants;
  }

  private static long mostInAMinute(List<Long> grants) {
    return grants.stream()
        .mapToLong(from -> grants.stream().filter(at -> at >= from && at < from + 60_000).count())
        .max()
        .orElse(0);
  }

  @Test
  void shouldNotSendALargeCallIntoAMinuteThatIsStillTaken() {
    // given: 400 of 600 taken over the last 40 s, and a bucket of 120 that is full again
    EngineContext context = with(Window.ROLLING, MarginModeName.RESERVE, 1.0);
    for (int i = 0; i < 4; i++) {
      String lease = only(context.ask("small" + i, "a1", 100), LeaseGranted.class).leaseId();
      context.settle(lease, "a1", Outcome.SUCCEEDED, 100L, 0L);
      context.sleep(13_000);
    }
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(120);

    // when: 300 fit as soon as one hundred of them has left
    context.ask("large", "a2", 300);
    long askedAtMs = context.nowMs;
    List<Event> early = context.sleep(8_000);
    List<Event> later = context.sleep(1_000);

    // then: the first was sent 52 s before, and leaves within the next quarter of a second
    assertThat(early).noneMatch(LeaseGranted.class::isInstance);
    assertThat(only(later, LeaseGranted.class).grantedAtMs() - askedAtMs).isBetween(8_000L, 8_500L);
    assertThat(context.level(Dimension.TOKENS)).isNegative();
  }

  @Test
  void shouldServeACallOfTheWholeLimitFromAnEmptyMinute() {
    // given
    EngineContext context = with(Window.ROLLING, MarginModeName.RESERVE, 0.8);
    String lease = only(context.ask("r1", "a1", 10), LeaseGranted.class).leaseId();
    context.settle(lease, "a1", Outcome.SUCCEEDED, 10L, 0L);

    // when
    context.ask("r2", "a1", 600);
    List<Event> later = context.sleep(60_400);

    // then
    assertThat(only(later, LeaseGranted.class).charged()).isEqualTo(tokens(600));
  }

  @Test
  void shouldCountACallInTheMinuteInWhichItWasSentHoweverLateThatWas() {
    // given: granted, sent 29 s later, and over
    EngineContext context = with(Window.ROLLING, MarginModeName.RESERVE, 1.0);
    String lease = only(context.ask("r1", "a1", 500), LeaseGranted.class).leaseId();
    context.sleep(30_000);
    context.settle(lease, Outcome.SUCCEEDED, 500L, 0L, Dimension.TOKENS, null, 0, 1_000L);

    // when: 51 s after it was sent
    context.sleep(50_000);
    context.ask("r2", "a2", 200);
    long askedAtMs = context.nowMs;
    List<Event> later = context.sleep(10_000);

    // then
    assertThat(only(later, LeaseGranted.class).grantedAtMs() - askedAtMs).isBetween(9_000L, 9_500L);
  }

  @Test
  void shouldCountACallOfAnotherQuotaToTheEndOfItsMinute() {
    // given: a token bucket that takes from the rolling window too
    EngineContext context = with(Window.ROLLING, MarginModeName.RESERVE, 1.0);
    QuotaDefinition taker =
        EngineContext.quota(tokens(6_000), null, MarginModeName.RATE, 1.0, Window.TOKEN_BUCKET);
    context.submit(
        new Command.DefineQuota(
            Redefined.like(taker).id("k/taker").takingFrom(EngineContext.QUOTA).definition(),
            EngineContext.SALT));
    LeaseGranted granted = only(context.ask(inTaker("r1", 400)), LeaseGranted.class);
    context.settle(
        granted.leaseId(),
        "a1",
        Outcome.SUCCEEDED,
        400L,
        0L,
        s ->
            new Settlement(
                s.leaseId(), null, "a1", "k/taker", s.outcome(), s.usage(), false, null));

    // when: it may have arrived 120 ms after its grant
    context.sleep(60_050);
    List<Event> asked = context.ask("r2", "a2", 300);
    List<Event> later = context.sleep(400);

    // then
    assertThat(asked).noneMatch(LeaseGranted.class::isInstance);
    assertThat(later).anyMatch(LeaseGranted.class::isInstance);
  }

  private static LeaseRequest inTaker(String id, long input) {
    return Asking.like(EngineContext.request(id, "a1", input, 0)).of("k/taker").request();
  }

  private static Settlement cancel(List<Event> events) {
    LeaseQueued queued = only(events, LeaseQueued.class);
    return EngineContext.cancel(queued.requestId(), queued.agentId());
  }

  @Test
  void shouldKeepAReserveInAShallowBucketAndStillServeWhatIsLarger() {
    // given: 120 deep at 8 a second, margin 80 %
    QuotaDefinition shallow =
        EngineContext.quota(tokens(600), null, MarginModeName.AUTO, 0.8, Window.ROLLING);
    EngineContext context = EngineContext.with(shallow);

    // then: a fifth of the limit, of it 80 % usable
    assertThat(context.show().marginMode()).isEqualTo(MarginModeName.RESERVE);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(96);

    // when
    LeaseGranted oversize = only(context.ask("r1", "a1", 130), LeaseGranted.class);
    LeaseRejected never = only(context.ask("r2", "a1", 601), LeaseRejected.class);

    // then
    assertThat(oversize.charged()).isEqualTo(tokens(130));
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(-34);
    assertThat(never.reason()).isEqualTo(RejectReason.NEVER_FITS);
  }
}
