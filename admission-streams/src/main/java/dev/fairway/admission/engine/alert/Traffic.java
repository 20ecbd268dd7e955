package dev.fairway.admission.engine.alert;

import java.util.List;

/**
 * What a quota's calls came to, in windows of {@value #WINDOW_MS} ms. Requests and successes are
 * counted by others anyway, so only where they stood at the start of the window is kept. Immutable.
 *
 * @param startMs start of the window
 * @param requestsBefore requests before it
 * @param successesBefore successes before it
 * @param refusals 429s in it
 * @param tasks tasks that asked for something in it
 * @param retrySpend input tokens that retries used in it
 * @param last the window before
 * @param beforeLast the one before that
 * @param waves how evenly 429s come, at each scale of {@link Waves#SCALES_MS}
 * @param asked how evenly turns want calls, likewise
 */
public record Traffic(
    long startMs,
    long requestsBefore,
    long successesBefore,
    int refusals,
    int tasks,
    long retrySpend,
    Window last,
    Window beforeLast,
    List<Waves> waves,
    List<Waves> asked) {

  /** Length of a window. */
  public static final long WINDOW_MS = 300_000;

  /** Nothing happened so far. */
  public static final Traffic NONE =
      new Traffic(0, 0, 0, 0, 0, 0, Window.EMPTY, Window.EMPTY, Waves.NO_SCALE, Waves.NO_SCALE);

  /** What one window came to. */
  public record Window(long requests, long successes, int refusals, int tasks, long retrySpend) {
    static final Window EMPTY = new Window(0, 0, 0, 0, 0);
  }

  /** At that time, with so many requests and successes so far: windows that are over count. */
  public Traffic at(long atMs, long requests, long successes) {
    long windows = startMs == 0 ? Long.MAX_VALUE : (atMs - startMs) / WINDOW_MS;
    if (windows <= 0) {
      return this;
    }
    Window over =
        new Window(
            Math.max(0, requests - requestsBefore),
            Math.max(0, successes - successesBefore),
            refusals,
            tasks,
            retrySpend);
    return new Traffic(
        atMs - atMs % WINDOW_MS,
        requests,
        successes,
        0,
        0,
        0,
        windows == 1 ? over : Window.EMPTY,
        windows == 1 ? last : windows == 2 ? over : Window.EMPTY,
        waves,
        asked);
  }

  /** With a 429 at that time, which is in its window. */
  public Traffic refused(long atMs) {
    return new Traffic(
        startMs,
        requestsBefore,
        successesBefore,
        refusals + 1,
        tasks,
        retrySpend,
        last,
        beforeLast,
        Waves.with(waves, atMs),
        asked);
  }

  /** With a turn that wants a call at that time. */
  public Traffic asked(long atMs) {
    return new Traffic(
        startMs,
        requestsBefore,
        successesBefore,
        refusals,
        tasks,
        retrySpend,
        last,
        beforeLast,
        waves,
        Waves.with(asked, atMs));
  }

  /** With one more task. */
  public Traffic task() {
    return new Traffic(
        startMs,
        requestsBefore,
        successesBefore,
        refusals,
        tasks + 1,
        retrySpend,
        last,
        beforeLast,
        waves,
        asked);
  }

  /** With a retry that used so much. */
  public Traffic retried(long input) {
    return new Traffic(
        startMs,
        requestsBefore,
        successesBefore,
        refusals,
        tasks,
        retrySpend + Math.max(0, input),
        last,
        beforeLast,
        waves,
        asked);
  }
}
