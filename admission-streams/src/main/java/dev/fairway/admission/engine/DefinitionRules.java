package dev.fairway.admission.engine;

import dev.fairway.admission.engine.QuotaDefinition.Budgets;
import dev.fairway.admission.engine.QuotaDefinition.Margin;
import dev.fairway.admission.engine.QuotaDefinition.Rules;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedPoint;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

/** What a quota definition must be like; operators see the same messages before they apply one. */
public final class DefinitionRules {
  /** 24 hours, as the message says. */
  private static final long MAX_DURATION_MS = 24L * 3_600_000;

  private static final int MAX_QUEUE = 1_000_000;
  private static final int MAX_NAMES = 1000;
  private static final int MAX_BURNDOWN = 100;
  private static final double MAX_ROLE_WEIGHT = 1000;
  private static final int MAX_ALSO = 8;
  private static final double MAX_RESERVED = 0.95;
  private static final int MAX_RESERVES = 16;

  private final QuotaDefinition definition;
  private final List<String> violations = new ArrayList<>();

  private DefinitionRules(QuotaDefinition definition) {
    this.definition = definition;
  }

  /** All that is wrong with a definition, in plain words; empty if it can take effect. */
  public static List<String> violations(QuotaDefinition definition) {
    DefinitionRules rules = new DefinitionRules(definition);
    rules.checkIdentity();
    rules.checkAmounts();
    rules.checkMargin();
    rules.checkDurations();
    rules.checkQueue();
    rules.checkRules();
    rules.checkNames();
    rules.checkAlso();
    return List.copyOf(rules.violations);
  }

  private void checkIdentity() {
    if (!Grammar.isQuotaId(definition.id())) {
      violations.add(
          "id: expected 'key' or 'key/name', each 1 to 100 characters from A-Z a-z 0-9 . _ -, but"
              + " found "
              + Grammar.quoted(definition.id()));
    }
  }

  private void checkAmounts() {
    if (definition.limits().isEmpty()) {
      violations.add("limits: expected at least one limit, but found none");
    }
    for (Dimension d : Dimension.values()) {
      checkAmount("limits." + limitName(d), definition.limits().orNull(d), 1);
      if (definition.depth() != null) {
        checkAmount("depth." + d.wireName(), definition.depth().orNull(d), 1);
        checkLimited("depth." + d.wireName(), definition.depth(), d);
        if (!d.refills() && definition.depth().has(d)) {
          violations.add(
              "depth."
                  + d.wireName()
                  + ": expected none, for the limit itself is the most at once, but found "
                  + definition.depth().get(d)
                  + "; write the lower number as limits."
                  + limitName(d));
        }
      }
      if (definition.level() != null) {
        checkAmount("level." + d.wireName(), definition.level().orNull(d), -FixedPoint.MAX_AMOUNT);
        checkLimited("level." + d.wireName(), definition.level(), d);
      }
    }
    checkAmount("default_estimate", definition.defaultEstimate(), 0);
    Integer burndown = definition.outputBurndown();
    if (burndown != null && (burndown < 1 || burndown > MAX_BURNDOWN)) {
      violations.add("output_burndown: expected 1 to " + MAX_BURNDOWN + ", but found " + burndown);
    }
  }

  /** Name of a limit as operators write it. */
  private static String limitName(Dimension d) {
    return d.refills() ? d.wireName() + "_per_minute" : d.wireName();
  }

  private void checkAmount(String field, Long amount, long least) {
    if (amount != null && (amount < least || amount > FixedPoint.MAX_AMOUNT)) {
      violations.add(
          field + ": expected " + least + " to " + FixedPoint.MAX_AMOUNT + ", but found " + amount);
    }
  }

  private void checkLimited(String field, Amounts given, Dimension d) {
    if (given.has(d) && !definition.limits().has(d)) {
      violations.add(
          field + ": expected only dimensions that limits names, but it has no " + d.wireName());
    }
  }

  private void checkMargin() {
    Margin m = definition.margin();
    if (m == null) {
      return;
    }
    checkShare("margin.start", m.start(), 0.01, 1);
    checkShare("margin.floor", m.floor(), 0.01, 1);
    checkShare("margin.cut", m.cut(), 0, 1);
    checkShare("margin.creep", m.creep(), 0, 1);
    if (m.start() != null && m.floor() != null && m.floor() > m.start()) {
      violations.add(
          "margin.floor: expected at most margin.start ("
              + m.start()
              + "), but found "
              + m.floor());
    }
    checkDuration("margin.clean_interval_ms", m.cleanIntervalMs(), 1000);
  }

