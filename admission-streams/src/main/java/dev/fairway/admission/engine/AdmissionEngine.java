package dev.fairway.admission.engine;

import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Waiter;
import java.util.List;
import java.util.Set;

/**
 * The pure, deterministic state machine that decides for every key of one partition.
 *
 * <p>Handling the same commands at the same times gives the same events and the same rows. Nothing
 * in here reads a clock, draws a random number, logs or does I/O. Not thread-safe: the owner of the
 * partition is its single caller.
 */
public final class AdmissionEngine {
  /** Written into every journal record; raised whenever a decision can differ. */
  public static final String VERSION = "1";

  /**
   * Handles one command.
   *
   * @param key key the command belongs to; created by its first command
   * @param nowMs time, epoch milliseconds; a time before the key's last one counts as that one
   * @throws EngineException if the engine cannot go on with this command. State may then be half
   *     changed: discard the engine and restore it from its rows
   */
  public Handled handle(String key, Command command, long nowMs) {
    throw new UnsupportedOperationException();
  }

  /**
   * Loads a key from its rows, in any order, and replaces what was known of it.
   *
   * @throws IllegalArgumentException if the rows are not the whole state of a key
   */
  public void restore(String key, List<Row> rows) {
    throw new UnsupportedOperationException();
  }

  /** Forgets a key, without a trace. */
  public void discard(String key) {
    throw new UnsupportedOperationException();
  }

  /** All rows of a key, ordered by kind, quota and name; empty if the key is unknown. */
  public List<Row> rows(String key) {
    throw new UnsupportedOperationException();
  }

  /** Keys known. */
  public Set<String> keys() {
    throw new UnsupportedOperationException();
  }

  /**
   * When the next {@link Command.Tick} is due, over all keys, epoch milliseconds; {@link
   * Long#MAX_VALUE} if none is. A caller submits a tick for every key of {@link #keysDue} at or
   * after that time, and before any other command of that time.
   */
  public long nextDeadlineMs() {
    throw new UnsupportedOperationException();
  }

  /** Keys whose tick is due by then, in order of key. */
  public List<String> keysDue(long nowMs) {
    throw new UnsupportedOperationException();
  }

  /** What holds for a quota at that time, refill up to then included; null if it is unknown. */
  public QuotaSnapshot show(String quotaId, long nowMs) {
    throw new UnsupportedOperationException();
  }

  /** Quota ids of a key, sorted. */
  public List<String> quotaIds(String key) {
    throw new UnsupportedOperationException();
  }

  /** Open leases of a quota in order of grant; empty if the quota is unknown. */
  public List<Lease> openLeases(String quotaId) {
    throw new UnsupportedOperationException();
  }

  /**
   * Waiting requests of a quota in the order in which they will be served, at most {@code limit}.
   */
  public List<Waiter> waiting(String quotaId, int limit) {
    throw new UnsupportedOperationException();
  }
}
