package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.queue.Tags;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Lease.Status;
import dev.fairway.admission.engine.state.QuotaState;

/** What a call really used, and what that moves: buckets and the flow's tag. Pure arithmetic. */
final class ActualUse {

  private ActualUse() {}

  /** What counts against the quota, as far as it is known; what is not known stays as charged. */
  static Amounts actual(QuotaPolicy policy, Lease lease, Settlement settlement) {
    Tokens used = tokens(policy, lease, settlement, lease.charged());
    return used == null
        ? nothing(policy, settlement, lease.charged())
        : only(lease.charged(), Charges.of(policy, used.input, used.output));
  }

  /** What counts against another quota that the lease took from too. */
  static Amounts inOther(QuotaPolicy policy, Lease lease, Settlement settlement, Amounts held) {
    Tokens used = tokens(policy, lease, settlement, held);
    return used == null
        ? nothing(policy, settlement, held)
        : only(held, Charges.everyDimension(used.input, used.output));
  }

  /**
   * What counts in the parts of a quota, a tenant's ceiling and a class's reserve: what is known,
   * and of what nobody told, at least what calls of its role take. No provider's number corrects a
   * part, so that whoever says little, and nothing afterwards, would be in no part at all. Where
   * reports are taken at their word, what they say.
   */
  static Amounts inParts(QuotaState quota, Lease lease, Settlement settlement, Amounts actual) {
    Tokens used = tokens(quota.policy(), lease, settlement, lease.charged());
    Usage usage = settlement.usage();
    boolean told = lease.inputKnown() || (usage != null && usage.inputTokens() != null);
    if (used == null || refused(settlement) || !quota.policy().rules().has(Rule.STRICT_REPORTS)) {
      return actual;
    }
    String role = lease.standing().role();
    long input = told ? used.input : Math.max(used.input, UntoldUse.usualInput(quota, role));
    long output = atLeastUsual(quota, lease, usage, used.output);
    return only(lease.charged(), Charges.of(quota.policy(), input, output));
  }

  /** Output of a call that was made, at least what is usual where its end does not tell it. */
  private static long atLeastUsual(QuotaState quota, Lease lease, Usage usage, long output) {
    boolean told = usage != null && usage.outputTokens() != null;
    return told ? output : Math.max(output, UntoldUse.usualOutput(quota, lease.standing().role()));
  }

  /** The same of a call that goes on, by all that is told of it. */
  static Amounts inPartsSoFar(QuotaState quota, Lease lease, Told told) {
    long outputHeld = lease.forecast().outputTokens();
    long input =
        told.input() != null
            ? told.input()
            : inputHeld(quota.policy(), lease, lease.charged(), outputHeld);
    long output = outputSoFar(lease, told);
    return only(lease.charged(), Charges.of(quota.policy(), input, output));
  }

  /** Tokens of a call, as they count. */
  private record Tokens(long input, long output) {}

  /** Null where the provider did no work. */
  private static Tokens tokens(
      QuotaPolicy policy, Lease lease, Settlement settlement, Amounts charged) {
    Told told = toldOnTheWay(policy, lease);
    if (!made(settlement, told)) {
      return null;
    }
    Usage usage = settlement.usage();
    boolean refused = refused(settlement);
    long outputHeld = outputHeld(policy, lease);
    long inputHeld = inputHeld(policy, lease, charged, outputHeld);
    long input = refused && !lease.inputKnown() ? 0 : inputHeld;
    input = told.input() != null ? told.input() : input;
    // What was told of the output is what was produced by then: there may be more.
    long output = refused ? orZero(told.output()) : outputSoFar(lease, told);
    if (usage != null && usage.inputTokens() != null) {
      input = countedInput(policy, usage);
    }
    Long toldOutput = countedOutput(policy, usage);
    return new Tokens(input, toldOutput != null ? toldOutput : output);
  }

  /** What interim settlements told, as far as the end goes by it; else by what is held alone. */
  private static Told toldOnTheWay(QuotaPolicy policy, Lease lease) {
    return policy.rules().has(Rule.STRICT_REPORTS) ? lease.told() : Told.NOTHING;
  }

  private static boolean refused(Settlement settlement) {
    return settlement.outcome() == Outcome.OVERLOADED
        || settlement.outcome() == Outcome.RATE_LIMITED;
  }

  /** Whether the provider did work for it. A refusal of a call that ran undoes nothing of that. */
  private static boolean made(Settlement settlement, Told told) {
    switch (settlement.outcome()) {
      case NOT_SENT:
        return false;
      case RATE_LIMITED:
        return told.input() != null || told.output() != null;
      default:
        return true;
    }
  }

  private static Amounts nothing(QuotaPolicy policy, Settlement settlement, Amounts charged) {
    return settlement.outcome() == Outcome.RATE_LIMITED
        ? ofRefusal(policy, charged)
        : zero(charged);
  }

  /** What of a charge counts where the provider refused the call. */
  static Amounts ofRefusal(QuotaPolicy policy, Amounts charged) {
    Amounts none = zero(charged);
    boolean counts = policy.accounting().refusalCostsRequest() && none.has(Dimension.REQUESTS);
    return counts ? none.with(Dimension.REQUESTS, charged.get(Dimension.REQUESTS)) : none;
  }

  /** Output in what the lease holds: more than was reserved once it has expired having told so. */
  private static long outputHeld(QuotaPolicy policy, Lease lease) {
    return lease.status() == Status.EXPIRED
        ? outputSoFar(lease, toldOnTheWay(policy, lease))
        : lease.forecast().outputTokens();
  }

