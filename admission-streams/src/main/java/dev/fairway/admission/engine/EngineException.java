package dev.fairway.admission.engine;

/** The engine met a state that must not exist. The engine it came from is not to be used again. */
public final class EngineException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With what failed, for people, and why. */
  public EngineException(String message, Throwable cause) {
    super(message, cause);
  }
}
