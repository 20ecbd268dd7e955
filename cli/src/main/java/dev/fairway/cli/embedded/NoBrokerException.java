package dev.fairway.cli.embedded;

/** No broker answered at an address, or it refused; the message is for people. */
public final class NoBrokerException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  NoBrokerException(String message, Throwable cause) {
    super(message, cause);
  }
}
