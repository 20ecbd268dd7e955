package dev.fairway.dispatcher;

/** Something the dispatcher needs is not there yet; the message says what, and what to do. */
final class NotReadyException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  NotReadyException(String message) {
    super(message);
  }
}
