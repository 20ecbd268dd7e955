package dev.fairway.agent;

import java.time.Duration;

/**
 * No grant within the call's timeout. The request has been cancelled; a grant that still arrives is
 * given back by the client itself.
 */
public final class AdmissionTimeoutException extends AdmissionException {
  private static final long serialVersionUID = 1L;

  private final String requestId;
  private final Duration timeout;

  AdmissionTimeoutException(String message, String requestId, Duration timeout) {
    super(message);
    this.requestId = requestId;
    this.timeout = timeout;
  }

  /** Request that was given up. */
  public String requestId() {
    return requestId;
  }

  /** The timeout that applied: the call's own, or the client's default. */
  public Duration timeout() {
    return timeout;
  }
}
