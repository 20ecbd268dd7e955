package dev.fairway.agent;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Rejected;
import java.time.Duration;

/** Why a call ends without a lease, in words for people. */
final class Failures {
  private Failures() {}

  static AdmissionException closed() {
    return new AdmissionException(
        "Expected an open admission client, but it is closed. Start another one.");
  }

  static AdmissionException tooManyCalls(int callsMax) {
    return new AdmissionException(
        "Expected fewer than "
            + callsMax
            + " waiting calls, but found that many. Wait for some of them, or raise"
            + " pendingCallsMax.");
  }

  static AdmissionException tooManyLeases(int leasesMax) {
    return new AdmissionException(
        "Expected fewer than "
            + leasesMax
            + " waiting calls and open leases, but found that many. Settle or close leases, or"
            + " raise openLeasesMax.");
  }

  static AdmissionException notSent(PendingCall call, Throwable error) {
    return new AdmissionException(
        "Expected to send request "
            + call.requestId()
            + " of quota "
            + call.call.quota()
            + ", but it failed: "
            + error
            + ".",
        error);
  }

  static RetryBudgetSpentException budgetSpent(String retryOf) {
    return new RetryBudgetSpentException(
        "Expected a retry budget that allows to try "
            + retryOf
            + " again, but all its retries are spent. Report the failure to whoever began the call; a"
            + " further try would find what the others found.");
  }

  static AdmissionException inUse(String requestId) {
    return new AdmissionException(
        "Expected a request id that no waiting call has, but "
            + requestId
            + " waits already. Wait for that one, or use newRequestId().");
  }

  static AdmissionTimeoutException timeout(PendingCall call) {
    return new AdmissionTimeoutException(
        "Expected a grant of quota "
            + call.call.quota()
            + " within "
            + call.timeout.toMillis()
            + " ms, but none came; request "
            + call.requestId()
            + " is cancelled. `fairway why "
            + call.requestId()
            + "` tells what it waited for.",
        call.requestId(),
        call.timeout);
  }

  static LeaseRejectedException rejected(PendingCall call, Decision decision) {
    Rejected rejected = decision.getRejected();
    Long retryAfterMs = rejected.getRetryAfterMs();
    if (retryAfterMs == null && rejected.getRetryAtMs() != null) {
      // Both times are the coordinator's.
      retryAfterMs = Math.max(0, rejected.getRetryAtMs() - decision.getDecidedAtMs());
    }
    return new LeaseRejectedException(
        call.call.quota(),
        call.requestId(),
        rejected.getReason(),
        rejected.getDetail(),
        retryAfterMs == null ? null : Duration.ofMillis(retryAfterMs));
  }

  static LeaseRejectedException expired(PendingCall call) {
    return new LeaseRejectedException(
        call.call.quota(),
        call.requestId(),
        RejectReason.LEASE_EXPIRED,
        call.expiredGrants
            + " grants had expired before they were read. Expected delivery within the quota's"
            + " lease TTL; look at the load of this process and at the dispatcher.",
        null);
  }
}
