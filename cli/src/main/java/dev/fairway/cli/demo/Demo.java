package dev.fairway.cli.demo;

import dev.fairway.cli.CliException;
import dev.fairway.cli.demo.emulator.Ledger;
import dev.fairway.cli.demo.emulator.ProviderEmulator;
import dev.fairway.cli.demo.fleet.AgentLog;
import dev.fairway.cli.demo.fleet.FleetPlan;
import dev.fairway.cli.demo.fleet.FleetRun;
import dev.fairway.cli.demo.fleet.TraceFormatException;
import dev.fairway.cli.demo.fleet.TraceReader;
import dev.fairway.schemas.service.FileTrouble;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs the demo: the control, then the same fleet with admission, each against a fresh provider.
 */
final class Demo {
  private final DemoOptions options;
  private final LiveTable table;
  private final AdmissionSide.Factory admission;

  Demo(DemoOptions options, LiveTable table, AdmissionSide.Factory admission) {
    this.options = options;
    this.table = table;
    this.admission = admission;
  }

  /** Runs both, and takes a little more than twice the seconds asked for. */
  DemoOutcome run() throws Exception {
    FleetPlan plan = plan();
    FleetLimits limits = FleetLimits.of(plan, options.demandRatio());
    Finished control = control(plan, limits);
    table.say("");
    table.say("starting the pipeline");
    try (AdmissionSide side = admission.start(plan, limits)) {
      Finished admitted = admitted(plan, limits, side);
      LeaseTally leases = side.finish();
      DemoReport report =
          new DemoReport(
              plan,
              options.seed(),
              options.traceName(),
              limits,
              options.backoff(),
              control.summary(),
              admitted.summary(),
              leases);
      return new DemoOutcome(report, control.logs(), admitted.logs());
    }
  }

  private record Finished(RunSummary summary, List<AgentLog> logs) {}

  private interface Starter {
    FleetRun prepare(URI provider);
  }

  private FleetPlan plan() throws IOException {
    Path trace = options.trace();
    if (trace == null) {
      return FleetPlan.draw(options.seed(), options.agents(), options.seconds());
    }
    List<TraceReader.Row> rows;
    try {
      rows = TraceReader.read(trace);
    } catch (TraceFormatException e) {
      throw e;
    } catch (IOException e) {
      throw new CliException(
          "Expected a trace in "
              + trace
              + ", but: "
              + FileTrouble.of(e)
              + ". Name a file with --trace.",
          e);
    }
    FleetPlan plan = FleetPlan.fromTrace(options.seed(), options.agents(), options.seconds(), rows);
    if (plan.turns() > rows.size()) {
      table.say(
          "the trace has "
              + rows.size()
              + " rows, fewer than the fleet's turns: they are dealt again from the first");
    }
    return plan;
  }

  private Finished control(FleetPlan plan, FleetLimits limits) throws Exception {
    return run(
        "without admission",
        plan,
        limits,
        () -> {},
        provider -> FleetRun.withoutAdmission(plan, provider, options.backoff(), options.seed()));
  }

  private Finished admitted(FleetPlan plan, FleetLimits limits, AdmissionSide side)
      throws Exception {
    return run(
        "with admission",
        plan,
        limits,
        side::open,
        provider -> FleetRun.withAdmission(plan, provider, side::admissionOf));
  }

  private Finished run(
      String name, FleetPlan plan, FleetLimits limits, Runnable opened, Starter starter)
      throws Exception {
    table.heading(name);
    try (ProviderEmulator provider =
        ProviderEmulator.start(0, limits.limits(), plan.speed(), Ledger.inMemory())) {
      FleetRun run = starter.prepare(provider.uri());
      opened.run();
      double openingTokens = provider.inputLevel();
      run.start();
      try {
        run.await(() -> table.show(run, provider));
      } finally {
        run.stop();
      }
      return new Finished(
          RunSummary.of(
              run,
              provider.ledger().entries(),
              limits.capacity(openingTokens, plan.seconds()),
              plan.seconds()),
          run.logs());
    }
  }
}
