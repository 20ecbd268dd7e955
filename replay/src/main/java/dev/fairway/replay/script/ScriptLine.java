package dev.fairway.replay.script;

import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.Signal;
import dev.fairway.schemas.TaskUpdate;
import dev.fairway.schemas.Usage;

/** One line of a script: at that time, do this. */
public sealed interface ScriptLine {

  /** The line in its file, from 1. */
  long lineNumber();

  /** When, milliseconds of virtual time. */
  long atMs();

  /** Define or change a quota. */
  record DefineQuota(long lineNumber, long atMs, Quota quota) implements ScriptLine {}

  /** Request a lease. */
  record RequestLease(long lineNumber, long atMs, LeaseRequest request) implements ScriptLine {}

  /**
   * Settle, renew or cancel. At least one of {@code leaseId} and {@code requestId} is there.
   *
   * @param leaseId lease, or null: the latest lease of the request
   * @param requestId request, or null
   * @param agentId agent, or null: the one that makes the request, in an earlier or a later line
   * @param usage what the call used, or null if unknown
   * @param signal what the provider said, or null
   */
  record Settle(
      long lineNumber,
      long atMs,
      String leaseId,
      String requestId,
      String agentId,
      String quotaId,
      Outcome outcome,
      boolean requeue,
      Usage usage,
      Signal signal)
      implements ScriptLine {}

  /** Tell where a task stands. */
  record UpdateTask(long lineNumber, long atMs, TaskUpdate update) implements ScriptLine {}

  /** Show what holds for a quota. */
  record Show(long lineNumber, long atMs, String quotaId) implements ScriptLine {}
}
