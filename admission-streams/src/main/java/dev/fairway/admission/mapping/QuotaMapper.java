package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.Rule;
import dev.fairway.schemas.Budgets;
import dev.fairway.schemas.CostRule;
import dev.fairway.schemas.LeaseClass;
import dev.fairway.schemas.Margin;
import dev.fairway.schemas.MarginMode;
import dev.fairway.schemas.OutputReservation;
import dev.fairway.schemas.PolicyPreset;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaState;
import dev.fairway.schemas.Rules;
import dev.fairway.schemas.Tenant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Quota definitions, both ways. Thread-safe. */
public final class QuotaMapper {
  private QuotaMapper() {}

  /** The definition that an operator's record stands for. */
  public static QuotaDefinition toEngine(Quota from) {
    return new QuotaDefinition(
        from.getId(),
        from.getProvider(),
        Values.symbol(from.getPolicy(), QuotaDefinition.Preset.class),
        List.copyOf(from.getModels()),
        List.copyOf(from.getAlso()),
        Values.symbol(from.getWindow(), QuotaDefinition.Window.class),
        Values.limits(from.getLimits()),
        Values.amounts(from.getDepth()),
        Values.amounts(from.getLevel()),
        margin(from.getMargin()),
        from.getLeaseTtlMs(),
        from.getMaxQueueWaitMs(),
        Values.symbol(from.getOutputReservation(), QuotaDefinition.OutputReservation.class),
        from.getDefaultEstimate(),
        from.getOutputBurndown(),
        from.getCacheReadsCount(),
        from.getLateSettlementWindowMs(),
        from.getQueueMax(),
        from.getQueueMaxPerAgent(),
        budgets(from.getBudgets()),
        Values.map(from.getClasses(), LeaseClass::getReserve),
        Values.map(from.getTenants(), QuotaMapper::tenant),
        Values.map(from.getRoles(), weight -> weight),
        rules(from.getRules()),
        Values.symbol(from.getState(), QuotaDefinition.State.class),
        from.getClearCount());
  }

  /** The record of a definition. */
  public static Quota toAvro(QuotaDefinition from) {
    return new Quota(
        from.id(),
        from.provider(),
        Values.symbol(from.preset(), PolicyPreset.class),
        from.models(),
        from.also(),
        Values.symbol(from.window(), ProviderWindow.class),
        Values.limits(from.limits()),
        Values.amounts(from.depth()),
        Values.amounts(from.level()),
        margin(from.margin()),
        from.leaseTtlMs(),
        from.maxQueueWaitMs(),
        Values.symbol(from.outputReservation(), OutputReservation.class),
        from.defaultEstimate(),
        from.outputBurndown(),
        from.cacheReadsCount(),
        from.lateSettlementWindowMs(),
        from.queueMax(),
        from.queueMaxPerAgent(),
        budgets(from.budgets()),
        Values.map(from.classes(), LeaseClass::new),
        Values.map(from.tenants(), QuotaMapper::tenant),
        Values.map(from.roles(), weight -> weight),
        rules(from.rules()),
        Values.symbol(from.state(), QuotaState.class),
        from.clearCount());
  }

  private static QuotaDefinition.Margin margin(Margin from) {
    return from == null
        ? null
        : new QuotaDefinition.Margin(
            Values.symbol(from.getMode(), QuotaDefinition.MarginModeName.class),
            from.getStart(),
            from.getFloor(),
            from.getCut(),
            from.getCreep(),
            from.getCleanIntervalMs());
  }

  private static Margin margin(QuotaDefinition.Margin from) {
    return from == null
        ? null
        : new Margin(
            Values.symbol(from.mode(), MarginMode.class),
            from.start(),
            from.floor(),
            from.cut(),
            from.creep(),
            from.cleanIntervalMs());
  }

  private static QuotaDefinition.Budgets budgets(Budgets from) {
    return from == null
        ? null
        : new QuotaDefinition.Budgets(
            from.getRetriesPerTask(), from.getCallsPerTask(), from.getRetryShare());
  }

  private static Budgets budgets(QuotaDefinition.Budgets from) {
    return from == null
        ? null
        : new Budgets(from.retriesPerTask(), from.callsPerTask(), from.retryShare());
  }

  private static QuotaDefinition.Rules rules(Rules from) {
    if (from == null) {
      return null;
    }
    Map<Rule, Boolean> switched = new EnumMap<>(Rule.class);
    for (Rule rule : Rule.values()) {
      Boolean on = (Boolean) from.get(rule.wireName());
      if (on != null) {
        switched.put(rule, on);
      }
    }
    return new QuotaDefinition.Rules(
        Values.symbol(from.getCost(), QuotaDefinition.Cost.class),
        Collections.unmodifiableMap(switched));
  }

  private static Rules rules(QuotaDefinition.Rules from) {
    if (from == null) {
      return null;
    }
    Rules rules = Rules.newBuilder().setCost(Values.symbol(from.cost(), CostRule.class)).build();
    from.switched().forEach((rule, on) -> rules.put(rule.wireName(), on));
    return rules;
  }

  private static QuotaDefinition.Tenant tenant(Tenant from) {
    return new QuotaDefinition.Tenant(
        from.getWeight(),
        from.getCeiling(),
        List.copyOf(from.getAgents()),
        List.copyOf(from.getRoles()),
        List.copyOf(from.getClasses()),
        from.getMaxUnblocks(),
        from.getSigningKeyRef());
  }

  private static Tenant tenant(QuotaDefinition.Tenant from) {
    return new Tenant(
        from.weight(),
        from.ceiling(),
        from.agents(),
        from.roles(),
        from.classes(),
        from.maxUnblocks(),
        from.signingKeyRef());
  }
}
