package dev.fairway.cli.demo;

import dev.fairway.cli.demo.emulator.ProviderLimits;
import dev.fairway.cli.demo.emulator.ProviderLimits.Limit;
import dev.fairway.cli.demo.fleet.Demand;
import dev.fairway.cli.demo.fleet.FleetPlan;

/**
 * Provider limits that are too small for a fleet, by a known ratio: input tokens bind, the others
 * leave room. The input bucket opens nearly empty, as in the middle of a busy hour; opening full it
 * would hide the limit for most of a one-minute run.
 *
 * @param limits what the provider allows
 * @param demandVsLimit what the fleet wants of the binding limit over what that limit can give in
 *     the run: its opening level and its refill
 */
record FleetLimits(ProviderLimits limits, double demandVsLimit) {
  /** Name of the limit that binds, as in reports. */
  static final String BINDING = "input_tokens";

  /**
   * What the quota uses of the limit between two headers; they close the gap again and again. Most
   * of a bucket that is a minute deep stays unused in a run that starts nearly empty, so that a
   * margin on its depth costs nothing.
   */
  static final double MARGIN = 0.95;

  /** What the quota is told of the opening level: an operator's reading is never the latest. */
  private static final double KNOWN_OPENING_SHARE = 0.85;

  private static final double OPENING_SHARE = 0.1;
  private static final double OUTPUT_SHARE = 0.2;
  private static final long INPUT_TOKENS_PER_REQUEST = 450;
  private static final long REQUESTS_MIN = 50;

  /** How much room the limits that don't bind have, over what the fleet wants. */
  private static final double ROOM = 1.5;

  /**
   * Input tokens that the limit can give in a run: its level at the start and its refill. It never
   * overflows meanwhile, or the fleet would not want more than it can get.
   */
  double capacity(double openingTokens, double seconds) {
    return openingTokens + limits.inputTokens().perMinute() / 60.0 * seconds;
  }

  /** The opening level as the quota's definition has it. */
  long knownOpeningTokens() {
    return Math.round(KNOWN_OPENING_SHARE * limits.inputTokens().opening());
  }

  /** Limits under which the fleet wants {@code ratio} times what it can get. */
  static FleetLimits of(FleetPlan plan, double ratio) {
    Demand demand = plan.demand();
    double minutes = plan.seconds() / 60;
    // A turn larger than the limit could never be sent at all.
    long largest =
        plan.agents().stream()
            .flatMap(agent -> agent.turns().stream())
            .mapToLong(turn -> turn.inputTokens())
            .max()
            .orElse(1);
    long input =
        Math.max(
            2 * largest, Math.round(demand.inputTokens() / (ratio * (minutes + OPENING_SHARE))));
    long output =
        Math.max(
            Math.round(OUTPUT_SHARE * input),
            Math.round(ROOM * demand.outputTokens() / Math.min(1, minutes)));
    long requests =
        Math.max(
            Math.max(REQUESTS_MIN, input / INPUT_TOKENS_PER_REQUEST),
            Math.round(ROOM * demand.calls() / Math.min(1, minutes)));
    Limit binding = new Limit(input, Math.round(OPENING_SHARE * input));
    return new FleetLimits(
        new ProviderLimits(Limit.full(requests), binding, Limit.full(output)),
        demand.inputTokens() / binding.capacity(plan.seconds()));
  }
}
