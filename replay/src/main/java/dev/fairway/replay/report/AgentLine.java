package dev.fairway.replay.report;

import java.util.List;

/**
 * One agent's row in a picture. Times are milliseconds since the start of the run.
 *
 * @param name as it is written beside the row
 * @param group agents of a group stand together, from 0
 * @param stretches what it did, in order
 * @param refusalsMs when it was answered 429, in order
 */
public record AgentLine(String name, int group, List<Stretch> stretches, List<Double> refusalsMs) {

  /** What an agent does for a while. */
  public enum Activity {
    /** Waits: for its lease, or in its own backoff after a refusal. */
    WAIT,
    /** A model call that the provider accepted, for a planned turn. */
    CALL,
    /** A model call of a re-plan. */
    RE_PLAN,
    /** Tools run. */
    TOOLS
  }

  /** One thing it did. */
  public record Stretch(Activity activity, double startMs, double endMs) {}
}
