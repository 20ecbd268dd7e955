package dev.fairway.admission.engine;

/**
 * What the engine is asked to do. Imperative, immutable, and complete: with its time it is all that
 * a decision depends on besides the state.
 */
public sealed interface Command {

  /**
   * A quota is defined or changed. The same definition again changes nothing.
   *
   * @param definition what the operator wrote
   * @param salt 32 hex characters, the salt of the key's lease ids; used only if the key has none
   *     yet
   */
  record DefineQuota(QuotaDefinition definition, String salt) implements Command {}

  /** A quota is removed: who waits is rejected, open leases end by settlement or expiry. */
  record RemoveQuota(String quotaId) implements Command {}

  /**
   * A lease is requested.
   *
   * @param request what the agent wrote
   * @param appendedAtMs when the broker appended it, epoch milliseconds; its age is counted from
   *     here
   */
  record RequestLease(LeaseRequest request, long appendedAtMs) implements Command {}

  /**
   * A lease was requested in a record that cannot be taken as it came: its agent is told so, and
   * nothing else happens.
   *
   * @param request what the agent wrote; only its agent id has to be sound
   * @param detail what was expected of the record, and what was found
   */
  record RefuseRequest(LeaseRequest request, String detail) implements Command {}

  /**
   * A call is settled, renewed or cancelled.
   *
   * @param settlement what the agent wrote
   * @param appendedAtMs when the broker appended it, epoch milliseconds
   */
  record SettleLease(Settlement settlement, long appendedAtMs) implements Command {}

  /** An orchestrator told where a task stands. */
  record UpdateTask(TaskUpdate update) implements Command {}

  /** Time passed: whatever is due by now happens. */
  record Tick() implements Command {}
}
