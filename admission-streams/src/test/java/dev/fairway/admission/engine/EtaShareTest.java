package dev.fairway.admission.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * How many of the ETAs of random lines are more than a tenth off, in windows of each kind. Calls of
 * very different size pass each other, which no ETA knows beforehand: so not all of them hold.
 */
class EtaShareTest {
  private static final int LINES = 150;
  private static final int LIMIT = 60_000;
  private static final long DAY_MS = 86_400_000;
  private static final double[] SIZES = {0.001, 0.01, 0.05, 0.2, 0.5, 0.8};

  @ParameterizedTest
  @CsvSource({"TOKEN_BUCKET,27", "FIXED,27", "ROLLING,24"})
  void shouldHoldForMostLines(Window window, int mostPercent) {
    // given
    int told = 0;
    int off = 0;
    for (int line = 0; line < LINES; line++) {
      Random random = new Random(line);
      EngineContext context = EngineContext.with(quota(window));
      int ahead = List.of(3, 10, 40).get(random.nextInt(3));
      for (int i = 0; i < ahead; i++) {
        ask(context, "r" + i, random);
      }

      // when
      long startMs = context.nowMs;
      Long etaMs = etaOf(ask(context, "last", random));
      if (etaMs != null) {
        long waitedMs = grantOfLast(context) - startMs;
        told++;
        off += Math.abs(waitedMs - etaMs) > Math.max(100, waitedMs / 10) ? 1 : 0;
      }
    }

    // then
    System.out.printf("%s: %d of %d ETAs are more than a tenth off%n", window, off, told);
    assertThat(told).isGreaterThan(LINES / 2);
    assertThat(100 * off).isLessThanOrEqualTo(mostPercent * told);
  }

  private static QuotaDefinition quota(Window window) {
    Amounts limit = Amounts.of(Dimension.INPUT_TOKENS, LIMIT);
    QuotaDefinition plain = EngineContext.quota(limit, null, MarginModeName.RATE, 0.85, window);
    return Redefined.like(plain).maxQueueWaitMs(DAY_MS).definition();
  }

  private static List<Event> ask(EngineContext context, String id, Random random) {
    long input = Math.round(LIMIT * SIZES[random.nextInt(SIZES.length)]);
    return OrderContext.ask(id, "a" + random.nextInt(5), input).of(context);
  }

  private static Long etaOf(List<Event> events) {
    return events.stream()
        .filter(LeaseQueued.class::isInstance)
        .map(event -> ((LeaseQueued) event).etaMs())
        .findFirst()
        .orElse(null);
  }

  private static long grantOfLast(EngineContext context) {
    for (int tick = 0; tick < 100_000; tick++) {
      for (Event event : context.sleep(context.engine.nextDeadlineMs() - context.nowMs)) {
        if (event instanceof LeaseGranted e && e.requestId().equals("last")) {
          return e.grantedAtMs();
        }
      }
    }
    throw new AssertionError("never granted");
  }
}
