package dev.fairway.admission.engine;

import dev.fairway.admission.engine.QuotaDefinition.Cost;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.OutputReservation;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * The rules that are in force for a quota: its preset's, but for those that its operator switched.
 *
 * @param cost what a call costs in the fair queue
 * @param inForce the others
 */
public record RulePolicy(Cost cost, Set<Rule> inForce) {

  /** The published rules. */
  public static final RulePolicy SEED = new RulePolicy(Cost.ESTIMATED_TOKENS, published());

  /** All of them. */
  public static final RulePolicy FAIRWAY =
      new RulePolicy(Cost.DOMINANT, Collections.unmodifiableSet(EnumSet.allOf(Rule.class)));

  /** Those of a definition. */
  static RulePolicy of(QuotaDefinition d) {
    RulePolicy preset = d.preset() == Preset.SEED ? SEED : FAIRWAY;
    EnumSet<Rule> inForce = EnumSet.copyOf(preset.inForce);
    if (followsLevels(d)) {
      inForce.add(Rule.OWN_LIMIT);
    }
    if (d.rules() == null) {
      return new RulePolicy(preset.cost, Collections.unmodifiableSet(inForce));
    }
    d.rules()
        .switched()
        .forEach(
            (rule, on) -> {
              if (on) {
                inForce.add(rule);
              } else {
                inForce.remove(rule);
              }
            });
    Cost cost = d.rules().cost() != null ? d.rules().cost() : preset.cost;
    return new RulePolicy(cost, Collections.unmodifiableSet(inForce));
  }

  private static Set<Rule> published() {
    EnumSet<Rule> published = EnumSet.allOf(Rule.class);
    published.removeIf(rule -> !rule.isPublished());
    return Collections.unmodifiableSet(published);
  }

  /** Who follows the provider's level, or learns, must not follow that of a larger limit. */
  private static boolean followsLevels(QuotaDefinition d) {
    MarginModeName mode = d.margin() == null ? null : d.margin().mode();
    return mode == MarginModeName.ADAPTIVE
        || mode == MarginModeName.AUTO
        || d.outputReservation() == OutputReservation.LEARNED;
  }

  /** Whether a rule is in force. */
  public boolean has(Rule rule) {
    return inForce.contains(rule);
  }

  /** Whether a call's weight may be another one when it comes back into the line. */
  public boolean changesWeights() {
    return has(Rule.TASK_GRAPH)
        || has(Rule.SIBLING_BALANCE)
        || has(Rule.RETRY_CLASS)
        || has(Rule.CACHE_BUMP);
  }

  /** Whether any of them asks what settled calls were. */
  boolean learns() {
    return has(Rule.LEARNED_ESTIMATE)
        || has(Rule.ESTIMATE_CORRECTION)
        || has(Rule.SIBLING_BALANCE)
        || has(Rule.BACKFILL)
        || has(Rule.STRICT_REPORTS)
        || has(Rule.EXACT_ETA);
  }
}
