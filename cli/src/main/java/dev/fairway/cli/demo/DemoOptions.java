package dev.fairway.cli.demo;

import dev.fairway.cli.demo.fleet.Backoff;
import java.nio.file.Path;

/**
 * What is run.
 *
 * @param agents size of the fleet, 1 to {@link #AGENTS_MAX}
 * @param seconds length of each of the two runs, 1 to {@link #SECONDS_MAX}
 * @param seed of the fleet and of the control's own draws
 * @param trace file whose rows are the turns' sizes, or null for drawn ones
 * @param backoff what agents without admission do after a 429
 * @param demandRatio what the fleet wants of the binding limit over what it can get, above 0
 */
public record DemoOptions(
    int agents, int seconds, long seed, Path trace, Backoff backoff, double demandRatio) {

  /** Largest fleet: each agent has threads and Kafka clients of its own. */
  public static final int AGENTS_MAX = 200;

  /** Longest run. */
  public static final int SECONDS_MAX = 3600;

  public DemoOptions {
    if (agents < 1 || agents > AGENTS_MAX) {
      throw new IllegalArgumentException(
          "Expected 1 to " + AGENTS_MAX + " agents, but got " + agents);
    }
    if (seconds < 1 || seconds > SECONDS_MAX) {
      throw new IllegalArgumentException(
          "Expected 1 to " + SECONDS_MAX + " seconds, but got " + seconds);
    }
    if (!(demandRatio > 0 && demandRatio <= 100)) {
      throw new IllegalArgumentException(
          "Expected a demand above 0 and up to 100 times the limit, but got " + demandRatio);
    }
  }

  /** Name of the file that the turns' sizes come from; null if they are drawn. */
  String traceName() {
    return trace == null ? null : trace.getFileName().toString();
  }
}