  private void checkShare(String field, Double share, double least, double most) {
    if (share != null && !(share >= least && share <= most)) {
      violations.add(field + ": expected " + least + " to " + most + ", but found " + share);
    }
  }

  private void checkDurations() {
    checkDuration("lease_ttl_ms", definition.leaseTtlMs(), 1);
    checkDuration("max_queue_wait_ms", definition.maxQueueWaitMs(), 0);
    checkDuration("late_settlement_window_ms", definition.lateSettlementWindowMs(), 0);
  }

  private void checkDuration(String field, Long ms, long least) {
    if (ms != null && (ms < least || ms > MAX_DURATION_MS)) {
      violations.add(field + ": expected " + least + "ms to 24h, but found " + ms + "ms");
    }
  }

  private void checkQueue() {
    checkCount("queue_max", definition.queueMax());
    checkCount("queue_max_per_agent", definition.queueMaxPerAgent());
    if (definition.budgets() != null) {
      checkCount("budgets.retries_per_task", definition.budgets().retriesPerTask());
      checkCount("budgets.calls_per_task", definition.budgets().callsPerTask());
      checkShare("budgets.retry_share", definition.budgets().retryShare(), 0, 1);
    }
  }

  /** What cannot mean anything. */
  private void checkRules() {
    Rules rules = definition.rules();
    Budgets budgets = definition.budgets();
    boolean off =
        rules != null && Boolean.FALSE.equals(rules.switched().get(Rule.COUNTED_ATTEMPTS));
    if (budgets == null || !off) {
      return;
    }
    checkUncounted("budgets.retries_per_task", budgets.retriesPerTask());
    checkUncounted("budgets.retry_share", budgets.retryShare());
  }

  private void checkUncounted(String field, Number given) {
    if (given != null) {
      violations.add(
          field
              + ": expected none where rules.counted_attempts is false, for no retries are counted"
              + " there, but found "
              + given
              + "; leave one of the two out");
    }
  }

  private void checkCount(String field, Integer count) {
    if (count != null && (count < 0 || count > MAX_QUEUE)) {
      violations.add(field + ": expected 0 to " + MAX_QUEUE + ", but found " + count);
    }
  }

  private void checkNames() {
    definition
        .roles()
        .forEach(
            (role, weight) -> {
              checkName("roles", role);
              checkShare("roles." + role, weight, 0.001, MAX_ROLE_WEIGHT);
            });
    definition
        .classes()
        .forEach(
            (name, reserve) -> {
              checkName("classes", name);
              checkShare("classes." + name + ".reserve", reserve, 0, MAX_RESERVED);
            });
    checkReserves();
    definition
        .tenants()
        .forEach(
            (name, tenant) -> {
              checkName("tenants", name);
              checkShare("tenants." + name + ".weight", tenant.weight(), 0.001, MAX_ROLE_WEIGHT);
              checkShare("tenants." + name + ".ceiling", tenant.ceiling(), 0.001, 1);
            });
    int names =
        definition.roles().size()
            + definition.classes().size()
            + definition.tenants().size()
            + definition.models().size();
    if (names > MAX_NAMES) {
      violations.add(
          "expected at most "
              + MAX_NAMES
              + " roles, classes, tenants and models, but found "
              + names);
    }
  }

  private void checkAlso() {
    List<String> also = definition.also();
    if (also.size() > MAX_ALSO) {
      violations.add("also: expected at most " + MAX_ALSO + " quotas, but found " + also.size());
    }
    if (new HashSet<>(also).size() < also.size()) {
      violations.add("also: expected each quota once, but found " + also);
    }
    for (String other : also) {
      boolean sameKey =
          Grammar.isQuotaId(other)
              && Grammar.isQuotaId(definition.id())
              && QuotaDefinition.keyOf(other).equals(QuotaDefinition.keyOf(definition.id()));
      if (!sameKey || other.equals(definition.id())) {
        violations.add(
            "also: expected other quotas of the same key, but found " + Grammar.quoted(other));
      }
    }
  }

  private void checkReserves() {
    double sum = 0;
    int reserves = 0;
    for (Double reserve : definition.classes().values()) {
      if (reserve != null && reserve > 0) {
        sum += reserve;
        reserves++;
      }
    }
    if (sum > MAX_RESERVED) {
      violations.add(
          "classes: expected reserves of at most " + MAX_RESERVED + " together, but found " + sum);
    }
    if (reserves > MAX_RESERVES) {
      violations.add(
          "classes: expected at most " + MAX_RESERVES + " with a reserve, but found " + reserves);
    }
  }

  private void checkName(String field, String name) {
    if (!Grammar.isId(name)) {
      violations.add(field + ": " + Grammar.expectedId("names", 100, name));
    }
  }
}
