package dev.fairway.replay.verify;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.StateRow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Folds the events of a journal by the published rules and compares: every balance is opening +
 * refill - charges + adjustments +/- resync - clipped, to the token; a lease changes each bucket
 * once, net; nothing is refunded at expiry; open leases add up to what is reserved; no lease id
 * comes twice; nothing is granted that nobody asked for or that did not fit. Uses no class of the
 * engine: a check that used the checked code would prove nothing. Not thread-safe.
 */
public final class Conservation {
  private final Map<String, KeyLedger> keys = new HashMap<>();
  private final Findings findings;

  /**
   * A check of nothing yet.
   *
   * @param toldMax how many findings are kept as text; all are counted
   */
  public Conservation(int toldMax) {
    this.findings = new Findings(toldMax);
  }

  /** Starts a key from its first record. */
  public void start(String key) {
    keys.put(key, new KeyLedger(key, findings::add));
  }

  /**
   * Starts a key from a whole snapshot, or starts it again, so that one error is not found in every
   * later snapshot too.
   */
  public void start(String key, List<StateRow> rows) {
    KeyLedger ledger = new KeyLedger(key, findings::add);
    ledger.load(rows, keys.get(key));
    keys.put(key, ledger);
  }

  /** Folds one record, which is no snapshot; a key that was not started is passed over. */
  public void fold(AdmissionEvent event) {
    KeyLedger ledger = keys.get(event.getKey());
    if (ledger != null) {
      ledger.fold(event);
    }
  }

  /** Compares a key with a whole snapshot of it; one that was not started is passed over. */
  public void compare(String key, List<StateRow> rows) {
    KeyLedger ledger = keys.get(key);
    if (ledger != null) {
      ledger.compare(rows);
    }
  }

  /** Whether nothing was found so far. */
  public boolean holds() {
    return findings.count() == 0;
  }

  /** The first findings, for people. */
  public List<String> findings() {
    return findings.told();
  }
}
