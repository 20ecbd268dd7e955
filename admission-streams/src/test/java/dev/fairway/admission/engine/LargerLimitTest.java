package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.BucketsResynced;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * An operator's limit below the provider's: a part of a key, or a cap on what is spent. Headers
 * tell of the larger one.
 */
class LargerLimitTest {
  private static final long LIMIT = 10_000;
  private static final long PROVIDERS = 450_000;

  @ParameterizedTest
  @CsvSource({
    "RATE, TOKEN_BUCKET",
    "RESERVE, TOKEN_BUCKET",
    "ADAPTIVE, TOKEN_BUCKET",
    "AUTO, TOKEN_BUCKET",
    "AUTO, FIXED",
    "AUTO, ROLLING"
  })
  void shouldHoldWhateverIsLeftOfALargerOne(MarginModeName mode, Window window) {
    for (boolean named : new boolean[] {true, false}) {
      // given
      EngineContext context =
          EngineContext.with(EngineContext.quota(tokens(LIMIT), null, mode, 1.0, window));

      // when: five minutes of calls, four times what the limit allows, each with a header
      Reading reading = new Reading(named ? PROVIDERS : null, PROVIDERS - 10_000L, null);
      long used = 0;
      for (int i = 0; i < 400; i++) {
        List<Event> events = new ArrayList<>(context.ask("r" + i, "a" + i, 500));
        events.addAll(context.sleep(750));
        for (Event each : events) {
          if (each instanceof LeaseGranted granted) {
            used += 500;
            context.settle(
                granted.leaseId(),
                granted.agentId(),
                Outcome.SUCCEEDED,
                500L,
                0L,
                s -> withReading(s, reading));
          }
        }
      }

      // then: a bucket and what flowed into it
      assertThat(used).as("limit named: " + named).isLessThanOrEqualTo(LIMIT + 5 * LIMIT);
      assertThat(used).as("limit named: " + named).isGreaterThan(3 * LIMIT);
    }
  }

  /** What is ours goes by what our calls used, so that no refund may be taken for seen. */
  @Test
  void shouldRefundWhatCallsDidNotUse() {
    // given: two calls, of which the first ends last
    EngineContext context = adaptive(tokens(10_000));
    String first = granted(context, "r1", 4_000);
    context.sleep(500);
    String second = granted(context, "r2", 1_000);

    // when
    List<Event> told =
        context.settle(
            second,
            "a1",
            Outcome.SUCCEEDED,
            1_000L,
            0L,
            s -> withReading(s, new Reading(PROVIDERS, PROVIDERS - 2_000, null)));
    List<Event> ended = context.settle(first, "a1", Outcome.SUCCEEDED, 1_000L, 0L);

    // then
    assertThat(only(told, BucketsResynced.class).dimensions().get(0).low()).isNull();
    assertThat(only(ended, LeaseSettled.class).adjusted()).isEqualTo(tokens(3_000));
  }

  @Test
  void shouldFallToWhatIsLeftOfALargerOne() {
    // given: others use the key as well
    EngineContext context = adaptive(tokens(9_000));
    String lease = granted(context, "r1", 1_000);

    // when
    List<Event> told =
        context.settle(
            lease,
            "a1",
            Outcome.SUCCEEDED,
            1_000L,
            0L,
            s -> withReading(s, new Reading(PROVIDERS, 2_000L, null)));

    // then
    assertThat(only(told, BucketsResynced.class).dimensions().get(0).after()).isEqualTo(2_000);
  }

  private static EngineContext adaptive(Amounts level) {
    return EngineContext.with(
        EngineContext.quota(
            tokens(LIMIT), level, MarginModeName.ADAPTIVE, 1.0, Window.TOKEN_BUCKET));
  }

  private static String granted(EngineContext context, String id, long input) {
    return only(context.ask(id, "a1", input), LeaseGranted.class).leaseId();
  }

  private static Settlement withReading(Settlement s, Reading reading) {
    Signal signal =
        new Signal(200, Kind.OK, null, null, 0L, 10L, Map.of(Dimension.TOKENS, reading));
    return new Settlement(
        s.leaseId(), null, s.agentId(), s.quotaId(), s.outcome(), s.usage(), false, signal);
  }
}
