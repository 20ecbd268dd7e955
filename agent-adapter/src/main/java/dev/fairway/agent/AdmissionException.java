package dev.fairway.agent;

/**
 * A call could not be admitted, or a report could not be delivered. The message says what was
 * expected, what was found, and what to do.
 */
public class AdmissionException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With a message for people. */
  public AdmissionException(String message) {
    super(message);
  }

  /** With a message for people, and the failure behind it. */
  public AdmissionException(String message, Throwable cause) {
    super(message, cause);
  }
}
