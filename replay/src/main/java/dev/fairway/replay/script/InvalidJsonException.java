package dev.fairway.replay.script;

import java.util.List;

/** A JSON tree that doesn't say what it should. The message holds every error that was found. */
public final class InvalidJsonException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient List<String> errors;

  InvalidJsonException(List<String> errors) {
    super(String.join("; ", errors));
    this.errors = List.copyOf(errors);
  }

  /** The errors one by one, each with the field's path, what was expected and what was found. */
  public List<String> errors() {
    return errors;
  }
}
