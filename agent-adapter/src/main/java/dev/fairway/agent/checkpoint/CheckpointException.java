package dev.fairway.agent.checkpoint;

/** A checkpoint could not be stored or read; the message says which, and what to do. */
public final class CheckpointException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CheckpointException(String message) {
    super(message);
  }

  CheckpointException(String message, Throwable cause) {
    super(message, cause);
  }
}
