package dev.fairway.cli.embedded;

/**
 * Topics are not as the protocol needs them, or could not be made so; the message says what to do,
 * one problem a line.
 */
public final class TopicSetupException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  TopicSetupException(String message, Throwable cause) {
    super(message, cause);
  }
}