  private static long inputHeld(QuotaPolicy policy, Lease lease, Amounts charged, long outputHeld) {
    if (charged.has(Dimension.INPUT_TOKENS)) {
      return charged.get(Dimension.INPUT_TOKENS);
    }
    if (charged.has(Dimension.TOKENS)) {
      return Math.max(0, charged.get(Dimension.TOKENS) - outputHeld);
    }
    return Charges.inputEstimate(lease.request(), lease.forecast(), policy, lease.coldCache());
  }

  static long countedInput(QuotaPolicy policy, Usage usage) {
    return policy
        .accounting()
        .countedInput(
            usage.inputTokens(), orZero(usage.cacheReadTokens()), orZero(usage.cacheWriteTokens()));
  }

  /** Output that counts; null where it is not told. */
  static Long countedOutput(QuotaPolicy policy, Usage usage) {
    return usage == null || usage.outputTokens() == null
        ? null
        : (Long) policy.accounting().countedOutput(usage.outputTokens());
  }

  static long orZero(Long tokens) {
    return tokens == null ? 0 : tokens;
  }

  /** Input of a call that ran to its end, or null if there is nothing to learn from it. */
  static Long learnedEstimate(QuotaPolicy policy, Settlement settlement) {
    Usage usage = settlement.usage();
    boolean known =
        settlement.outcome() == Outcome.SUCCEEDED
            && usage != null
            && usage.exact()
            && usage.inputTokens() != null;
    return known ? (Long) countedInput(policy, usage) : null;
  }

  /** Its output likewise, as it was produced: what it counts is a matter of the quota. */
  static Long learnedOutput(Settlement settlement) {
    Usage usage = settlement.usage();
    boolean known = settlement.outcome() == Outcome.SUCCEEDED && usage != null && usage.exact();
    return known ? usage.outputTokens() : null;
  }

  private static Amounts zero(Amounts like) {
    Amounts zero = Amounts.NONE;
    for (Dimension d : Dimension.values()) {
      zero = like.has(d) ? zero.with(d, 0) : zero;
    }
    return zero;
  }

  /** Only what the lease was charged for: a dimension limited since then owes it nothing. */
  private static Amounts only(Amounts charged, Amounts actual) {
    Amounts kept = Amounts.NONE;
    for (Dimension d : Dimension.values()) {
      if (charged.has(d)) {
        kept = kept.with(d, actual.has(d) ? actual.get(d) : charged.get(d));
      }
    }
    return kept;
  }

  /**
   * What moves the buckets: charged less actual, positive for a refund, as far as {@link
   * QuotaState#moves} has it. A slot is freed, not refunded.
   */
  static Amounts adjustment(QuotaState quota, Lease lease, Amounts actual) {
    Amounts adjustment = Amounts.NONE;
    for (Dimension d : Dimension.values()) {
      if (d.refills() && lease.charged().has(d) && actual.has(d)) {
        long difference = Amounts.saturatedSubtract(lease.charged().get(d), actual.get(d));
        adjustment = adjustment.with(d, quota.moves(d, lease, difference));
      }
    }
    return adjustment;
  }

  /**
   * Under-estimating must not pay: the flow's tag follows what the call really cost.
   *
   * @param cost in the fair queue, or null where nothing is known but the estimate
   */
  static long tagShift(Lease lease, Long cost) {
    return cost == null
        ? 0
        : Tags.length(cost, lease.weightMilli()) - Tags.length(lease.cost(), lease.weightMilli());
  }

  /** What a call costs in the fair queue by what is told before it ends; null: as before. */
  static Long costSoFar(QuotaState quota, Lease lease, Told told) {
    QuotaPolicy policy = quota.policy();
    if (!policy.rules().has(Rule.STRICT_REPORTS) || told.equals(lease.told())) {
      return null;
    }
    long output = outputSoFar(lease, told);
    long input = told.input() != null ? told.input() : 0;
    long cost = Charges.cost(quota, Charges.of(policy, input, output), input, output);
    return told.input() != null ? cost : Math.max(lease.cost(), cost);
  }

  /** Output as far as it is known: what was reserved, or more. */
  static long outputSoFar(Lease lease) {
    return outputSoFar(lease, lease.told());
  }

  private static long outputSoFar(Lease lease, Told told) {
    return Math.max(lease.forecast().outputTokens(), orZero(told.output()));
  }

  /** What a call really cost in the fair queue; nothing where it was not made. */
  static long cost(QuotaState quota, Lease lease, Settlement settlement, Amounts actual) {
    QuotaPolicy policy = quota.policy();
    Tokens used = tokens(policy, lease, settlement, lease.charged());
    if (used == null) {
      return 0;
    }
    Usage usage = settlement.usage();
    boolean told = usage != null && usage.inputTokens() != null;
    boolean known = told || toldOnTheWay(policy, lease).input() != null;
    boolean strict = policy.rules().has(Rule.STRICT_REPORTS);
    if (!strict || refused(settlement)) {
      boolean reserved = known && !strict && usage.outputTokens() == null;
      long output = reserved ? lease.forecast().outputTokens() : used.output;
      return known ? Charges.cost(quota, actual, used.input, output) : lease.cost();
    }
    long output = atLeastUsual(quota, lease, usage, used.output);
    if (!known) {
      return UntoldUse.cost(quota, lease, output);
    }
    Amounts charge = output == used.output ? actual : Charges.of(policy, used.input, output);
    return Charges.cost(quota, charge, used.input, output);
  }
}
