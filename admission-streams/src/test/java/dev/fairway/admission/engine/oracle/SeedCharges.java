package dev.fairway.admission.engine.oracle;

import dev.fairway.admission.engine.oracle.SeedCall.Ask;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a call is charged, what it costs in the fair queue, and what its end makes of that. */
final class SeedCharges {
  private final SeedRules rules;

  SeedCharges(SeedRules rules) {
    this.rules = rules;
  }

  Map<String, Long> charge(Ask ask, long atMs) {
    return amounts(input(ask, atMs), output(ask));
  }

  long input(Ask ask, long atMs) {
    boolean cold =
        ask.cached() > 0 && (ask.cacheExpiresAtMs() == null || ask.cacheExpiresAtMs() <= atMs);
    return (ask.input() != null ? ask.input() : rules.defaultEstimate())
        + (cold ? ask.cached() : 0);
  }

  long output(Ask ask) {
    return ask.maxOutput() == null ? 0 : ask.maxOutput();
  }

  Map<String, Long> amounts(long input, long output) {
    Map<String, Long> amounts = new LinkedHashMap<>();
    for (String d : rules.limits().keySet()) {
      switch (d) {
        case "input_tokens":
          amounts.put(d, input);
          break;
        case "output_tokens":
          amounts.put(d, output);
          break;
        case "tokens":
          amounts.put(d, input + output);
          break;
        default:
          amounts.put(d, 1L);
      }
    }
    return amounts;
  }

  Rational cost(Ask ask, long atMs) {
    return Rational.of(Math.max(1, input(ask, atMs) + output(ask)));
  }

  /** base(role) x (1 + 0.5 x unblocks) x 0.5^repeat_failures, at least 0.1. */
  Rational weight(Ask ask) {
    long least = rules.roles().values().stream().min(Long::compare).orElse(1L);
    long base = rules.roles().getOrDefault(ask.role(), least);
    long unblocks = ask.unblocks() == null ? 0 : Math.min(ask.unblocks(), 32);
    Rational weight = Rational.of(base).times(Rational.of(2 + unblocks, 2));
    return weight.over(Rational.of(1L << ask.repeatFailures())).max(Rational.of(1, 10));
  }

  Map<String, Long> actual(SeedCall call, String outcome, Long input, Long output) {
    boolean refused = outcome.equals("OVERLOADED");
    if (outcome.equals("NOT_SENT") || outcome.equals("RATE_LIMITED")) {
      Map<String, Long> none = amounts(0, 0);
      // The provider has counted the request that it refused.
      none.computeIfPresent("requests", (d, one) -> outcome.equals("RATE_LIMITED") ? 1L : 0L);
      return none;
    }
    long heldInput = input(call);
    long usedInput = input != null ? input : refused && !call.inputKnown ? 0 : heldInput;
    long usedOutput = output != null ? output : refused ? 0 : output(call.ask);
    return amounts(usedInput, usedOutput);
  }

  /** The input that a lease holds, by the dimension that shows it. */
  private long input(SeedCall call) {
    if (call.charged.containsKey("input_tokens")) {
      return call.charged.get("input_tokens");
    }
    return call.charged.containsKey("tokens")
        ? call.charged.get("tokens") - output(call.ask)
        : input(call.ask, call.grantedAtMs);
  }
}
