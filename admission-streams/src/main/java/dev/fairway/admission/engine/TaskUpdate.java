package dev.fairway.admission.engine;

import java.util.List;

/**
 * Where a task stands.
 *
 * @param taskId task
 * @param quotaId a quota of the key, or null
 * @param role role that works on it, or null
 * @param agentId agent that works on it, or null
 * @param state state
 * @param blockedOn tasks it waits for; never null
 */
public record TaskUpdate(
    String taskId,
    String quotaId,
    String role,
    String agentId,
    State state,
    List<String> blockedOn) {

  /** State of a task. */
  public enum State {
    STARTED,
    BLOCKED,
    UNBLOCKED,
    DONE,
    MERGED,
    FAILED
  }
}
