package dev.fairway.agent.fallback;

import java.time.Duration;

/**
 * How a client goes on without the coordinator. Immutable.
 *
 * @param mode what becomes of calls meanwhile
 * @param silentAfter how long requests of a key stay unanswered until its coordinator is taken to
 *     be silent; a healthy one answers within milliseconds, a restart takes some seconds
 */
public record FallbackConfig(FailMode mode, Duration silentAfter) {
  /** The safe share, after five seconds. */
  public static final FallbackConfig DEFAULT =
      new FallbackConfig(FailMode.SAFE_SHARE, Duration.ofSeconds(5));

  /** Checks that both are there. */
  public FallbackConfig {
    if (mode == null) {
      throw new IllegalArgumentException(
          "Expected a fail mode SAFE_SHARE, BACKOFF or CLOSED, but found none.");
    }
    if (silentAfter == null || silentAfter.isNegative() || silentAfter.isZero()) {
      throw new IllegalArgumentException(
          "Expected a silentAfter above 0, but found " + silentAfter + ".");
    }
  }
}
