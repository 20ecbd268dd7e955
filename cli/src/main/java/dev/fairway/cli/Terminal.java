package dev.fairway.cli;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Whether somebody looks on while a command runs. */
final class Terminal {

  private static final long ANSWER_S = 2;

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

  /**
   * Whether standard error is a terminal, whatever becomes of standard output. The JDK cannot tell,
   * so the shell is asked; where there is none, nobody looks on.
   */
  static boolean isStandardError() {
    try {
      Process test =
          new ProcessBuilder("sh", "-c", "test -t 2")
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      if (test.waitFor(ANSWER_S, TimeUnit.SECONDS)) {
        return test.exitValue() == 0;
      }
      test.destroyForcibly();
      return false;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
