package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.Cost;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The quotas of random runs: shallow, so that queues form, and in windows of every kind. */
final class Definitions {
  private static final QuotaDefinition.Window[] WINDOWS = QuotaDefinition.Window.values();

  private Definitions() {}

  /** The same in a window that a number picks, as deep as the window has it or as was given. */
  static QuotaDefinition windowed(QuotaDefinition d, int number) {
    QuotaDefinition.Window window = WINDOWS[number % WINDOWS.length];
    boolean asGiven = window == QuotaDefinition.Window.TOKEN_BUCKET || number % 4 == 0;
    QuotaDefinition inWindow =
        changed(d, window, d.limits(), asGiven ? d.depth() : null, d.level(), d.clearCount());
    boolean scaled = d.preset() == Preset.FAIRWAY && number % 7 > 3;
    return scaled ? scaled(inWindow) : inWindow;
  }

  /** The same with a margin that scales also what is shallow. */
  private static QuotaDefinition scaled(QuotaDefinition d) {
    QuotaDefinition.Margin m = d.margin();
    return new QuotaDefinition(
        d.id(),
        d.provider(),
        d.preset(),
        d.models(),
        d.also(),
        d.window(),
        d.limits(),
        d.depth(),
        d.level(),
        new QuotaDefinition.Margin(
            QuotaDefinition.MarginModeName.RATE,
            m.start(),
            m.floor(),
            m.cut(),
            m.creep(),
            m.cleanIntervalMs()),
        d.leaseTtlMs(),
        d.maxQueueWaitMs(),
        d.outputReservation(),
        d.defaultEstimate(),
        d.outputBurndown(),
        d.cacheReadsCount(),
        d.lateSettlementWindowMs(),
        d.queueMax(),
        d.queueMaxPerAgent(),
        d.budgets(),
        d.classes(),
        d.tenants(),
        d.roles(),
        d.rules(),
        d.state(),
        d.clearCount());
  }

  static QuotaDefinition of(String id, Preset preset, double start, QuotaDefinition.State state) {
    Amounts limits;
    Amounts depth;
    if (id.equals("k/a")) {
      limits =
          Amounts.of(Dimension.REQUESTS, 120)
              .with(Dimension.INPUT_TOKENS, 6000)
              .with(Dimension.OUTPUT_TOKENS, 3001);
      depth = Amounts.of(Dimension.INPUT_TOKENS, 1000).with(Dimension.OUTPUT_TOKENS, 500);
    } else if (id.equals("k/c")) {
      limits = Amounts.of(Dimension.INPUT_TOKENS, 5000).with(Dimension.CONCURRENT_REQUESTS, 5);
      depth = Amounts.of(Dimension.INPUT_TOKENS, 900);
    } else if (id.equals("k/o")) {
      // Limits what k/c does, so that a header of its own may hold what a call of k/c used.
      limits =
          Amounts.of(Dimension.INPUT_TOKENS, 6000)
              .with(Dimension.REQUESTS, 90)
              .with(Dimension.CONCURRENT_REQUESTS, 6);
      depth = Amounts.of(Dimension.INPUT_TOKENS, 1200);
    } else {
      limits = Amounts.of(Dimension.TOKENS, 3000).with(Dimension.CONCURRENT_REQUESTS, 3);
      depth = Amounts.of(Dimension.TOKENS, 777);
    }
    return new QuotaDefinition(
        id,
        "generic",
        preset,
        List.of(),
        id.equals("k/c") ? List.of("k/o") : List.of(),
        QuotaDefinition.Window.TOKEN_BUCKET,
        limits,
        depth,
        null,
        new QuotaDefinition.Margin(null, start, 0.5, 0.07, 0.013, 60_000L),
        // Shorter than a probe may stay silent, or longer.
        id.equals("k/b") ? 9_000L : 20_000L,
        15_000L,
        null,
        200L,
        id.equals("k/b") && preset == Preset.FAIRWAY ? (Integer) 3 : null,
        id.equals("k/a") && preset == Preset.FAIRWAY ? (Boolean) true : null,
        preset == Preset.SEED ? null : (Long) 30_000L,
        20,
        8,
        new QuotaDefinition.Budgets(3, id.equals("k/b") ? (Integer) 5 : null, null),
        id.equals("k/c") ? Map.of("interactive", 0.3) : Map.of(),
        id.equals("k/c") ? tenants(start) : Map.of(),
        Map.of(),
        null,
        state,
        0);
  }

