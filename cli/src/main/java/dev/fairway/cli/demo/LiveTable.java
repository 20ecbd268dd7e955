package dev.fairway.cli.demo;

import dev.fairway.cli.demo.emulator.ProviderEmulator;
import dev.fairway.cli.demo.fleet.AgentLog;
import dev.fairway.cli.demo.fleet.AgentLog.Counts;
import dev.fairway.cli.demo.fleet.FleetRun;
import dev.fairway.cli.demo.fleet.Span.Activity;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** One line a second on a terminal, each run below its heading. */
final class LiveTable {
  private static final String HEADING =
      String.format(
          Locale.ROOT,
          "%6s %7s %7s %6s %6s | %5s %6s %7s %6s %6s | %14s",
          "second",
          "calls",
          "429s",
          "turns",
          "tasks",
          "wait",
          "call",
          "re-plan",
          "tools",
          "idle",
          "provider level");

  private final Consumer<String> lines;

  LiveTable(Consumer<String> lines) {
    this.lines = lines;
  }

  /** Says what happens now. */
  void say(String line) {
    lines.accept(line);
  }

  void heading(String run) {
    say("");
    say(run);
    say(HEADING);
  }

  /** The state of a run now. */
  void show(FleetRun run, ProviderEmulator provider) {
    Counts counts = run.counts();
    Map<Activity, Integer> doing = new EnumMap<>(Activity.class);
    for (AgentLog log : run.logs()) {
      doing.merge(log.now(), 1, Integer::sum);
    }
    say(
        String.format(
            Locale.ROOT,
            "%6.0f %7d %7d %6d %6d | %5d %6d %7d %6d %6d | %,14.0f",
            run.elapsedSeconds(),
            counts.calls(),
            counts.refusals(),
            counts.turns(),
            counts.tasks(),
            doing.getOrDefault(Activity.WAIT, 0),
            doing.getOrDefault(Activity.CALL, 0),
            doing.getOrDefault(Activity.RE_PLAN, 0),
            doing.getOrDefault(Activity.TOOLS, 0),
            doing.getOrDefault(Activity.IDLE, 0),
            provider.inputLevel()));
  }
}
