package dev.fairway.cli.demo;

import java.util.function.Consumer;

/** Runs a demo over a pipeline of its own. */
public final class DemoRunner {
  private DemoRunner() {}

  /**
   * Runs the control and the run with admission, a little more than twice the seconds asked for.
   *
   * @param progress told, about once a second, how it goes
   */
  public static DemoOutcome run(DemoOptions options, Consumer<String> progress) throws Exception {
    return new Demo(
            options,
            new LiveTable(progress),
            (plan, limits) -> EmbeddedPipeline.start(plan, limits, progress))
        .run();
  }
}
