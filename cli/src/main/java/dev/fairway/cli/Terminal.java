package dev.fairway.cli;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Whether somebody watches. */
final class Terminal {
  private static final long ANSWER_S = 2;

  private Terminal() {}

  /**
   * Whether standard error is a terminal. The JDK tells only whether input and output both are, so
   * the shell is asked; where there is none, nobody watches.
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
