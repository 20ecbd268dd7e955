package dev.fairway.cli.config;

import java.util.List;

/**
 * A configuration that doesn't say what it should. The message holds every error that was found,
 * one a line.
 */
public final class InvalidConfigException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final transient List<String> errors;

  InvalidConfigException(List<String> errors) {
    super(String.join(System.lineSeparator(), errors));
    this.errors = List.copyOf(errors);
  }

  /** The errors one by one, each as {@code file:line: field: what was expected and found}. */
  public List<String> errors() {
    return errors;
  }
}
