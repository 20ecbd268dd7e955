package dev.fairway.admission.engine;

import dev.fairway.admission.engine.QuotaDefinition.Cost;
import dev.fairway.admission.engine.QuotaDefinition.Margin;
import dev.fairway.admission.engine.QuotaDefinition.OutputReservation;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Rules;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.bucket.Amounts;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** A definition like another one but for a few fields. */
final class Redefined {
  private final QuotaDefinition d;
  private String id;
  private String provider;
  private Preset preset;
  private List<String> also;
  private Amounts depth;
  private Margin margin;
  private Long maxQueueWaitMs;
  private OutputReservation outputReservation;
  private Integer outputBurndown;
  private Boolean cacheReadsCount;
  private Long lateWindowMs;
  private Map<String, Double> roles;
  private Rules rules;
  private Map<String, Tenant> tenants;
  private State state;
  private int clearCount;

  private Redefined(QuotaDefinition d) {
    this.d = d;
    id = d.id();
    provider = d.provider();
    preset = d.preset();
    also = d.also();
    depth = d.depth();
    margin = d.margin();
    maxQueueWaitMs = d.maxQueueWaitMs();
    outputReservation = d.outputReservation();
    outputBurndown = d.outputBurndown();
    cacheReadsCount = d.cacheReadsCount();
    lateWindowMs = d.lateSettlementWindowMs();
    roles = d.roles();
    rules = d.rules();
    tenants = d.tenants();
    state = d.state();
    clearCount = d.clearCount();
  }

  static Redefined like(QuotaDefinition definition) {
    return new Redefined(definition);
  }

  Redefined id(String other) {
    id = other;
    return this;
  }

  Redefined provider(String other) {
    provider = other;
    return this;
  }

  Redefined preset(Preset other) {
    preset = other;
    return this;
  }

  Redefined takingFrom(String... others) {
    also = List.of(others);
    return this;
  }

  Redefined depth(Amounts other) {
    depth = other;
    return this;
  }

  /** With its preset's margin. */
  Redefined withoutMargin() {
    margin = null;
    return this;
  }

  Redefined margin(Margin other) {
    margin = other;
    return this;
  }

  Redefined maxQueueWaitMs(Long ms) {
    maxQueueWaitMs = ms;
    return this;
  }

  Redefined outputReservation(OutputReservation other) {
    outputReservation = other;
    return this;
  }

  Redefined outputBurndown(Integer other) {
    outputBurndown = other;
    return this;
  }

  Redefined cacheReadsCount(Boolean other) {
    cacheReadsCount = other;
    return this;
  }

  Redefined lateWindowMs(Long ms) {
    lateWindowMs = ms;
    return this;
  }

  Redefined roles(Map<String, Double> other) {
    roles = other;
    return this;
  }

  Redefined rules(Rules other) {
    rules = other;
    return this;
  }

  /** With that rule on or off, and the others as they are. */
  Redefined rule(Rule rule, boolean on) {
    Map<Rule, Boolean> switched = new EnumMap<>(Rule.class);
    if (rules != null) {
      switched.putAll(rules.switched());
    }
    switched.put(rule, on);
    rules = new Rules(rules == null ? null : rules.cost(), switched);
    return this;
  }

  Redefined cost(Cost cost) {
    rules = new Rules(cost, rules == null ? Map.of() : rules.switched());
    return this;
  }

  Redefined tenants(Map<String, Tenant> other) {
    tenants = other;
    return this;
  }

  Redefined state(State other) {
    state = other;
    return this;
  }

  /** As {@code quota clear} defines it. */
  Redefined cleared() {
    clearCount++;
    return this;
  }

  QuotaDefinition definition() {
    return new QuotaDefinition(
        id,
        provider,
        preset,
        d.models(),
        also,
        d.window(),
        d.limits(),
        depth,
        d.level(),
        margin,
        d.leaseTtlMs(),
        maxQueueWaitMs,
        outputReservation,
        d.defaultEstimate(),
        outputBurndown,
        cacheReadsCount,
        lateWindowMs,
        d.queueMax(),
        d.queueMaxPerAgent(),
        d.budgets(),
        d.classes(),
        tenants,
        roles,
        rules,
        state,
        clearCount);
  }
}
