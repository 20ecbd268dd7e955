package dev.fairway.agent.gateway;

import dev.fairway.schemas.RejectReason;
import java.time.Duration;

/** No grant: the coordinator said no, nobody answered in time, or nobody could be asked. */
final class RefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String requestId;
  private final RejectReason reason;
  private final Duration retryAfter;

  /**
   * No grant.
   *
   * @param requestId request that was refused, or null if none was made
   * @param reason the coordinator's, or null if it did not answer
   * @param retryAfter when to come back, or null if nobody knows, or never
   */
  RefusedException(String requestId, RejectReason reason, String message, Duration retryAfter) {
    super(message, null, false, false);
    this.requestId = requestId;
    this.reason = reason;
    this.retryAfter = retryAfter;
  }

  String requestId() {
    return requestId;
  }

  RejectReason reason() {
    return reason;
  }

  Duration retryAfter() {
    return retryAfter;
  }

  /** What the client is told. */
  Trouble trouble() {
    if (reason == null) {
      return Trouble.unavailable(getMessage(), retryAfter);
    }
    int status =
        switch (reason) {
          case NEVER_FITS -> retryAfter == null ? 413 : 429;
          case NOT_AUTHORISED -> 403;
          case INVALID -> 400;
          case UNKNOWN_QUOTA, STALE, ALREADY_SETTLED, LEASE_EXPIRED -> 503;
          default -> 429;
        };
    return new Trouble(status, told(), retryAfter, false);
  }

  /** 503 makes clients say that the provider is overloaded: here nobody has asked it. */
  private String told() {
    return reason == RejectReason.UNKNOWN_QUOTA
        ? "A mistake of Fairway's configuration, not the provider's load: " + getMessage()
        : getMessage();
  }
}
