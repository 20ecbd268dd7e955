package dev.fairway.cli.embedded;

/**
 * The embedded Kafka did not start or stopped; the message says what was expected, what was found,
 * and what to do.
 */
public final class EmbeddedKafkaException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message for people
   * @param cause null if there is none
   */
  public EmbeddedKafkaException(String message, Throwable cause) {
    super(message, cause);
  }
}
