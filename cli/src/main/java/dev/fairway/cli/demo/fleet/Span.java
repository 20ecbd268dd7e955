package dev.fairway.cli.demo.fleet;

/**
 * What an agent did for a while, in milliseconds since the start of the run.
 *
 * @param activity what it did
 * @param startMs when it began
 * @param endMs when it ended
 * @param turn for which turn
 */
public record Span(Activity activity, double startMs, double endMs, int turn) {

  /** What an agent does. */
  public enum Activity {
    /** Waits: for its lease, or in its own backoff after a refusal. */
    WAIT,
    /** A model call that the provider accepted, for a planned turn. */
    CALL,
    /** A model call of a re-plan: work that only a refusal made necessary. */
    RE_PLAN,
    /** Tools run. */
    TOOLS,
    /** Has nothing to do before others of its group are done; never a span. */
    IDLE
  }
}
