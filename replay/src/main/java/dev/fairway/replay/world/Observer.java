package dev.fairway.replay.world;

import dev.fairway.schemas.RejectReason;

/** Sees all that happens in a run, as it happens; changes nothing. Times are virtual, from 0. */
public interface Observer {

  /** The fleet has this agent, whether it comes to make a call or not; before anything happens. */
  default void joined(int agentIndex, String agentId) {}

  /**
   * The provider admitted a call.
   *
   * @param input that counted
   */
  default void admitted(long atMs, Call call, long input) {}

  /**
   * The provider answered 429.
   *
   * @param binding the limit that refused it; null in an outage
   */
  default void refused(long atMs, Call call, Dimension binding) {}

  /**
   * An agent read that the coordinator rejected its request.
   *
   * @param detail what was expected and found, for people
   */
  default void rejected(long atMs, Call call, RejectReason reason, String detail) {}

  /** Somebody else's call was charged. */
  default void outside(long atMs, long input) {}

  /**
   * A call ended at the provider.
   *
   * @param input that counted
   * @param output that was produced
   * @param completed whether it was not cut short
   */
  default void over(long atMs, Call call, long input, long output, boolean completed) {}

  /**
   * A turn's call was completed.
   *
   * @param waitingSinceMs when its agent wanted it, or was back from a crash
   * @param sentAtMs when the call that was admitted was sent
   */
  default void turnEnded(long atMs, Call call, long waitingSinceMs, long sentAtMs) {}

  /**
   * The tools after a turn's call ended, and with them the turn; the last turn of a task has none.
   *
   * @param waitingSinceMs when its agent wanted the call, or was back from a crash
   */
  default void toolsEnded(long atMs, Call call, long waitingSinceMs) {}

  /**
   * An agent gave up a turn and plans again.
   *
   * @param fromWaits whether no refusal of the provider had part in it
   */
  default void replanned(long atMs, Call call, boolean fromWaits) {}

  /** An agent died in the middle of a call. */
  default void crashed(long atMs, Call call) {}

  /** A task ended. */
  default void taskEnded(long atMs, Role role, String agentId, long beganAtMs) {}

  /**
   * A pull request was merged.
   *
   * @param criticalWaitMs admission waits along its chain: planner, last worker, reviewer
   */
  default void merged(long atMs, int group, long criticalWaitMs) {}
}