  /** Two tenants, one of them with a ceiling; a redefinition moves it, or takes one away. */
  private static Map<String, QuotaDefinition.Tenant> tenants(double start) {
    QuotaDefinition.Tenant bounded =
        new QuotaDefinition.Tenant(
            2, start < 0.8 ? 0.6 : 0.4, List.of("a1"), List.of(), List.of(), 4, null);
    QuotaDefinition.Tenant plain =
        new QuotaDefinition.Tenant(
            1, null, List.of("a1", "a2", "a3*"), List.of("worker"), List.of("batch"), null, null);
    return start >= 1 ? Map.of("bounded", bounded) : Map.of("bounded", bounded, "plain", plain);
  }

  /** The same with rules that a number switches; in half of all cases those of its preset. */
  static QuotaDefinition ruled(QuotaDefinition d, int number) {
    if (number % 2 == 0) {
      return d;
    }
    Random random = new Random(number);
    Cost[] costs = {null, null, Cost.DOMINANT, Cost.ESTIMATED_TOKENS};
    Map<Rule, Boolean> switched = new EnumMap<>(Rule.class);
    for (Rule rule : Rule.values()) {
      int n = random.nextInt(6);
      if (n < 2) {
        switched.put(rule, n == 0);
      }
    }
    return changed(d, new QuotaDefinition.Rules(costs[random.nextInt(costs.length)], switched));
  }

  /** Whether a definition has a rule that SEED does not have by itself. */
  static boolean has(QuotaDefinition d, Rule rule) {
    Boolean switched = d.rules() == null ? null : d.rules().switched().get(rule);
    return switched != null ? switched : d.preset() == Preset.FAIRWAY;
  }

  /** What a call costs by a definition. */
  static Cost cost(QuotaDefinition d) {
    Cost switched = d.rules() == null ? null : d.rules().cost();
    Cost preset = d.preset() == Preset.FAIRWAY ? Cost.DOMINANT : Cost.ESTIMATED_TOKENS;
    return switched != null ? switched : preset;
  }

  static QuotaDefinition cleared(QuotaDefinition d, int clearCount) {
    return changed(d, d.window(), d.limits(), d.depth(), d.level(), clearCount);
  }

  /** Other limits, depths and windows, and a level that is given. */
  static QuotaDefinition withOtherLimits(QuotaDefinition d, int number) {
    Amounts limits =
        d.id().equals("k/a") || d.id().equals("k/c")
            ? Amounts.of(Dimension.REQUESTS, 200).with(Dimension.INPUT_TOKENS, 9001)
            : Amounts.of(Dimension.TOKENS, 2000);
    Amounts level = d.id().equals("k/b") ? Amounts.of(Dimension.TOKENS, 333) : null;
    return changed(d, WINDOWS[number % WINDOWS.length], limits, null, level, d.clearCount());
  }

  private static QuotaDefinition changed(QuotaDefinition d, QuotaDefinition.Rules rules) {
    QuotaDefinition.Budgets budgets = d.budgets();
    if (Boolean.FALSE.equals(rules.switched().get(Rule.COUNTED_ATTEMPTS))) {
      budgets = new QuotaDefinition.Budgets(null, budgets.callsPerTask(), null);
    }
    return changed(d, d.window(), d.limits(), d.depth(), d.level(), budgets, rules, d.clearCount());
  }

  private static QuotaDefinition changed(
      QuotaDefinition d,
      QuotaDefinition.Window window,
      Amounts limits,
      Amounts depth,
      Amounts level,
      int clearCount) {
    return changed(d, window, limits, depth, level, d.budgets(), d.rules(), clearCount);
  }

  private static QuotaDefinition changed(
      QuotaDefinition d,
      QuotaDefinition.Window window,
      Amounts limits,
      Amounts depth,
      Amounts level,
      QuotaDefinition.Budgets budgets,
      QuotaDefinition.Rules rules,
      int clearCount) {
    return new QuotaDefinition(
        d.id(),
        d.provider(),
        d.preset(),
        d.models(),
        d.also(),
        window,
        limits,
        depth,
        level,
        d.margin(),
        d.leaseTtlMs(),
        d.maxQueueWaitMs(),
        d.outputReservation(),
        d.defaultEstimate(),
        d.outputBurndown(),
        d.cacheReadsCount(),
        d.lateSettlementWindowMs(),
        d.queueMax(),
        d.queueMaxPerAgent(),
        budgets,
        d.classes(),
        d.tenants(),
        d.roles(),
        rules,
        d.state(),
        clearCount);
  }
}
