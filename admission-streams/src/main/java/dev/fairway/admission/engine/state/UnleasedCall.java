package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.lease.Claims;
import dev.fairway.admission.engine.lease.Forecast;
import dev.fairway.admission.engine.lease.Identity;
import dev.fairway.admission.engine.lease.Told;
import dev.fairway.admission.engine.state.Lease.Status;
import dev.fairway.admission.engine.state.Row.LeaseRow;

/**
 * A call that was made without a lease is kept like a lease that was settled at its report: what a
 * provider's number may or may not hold, and what a minute has taken, is then known of it as of any
 * other call, where reports are strict.
 */
final class UnleasedCall {
  /** Attempt of a call that nobody was granted. */
  static final int ATTEMPT = 0;

  /** Who does not tell when such a call was sent, sent it within so long before the report. */
  private static final long SENT_WITHIN_MS = 60_000;

  /** So many are kept of a quota; those beyond are charged like all, and not kept. */
  static final int MAX_KEPT = 10_000;

  private UnleasedCall() {}

  static void keep(KeyState key, QuotaState quota, UnleasedCharged e) {
    if (quota.unleased < MAX_KEPT) {
      Lease call = of(key, e);
      LeaseApplier.indexLease(key, quota, call);
      key.changes.put(new LeaseRow(call));
    }
  }

  private static Lease of(KeyState key, UnleasedCharged e) {
    long reportedAtMs = key.nowMs;
    boolean told = e.sentAtMs() != null;
    long halfMs = SENT_WITHIN_MS / 2;
    return new Lease(
        request(e),
        "",
        reportedAtMs,
        reportedAtMs,
        Identity.ofUnleased(e.agentId(), e.requestId()),
        ATTEMPT,
        Status.SETTLED,
        reportedAtMs,
        reportedAtMs,
        reportedAtMs,
        e.charged(),
        Told.NOTHING,
        false,
        0,
        0,
        Lease.NO_PLACE,
        told ? e.sentAtMs() : reportedAtMs - halfMs,
        told,
        told ? 0 : halfMs,
        new Forecast(0, 0),
        0,
        false,
        Standing.of(new Claims(e.tenant(), "", OrderPolicy.DEFAULT_CLASS), null, null),
        new Taken(e.also(), Amounts.NONE, e.ceiling(), false, null, false));
  }

  private static LeaseRequest request(UnleasedCharged e) {
    return new LeaseRequest(
        e.requestId(),
        e.agentId(),
        e.quotaId(),
        null,
        "",
        OrderPolicy.DEFAULT_CLASS,
        null,
        0,
        null,
        new LeaseRequest.Estimate(null, 0, null, null, ""),
        null,
        null,
        null,
        null);
  }
}
