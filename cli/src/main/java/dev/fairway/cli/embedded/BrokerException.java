package dev.fairway.cli.embedded;

/** No broker is where one was expected; the message is for people and says what to do. */
public final class BrokerException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  BrokerException(String message, Throwable cause) {
    super(message, cause);
  }
}
