package dev.fairway.cli.demo;

/**
 * Leases of a run, counted in the journal.
 *
 * @param grants leases granted
 * @param settled leases settled for good
 * @param expired leases that reached their time to live unsettled
 */
record LeaseTally(long grants, long settled, long expired) {

  /** Leases that are neither settled nor expired. */
  long unsettled() {
    return grants - settled - expired;
  }

  /** Whether every lease was settled. */
  boolean closed() {
    return expired == 0 && grants == settled;
  }
}
