package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.SALT;
import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.quota;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LimitForgotten;
import dev.fairway.admission.engine.Event.LimitLearned;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.margin.LearnedLimits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Limits that answers name below the operator's, and how long they last. */
class LearnedLimitTest {
  private static final QuotaDefinition DEFINITION = quota(tokens(60_000), null);

  private final EngineContext context = EngineContext.with(DEFINITION);

  @Test
  void shouldForgetALimitThatNoAnswerNamesAgain() {
    // given
    answer(context, "r1", 1);
    long learnedAtMs = context.nowMs;

    // when
    LeaseRejected rejected = only(context.ask("r2", "a1", 100), LeaseRejected.class);
    List<Event> before = context.sleep(LearnedLimits.FORGET_MS - 1);
    List<Event> after = context.sleep(1);
    context.sleep(1_000);
    List<Event> asked = context.ask("r3", "a1", 100);

    // then
    assertThat(rejected.reason()).isEqualTo(RejectReason.NEVER_FITS);
    assertThat(rejected.retryAtMs()).isEqualTo(learnedAtMs + LearnedLimits.FORGET_MS);
    assertThat(rejected.detail())
        .contains("answers named a limit of 1")
        .contains("definition says 60000");
    assertThat(before).noneMatch(LimitForgotten.class::isInstance);
    assertThat(after).containsExactly(new LimitForgotten("k/q", Dimension.TOKENS));
    only(asked, LeaseGranted.class);
  }

  @Test
  void shouldCallNobodyBackWhoExceedsTheOperatorsLimit() {
    // given
    answer(context, "r1", 30_000);

    // when
    LeaseRejected rejected = only(context.ask("r2", "a1", 60_001), LeaseRejected.class);

    // then
    assertThat(rejected.retryAtMs()).isNull();
    assertThat(rejected.detail()).doesNotContain("answers");
  }

  @Test
  void shouldCallBackWhoWaitedWhenTheLimitIsLearned() {
    // given
    String lease = only(context.ask("r1", "a1", 50_000), LeaseGranted.class).leaseId();
    context.ask("waits", "a2", 20_000);

    // when
    List<Event> answered = answered(context, lease, 500);

    // then
    LeaseRejected rejected = only(answered, LeaseRejected.class);
    assertThat(rejected.requestId()).isEqualTo("waits");
    assertThat(rejected.retryAtMs()).isEqualTo(context.nowMs + LearnedLimits.FORGET_MS);
    assertThat(rejected.keptTag()).isNotNull();
    assertThat(rejected.detail()).contains("answers named a limit of 500");
  }

  @Test
  void shouldKeepALimitThatAnswersGoOnToName() {
    // given
    answer(context, "r0", 30_000);

    // when: an answer a second for 20 minutes
    List<Event> events = new ArrayList<>();
    for (int i = 1; i <= 1_200; i++) {
      events.addAll(context.sleep(1_000));
      events.addAll(answer(context, "r" + i, 30_000));
    }
    List<Event> silence = context.sleep(LearnedLimits.FORGET_MS);

    // then: noted once a minute
    assertThat(events).noneMatch(LimitForgotten.class::isInstance);
    assertThat(events.stream().filter(LimitLearned.class::isInstance)).hasSize(20);
    only(silence, LimitForgotten.class);
  }

  @Test
  void shouldNotForgetWhatIsTheOperatorsOwnLimit() {
    // given: a lower limit, and then the provider names more than the operator
    answer(context, "r1", 30_000);
    context.sleep(1_000);
    List<Event> raised = answer(context, "r2", 100_000);

    // when
    List<Event> later = context.sleep(2 * LearnedLimits.FORGET_MS);

    // then
    assertThat(only(raised, LimitLearned.class).limitPerMinute()).isEqualTo(60_000);
    assertThat(later).noneMatch(LimitForgotten.class::isInstance);
  }

  @Test
  void shouldForgetWhenTheOperatorDefinesTheQuotaAnew() {
    // given
    answer(context, "r1", 1);
    QuotaDefinition same = Redefined.like(DEFINITION).maxQueueWaitMs(61_000L).definition();

    // when: the limits are the same as before
    context.submit(new Command.DefineQuota(same, SALT));

    // then
    context.sleep(1_000);
    only(context.ask("r2", "a1", 100), LeaseGranted.class);
    assertThat(context.sleep(2 * LearnedLimits.FORGET_MS))
        .noneMatch(LimitForgotten.class::isInstance);
  }

  @Test
  void shouldKeepALearnedLimitUnderSeedUntilTheOperatorNamesAnother() {
    // given
    QuotaDefinition seed = Redefined.like(DEFINITION).preset(Preset.SEED).definition();
    EngineContext context = EngineContext.with(seed);
    answer(context, "r1", 1);

    // when
    List<Event> meanwhile = context.sleep(86_400_000);
    context.submit(
        new Command.DefineQuota(Redefined.like(seed).state(State.PAUSED).definition(), SALT));

    // then
    assertThat(meanwhile).noneMatch(LimitForgotten.class::isInstance);
    LeaseRejected rejected = only(context.ask("r2", "a1", 100), LeaseRejected.class);
    assertThat(rejected.reason()).isEqualTo(RejectReason.NEVER_FITS);
    assertThat(rejected.retryAtMs()).isNull();
  }

  private static List<Event> answer(EngineContext context, String requestId, long limit) {
    String lease = only(context.ask(requestId, "a1", 10), LeaseGranted.class).leaseId();
    return answered(context, lease, limit);
  }

  private static List<Event> answered(EngineContext context, String lease, long limit) {
    Reading reading = new Reading(limit, null, null);
    return context.settle(
        lease, Outcome.SUCCEEDED, 10L, 0L, Dimension.TOKENS, reading, 0L, (Long) 0L);
  }
}
