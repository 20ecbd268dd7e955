package dev.fairway.admission;

/** The coordinator cannot start; the message says what was expected, found, and what to do. */
public final class StartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StartException(String message, Throwable cause) {
    super(message, cause);
  }
}
