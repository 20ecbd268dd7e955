package dev.fairway.agent;

import dev.fairway.schemas.RejectReason;
import java.time.Duration;
import java.util.Optional;

/**
 * The coordinator said no; nothing was taken. Come back after {@link #retryAfter()} with a new call
 * that names {@link #requestId()} in {@link LeaseCall.Builder#retryOf(String)}, or, if that is
 * empty, don't come back with the same call.
 */
public final class LeaseRejectedException extends AdmissionException {
  private static final long serialVersionUID = 1L;

  private final String requestId;
  private final RejectReason reason;
  private final String detail;
  private final Duration retryAfter;

  LeaseRejectedException(
      String quota, String requestId, RejectReason reason, String detail, Duration retryAfter) {
    super(
        "Quota "
            + quota
            + " rejected request "
            + requestId
            + " with "
            + reason
            + (detail.isEmpty() ? "" : ": " + detail)
            + (retryAfter == null
                ? " (no time to come back was given)"
                : " (come back in " + retryAfter.toMillis() + " ms)"));
    this.requestId = requestId;
    this.reason = reason;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }

  /** Request that was rejected. */
  public String requestId() {
    return requestId;
  }

  /** Why. */
  public RejectReason reason() {
    return reason;
  }

  /** What was expected, what was found, what to do; may be empty. */
  public String detail() {
    return detail;
  }

  /** When to come back, counted from the decision; empty: never, or not known. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }
}
