package dev.fairway.cli.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.cli.demo.emulator.ProviderLimits;
import dev.fairway.cli.demo.fleet.Backoff;
import dev.fairway.cli.demo.fleet.FleetPlan;
import dev.fairway.cli.demo.page.DemoPage.Definition;
import dev.fairway.cli.demo.page.DemoPage.Row;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * The result of a demo: what was run, and both runs in numbers.
 *
 * @param plan the fleet
 * @param seed of the fleet and of the control's draws
 * @param trace name of the file that the turns' sizes come from; null if they were drawn
 * @param limits what the provider allowed
 * @param backoff what agents without admission did after a 429
 * @param without the control
 * @param with the run with admission
 * @param leases its leases
 */
record DemoReport(
    FleetPlan plan,
    long seed,
    String trace,
    FleetLimits limits,
    Backoff backoff,
    RunSummary without,
    RunSummary with,
    LeaseTally leases) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The result as JSON; the names are a contract. */
  ObjectNode toJson() {
    ObjectNode root = JSON.createObjectNode();
    root.set("without_admission", JSON.valueToTree(without));
    ObjectNode admitted = JSON.valueToTree(with);
    admitted.put("grants", leases.grants());
    admitted.put("settled", leases.settled());
    admitted.put("expired", leases.expired());
    admitted.put("unsettled", leases.unsettled());
    root.set("with_admission", admitted);
    root.put("agents", plan.agents().size());
    root.put("seconds", Math.round(plan.seconds()));
    root.put("seed", seed);
    root.put("source", trace == null ? "draws" : trace);
    root.put("control_backoff", backoff.toString());
    root.put("binding", FleetLimits.BINDING);
    root.put("demand_vs_limit", Math.round(limits.demandVsLimit() * 1000) / 1000.0);
    ProviderLimits allowed = limits.limits();
    root.putObject("limits")
        .put("requests_per_minute", allowed.requests().perMinute())
        .put("input_tokens_per_minute", allowed.inputTokens().perMinute())
        .put("output_tokens_per_minute", allowed.outputTokens().perMinute())
        .put("opening_input_tokens", allowed.inputTokens().opening());
    return root;
  }

  /** What was run, in one sentence. */
  String subtitle() {
    return String.format(
        Locale.ROOT,
        "%d agents for %.0f s; their turns have %s. The provider allows %,d input tokens a minute, and the"
            + " fleet wants %.2f times what it can get. Tools and model run %.0f times as fast as usual.",
        plan.agents().size(),
        plan.seconds(),
        trace == null ? "the usual sizes, drawn with seed " + seed : "the sizes of " + trace,
        limits.limits().inputTokens().perMinute(),
        limits.demandVsLimit(),
        FleetPlan.SPEED_UP);
  }

  /** Both runs, number by number. */
  List<Row> rows() {
    return List.of(
        row("429s in 1000 calls", true, run -> decimal(run.refusalsPerThousand())),
        row("tasks finished", true, run -> whole(run.tasksFinished())),
        row("pull requests merged", true, run -> whole(run.prsMerged())),
        row("tokens wasted on re-plans", true, run -> whole(run.wastedTokens())),
        row("turns finished", false, run -> whole(run.turnsFinished())),
        row("calls", false, run -> whole(run.calls())),
        row("429s", false, run -> whole(run.provider429())),
        row("tokens charged", false, run -> whole(run.tokens())),
        row("limit used", false, run -> decimal(100 * run.limitUsed()) + " %"),
        row("wait of a turn, median", false, run -> whole(run.waitMs().p50()) + " ms"),
        row("wait of a turn, 95th percentile", false, run -> whole(run.waitMs().p95()) + " ms"),
        row("longest wait of a turn", false, run -> whole(run.waitMs().max()) + " ms"),
        row(
            "waited by all turns together",
            false,
            run -> whole(run.waitMs().total() / 1_000) + " s"),
        new Row("leases granted", "", whole(leases.grants()), false),
        new Row("leases settled", "", whole(leases.settled()), false),
        new Row(
            "leases expired / unsettled",
            "",
            whole(leases.expired()) + " / " + whole(leases.unsettled()),
            false));
  }

  /** What the numbers mean. */
  List<Definition> definitions() {
    return List.of(
        new Definition(
            "turn", "One model call, then tools. Both runs have the same turns, drawn beforehand."),
        new Definition(
            "task",
            "A fixed group of an agent's turns. It is finished with the tools of its last turn; half a"
                + " task counts for nothing."),
        new Definition(
            "pull request",
            "What a group of ten works on: the planner's task opens the six workers', the last worker's the"
                + " reviewer's, and that one's end is the merge. Two agents lint meanwhile and wait for"
                + " nobody. Turns from a trace know no groups, and merge nothing."),
        new Definition("call", "An HTTP request that reached the provider, accepted or refused."),
        new Definition(
            "429", "A call that the provider refused, because one of its limits did not cover it."),
        new Definition(
            "tokens charged",
            "Input and output of all accepted calls, by the provider's own ledger."),
        new Definition(
            "backoff",
            "What an agent without admission does after a 429. Here it is "
                + (backoff == Backoff.FULL_JITTER
                    ? "full jitter: it waits anything up to 1 s, doubling to 30 s, 60 times as fast."
                    : "retry-after: it never comes back before the time that the refusal told it.")),
        new Definition(
            "re-plan",
            "What an agent without admission does once a call was refused seven times: it has lost its"
                + " place, and reads 5 to 20 times that call's input again. Those tokens are wasted."),
        new Definition(
            "limit used",
            "Input tokens charged within the run, over what the limit could give in it: its level at the"
                + " start and its refill. A wasted token uses it too."),
        new Definition(
            "wait",
            "From the moment a turn wants its call until the call that is accepted is sent, or the run"
                + " ends: for a lease, or in refused calls, backoff and re-plans. Without admission most"
                + " turns wait for nothing and a few for long, which only the longest"
                + " wait and the sum show."),
        new Definition(
            "lease",
            "Leave to make one call, granted when the limit covers it. Granted, settled and expired are"
                + " counted in the journal."));
  }

  private Row row(String name, boolean headline, Function<RunSummary, String> text) {
    return new Row(name, text.apply(without), text.apply(with), headline);
  }

  private static String whole(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  private static String decimal(double number) {
    return String.format(Locale.ROOT, "%,.1f", number);
  }
}
