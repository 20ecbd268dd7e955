package dev.fairway.cli;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Option;

/** The option {@code --watch}: the same again and again, until the command is interrupted. */
final class WatchOption {

  private static final String CLEAR_SCREEN = "\u001b[H\u001b[2J";

  @Option(names = "--watch", description = "Repeat until interrupted.")
  private boolean watch;

  @Option(
      names = "--period",
      paramLabel = "DURATION",
      defaultValue = "2s",
      converter = PeriodConverter.class,
      description =
          "Time between two repetitions of --watch, 100ms to 24h (default: ${DEFAULT-VALUE}).")
  private Duration period;

  WatchOption() {}

  /** Runs once, or until the thread is interrupted. */
  void run(BaseCommand command, Runnable once) {
    once.run();
    while (watch && pause()) {
      if (Terminal.isPresent()) {
        command.say(CLEAR_SCREEN);
      }
      once.run();
    }
  }

  private boolean pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(period.toMillis());
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
