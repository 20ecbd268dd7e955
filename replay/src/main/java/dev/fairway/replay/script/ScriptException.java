package dev.fairway.replay.script;

/** A line of a script that cannot be run. The message names the line. */
public final class ScriptException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final long lineNumber;

  ScriptException(long lineNumber, String message, Throwable cause) {
    super("line " + lineNumber + ": " + message, cause);
    this.lineNumber = lineNumber;
  }

  /** The line, from 1. */
  public long lineNumber() {
    return lineNumber;
  }
}
