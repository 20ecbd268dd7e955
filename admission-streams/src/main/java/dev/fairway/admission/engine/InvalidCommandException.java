package dev.fairway.admission.engine;

/**
 * A command that cannot be acted on and that no agent can be told about. Thrown before any event:
 * state is as it was, and the engine goes on. The message says what was expected, what was found,
 * what to do.
 */
public final class InvalidCommandException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With what was expected, what was found, and what to do, for people. */
  public InvalidCommandException(String message) {
    super(message);
  }
}
