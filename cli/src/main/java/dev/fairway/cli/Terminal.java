package dev.fairway.cli;

/** Whether somebody looks on while a command runs. */
final class Terminal {

  private Terminal() {}

  /**
   * Whether standard input and output are a terminal, so that progress and cursor control make
   * sense.
   */
  // On Java 22 and later a console exists without a terminal as well; then the output only loses
  // its comfort.
  @SuppressWarnings("SystemConsoleNull")
  static boolean isPresent() {
    return System.console() != null && System.getenv("TERM") != null;
  }
}
