package dev.fairway.admission.topology;

import java.time.Duration;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;

/**
 * A one-shot timer at the engine's next deadline; none while the engine has none. A fixed fast
 * punctuation would commit a transaction each time, on an idle thread too.
 *
 * <p>A deadline that moved away or vanished leaves the timer where it was: it fires once for
 * nothing. Streams keeps a cancelled punctuation until its time, so cancelling with every command
 * would pile them up. Not thread-safe.
 */
final class DecisionTimer {
  /** A longer wait is armed anew when it is over: keeps the arithmetic far from its ends. */
  private static final long DELAY_MS_MAX = 86_400_000;

  private final ProcessorContext<?, ?> context;
  private final PollLoop loop;
  private final Runnable onTime;
  private Cancellable punctuation;
  private long armedForMs = Long.MAX_VALUE;

  DecisionTimer(ProcessorContext<?, ?> context, PollLoop loop, Runnable onTime) {
    this.context = context;
    this.loop = loop;
    this.onTime = onTime;
  }

  /** Fires at that time at the latest; {@link Long#MAX_VALUE} for no deadline. */
  void arm(long deadlineMs, long nowMs) {
    if (deadlineMs >= armedForMs) {
      return;
    }
    if (punctuation != null) {
      punctuation.cancel();
    }
    long delayMs =
        deadlineMs <= nowMs ? 1 : Math.max(1, Math.min(deadlineMs - nowMs, DELAY_MS_MAX));
    armedForMs = deadlineMs;
    punctuation =
        context.schedule(
            Duration.ofMillis(delayMs), PunctuationType.WALL_CLOCK_TIME, firedAt -> fire());
    loop.timer(context.taskId().partition(), System.nanoTime() + delayMs * 1_000_000);
  }

  private void fire() {
    punctuation.cancel();
    punctuation = null;
    armedForMs = Long.MAX_VALUE;
    loop.noTimer(context.taskId().partition());
    onTime.run();
  }
}
