package dev.fairway.admission.engine;

/** Why a request is rejected; names are those of the protocol. */
public enum RejectReason {
  UNKNOWN_QUOTA,
  NEVER_FITS,
  QUEUE_WAIT_TOO_LONG,
  QUEUE_FULL,
  TENANT_CEILING,
  BUDGET_SPENT,
  DEADLINE_PASSED,
  QUOTA_EXHAUSTED,
  QUOTA_DRAINING,
  STALE,
  INVALID,
  NOT_AUTHORISED,
  ALREADY_SETTLED,
  LEASE_EXPIRED
}
