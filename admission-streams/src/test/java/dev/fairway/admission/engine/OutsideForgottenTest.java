package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What others took is forgotten two minutes after the last header, in every mode. */
class OutsideForgottenTest {
  private static final Dimension INPUT = Dimension.INPUT_TOKENS;
  private static final long LIMIT = 60_000;

  @ParameterizedTest
  @EnumSource(
      value = MarginModeName.class,
      names = {"AUTO", "ADAPTIVE"})
  void shouldRefillAtTheWholeRateOnceNobodyTellsOfOthers(MarginModeName mode) {
    // given: a bucket of 12 s, and others who take half of the rate for three minutes
    EngineContext context = outside(mode);
    long fullAtMs = context.nowMs + 120_000;

    // when: silence, and a line of 24 s at the whole rate
    context.sleep(180_000);
    long fromMs = context.nowMs;
    int granted = 0;
    for (int i = 0; i < 40; i++) {
      granted += grants(context.ask("s" + i, "b" + i % 4, 1_000));
    }
    granted += grants(context.sleep(28_000));

    // then: at half of the rate 24 of them would not have gone
    assertThat(fromMs).isGreaterThan(fullAtMs);
    assertThat(granted).isGreaterThan(36);
  }

  @ParameterizedTest
  @EnumSource(
      value = MarginModeName.class,
      names = {"AUTO", "ADAPTIVE"})
  void shouldTellAnEtaThatForgetsWhenTheRefillDoes(MarginModeName mode) {
    // given: ten seconds before what others take is forgotten
    EngineContext context = outside(mode);
    context.sleep(110_000);
    for (int i = 0; i < 30; i++) {
      context.ask("s" + i, "b", 1_000);
    }

    // when
    LeaseQueued last = only(context.ask("last", "b", 1_000), LeaseQueued.class);
    long askedAtMs = context.nowMs;
    LeaseGranted granted =
        context.sleep(100_000).stream()
            .filter(e -> e instanceof LeaseGranted g && g.requestId().equals("last"))
            .map(LeaseGranted.class::cast)
            .findFirst()
            .orElseThrow();

    // then
    long waitedMs = granted.grantedAtMs() - askedAtMs;
    assertThat((double) last.etaMs()).isBetween(waitedMs * .9, waitedMs * 1.1);
  }

  /** A quota whose headers told of others until now. */
  private static EngineContext outside(MarginModeName mode) {
    EngineContext context =
        EngineContext.with(
            Redefined.like(
                    EngineContext.quota(
                        Amounts.of(INPUT, LIMIT), null, mode, 1.0, Window.TOKEN_BUCKET))
                .depth(Amounts.of(INPUT, 12_000))
                .maxQueueWaitMs(600_000L)
                .definition());
    context.restoring = false;
    long left = 12_000;
    for (int i = 0; i < 120; i++) {
      String lease = only(context.ask("r" + i, "a1", 500), LeaseGranted.class).leaseId();
      context.sleep(500);
      left = Math.min(12_000, left + 750) - 500;
      context.settle(
          lease, Outcome.SUCCEEDED, 500L, 0L, INPUT, new Reading(LIMIT, left, null), 0, 400L);
      context.sleep(1_000);
    }
    context.restoring = true;
    return context;
  }

  private static int grants(List<Event> events) {
    return (int) events.stream().filter(LeaseGranted.class::isInstance).count();
  }
}
