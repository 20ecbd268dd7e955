package dev.fairway.cli;

/**
 * A command cannot do what it was asked; the message is for people and says what was expected, what
 * was found, and what to do. It is printed without a stack trace, and the command ends with exit
 * code 1.
 */
public class CliException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Creates the exception. */
  public CliException(String message) {
    super(message);
  }

  /** Creates the exception; the cause is for the log, the message has to stand by itself. */
  public CliException(String message, Throwable cause) {
    super(message, cause);
  }
}
