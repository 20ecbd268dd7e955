package dev.fairway.replay.script;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.admission.engine.DefinitionRules;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.lease.ProviderAccounting;
import dev.fairway.admission.mapping.QuotaMapper;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Budgets;
import dev.fairway.schemas.CostRule;
import dev.fairway.schemas.LeaseClass;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.Margin;
import dev.fairway.schemas.MarginMode;
import dev.fairway.schemas.OutputReservation;
import dev.fairway.schemas.PolicyPreset;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaState;
import dev.fairway.schemas.Rules;
import dev.fairway.schemas.Tenant;
import java.util.List;

/**
 * A quota from its JSON or YAML tree; names and defaults are those of the {@link Quota} record. A
 * duration is either {@code lease_ttl_ms: 120000} or {@code lease_ttl: 120s}.
 *
 * <p>Checks names and types. Ranges are the engine's business, which checks every definition
 * wherever it comes from; {@link #violations} tells them by the names that were written.
 */
public final class QuotaJson {
  private static final String GENERIC = "generic";
  private static final String MILLISECONDS = "_ms";
  private static final String FOUND = ", but found ";

  private QuotaJson() {}

  /**
   * Reads one quota.
   *
   * @throws InvalidJsonException with every error of the tree: unknown fields, missing ones, wrong
   *     types, and beside those what {@link #violations} tells of the others
   */
  public static Quota parse(JsonNode node) {
    JsonFields fields = JsonFields.root(node);
    fields.throwErrors();
    Quota quota = read(fields);
    fields.end();
    if (fields.hasErrors()) {
      addViolations(fields, node, quota);
    }
    fields.throwErrors();
    return quota;
  }

  /** Of what could be read; what depends on something that could not is left out. */
  private static void addViolations(JsonFields fields, JsonNode node, Quota quota) {
    List<String> judged =
        violations(node, quota).stream().filter(violation -> isKnown(fields, violation)).toList();
    for (String violation : judged) {
      int end = violation.indexOf(": ");
      fields.error(violation.substring(0, end), violation.substring(end + 2));
    }
  }

  private static boolean isKnown(JsonFields fields, String violation) {
    int end = violation.indexOf(": ");
    if (end < 0 || fields.hasErrors(violation.substring(0, end))) {
      return false;
    }
    String section = violation.substring(0, end).split("\\.", 2)[0];
    return switch (section) {
      case "depth", "level" -> !fields.hasErrors("limits");
      case "also" -> !fields.hasErrors("id");
      default -> true;
    };
  }

  /**
   * What the engine would refuse of a quota, each as {@code field: message}, with the name and the
   * value as the tree has them: {@code lease_ttl: ... but found 48h} where that was written, rather
   * than {@code lease_ttl_ms} and a number.
   *
   * @param written tree that the quota was read from
   */
  public static List<String> violations(JsonNode written, Quota quota) {
    return DefinitionRules.violations(QuotaMapper.toEngine(quota)).stream()
        .map(violation -> asWritten(written, violation))
        .toList();
  }

  private static String asWritten(JsonNode written, String violation) {
    int end = violation.indexOf(": ");
    if (end < 0 || !violation.substring(0, end).endsWith(MILLISECONDS)) {
      return violation;
    }
    String field = violation.substring(0, end);
    JsonNode parent = written;
    int dot = field.lastIndexOf('.');
    for (String name : dot < 0 ? new String[0] : field.substring(0, dot).split("\\.", -1)) {
      parent = parent.path(name);
    }
    String without = field.substring(0, end - MILLISECONDS.length());
    JsonNode value = parent.get(without.substring(dot + 1));
    if (value == null) {
      return violation;
    }
    int found = violation.lastIndexOf(FOUND);
    return without
        + violation.substring(end, found < 0 ? violation.length() : found)
        + (found < 0 ? "" : FOUND + value.asText());
  }

  /** Reads one quota out of a larger tree; errors go where that tree's errors go. */
  static Quota read(JsonFields in) {
    Limits limits = in.object("limits", QuotaJson::limits);
    if (limits == null) {
      if (!in.has("limits")) {
        in.error("limits", "expected at least one limit such as input_tokens_per_minute");
      }
      limits = Limits.newBuilder().build();
    }
    Integer clearCount = in.integerOrNull("clear_count");
    return Quota.newBuilder()
        .setId(in.requiredString("id"))
        .setProvider(provider(in))
        .setPolicy(in.enumeration("policy", PolicyPreset.class, PolicyPreset.FAIRWAY))
        .setModels(in.strings("models"))
        .setAlso(in.strings("also"))
        .setWindow(in.enumeration("window", ProviderWindow.class, ProviderWindow.TOKEN_BUCKET))
        .setLimits(limits)
        .setDepth(in.object("depth", QuotaJson::amounts))
        .setLevel(in.object("level", QuotaJson::amounts))
        .setMargin(in.object("margin", QuotaJson::margin))
        .setLeaseTtlMs(in.durationMs("lease_ttl"))
        .setMaxQueueWaitMs(in.durationMs("max_queue_wait"))
        .setOutputReservation(in.enumeration("output_reservation", OutputReservation.class, null))
        .setDefaultEstimate(in.longOrNull("default_estimate"))
        .setOutputBurndown(in.integerOrNull("output_burndown"))
        .setCacheReadsCount(in.booleanOrNull("cache_reads_count"))
        .setLateSettlementWindowMs(in.durationMs("late_settlement_window"))
        .setQueueMax(in.integerOrNull("queue_max"))
        .setQueueMaxPerAgent(in.integerOrNull("queue_max_per_agent"))
        .setBudgets(in.object("budgets", QuotaJson::budgets))
        .setClasses(in.objects("classes", QuotaJson::leaseClass))
        .setTenants(in.objects("tenants", QuotaJson::tenant))
        .setRoles(in.doubles("roles"))
        .setRules(in.object("rules", QuotaJson::rules))
        .setState(in.enumeration("state", QuotaState.class, QuotaState.ACTIVE))
        .setClearCount(clearCount == null ? 0 : clearCount)
        .build();
  }

  private static String provider(JsonFields in) {
    String provider = in.string("provider", GENERIC);
    if (!provider.equals(GENERIC) && !ProviderAccounting.providers().contains(provider)) {
      in.error(
          "provider",
          "expected one of "
              + ProviderAccounting.providers()
              + ", or generic for any other, but found \""
              + provider
              + "\"");
    }
    return provider;
  }

  private static Limits limits(JsonFields in) {
    return Limits.newBuilder()
        .setRequestsPerMinute(in.longOrNull("requests_per_minute"))
        .setInputTokensPerMinute(in.longOrNull("input_tokens_per_minute"))
        .setOutputTokensPerMinute(in.longOrNull("output_tokens_per_minute"))
        .setTokensPerMinute(in.longOrNull("tokens_per_minute"))
        .setConcurrentRequests(in.longOrNull("concurrent_requests"))
        .build();
  }

  private static Amounts amounts(JsonFields in) {
    return Amounts.newBuilder()
        .setRequests(in.longOrNull("requests"))
        .setInputTokens(in.longOrNull("input_tokens"))
        .setOutputTokens(in.longOrNull("output_tokens"))
        .setTokens(in.longOrNull("tokens"))
        .setConcurrentRequests(in.longOrNull("concurrent_requests"))
        .build();
  }

  private static Margin margin(JsonFields in) {
    return Margin.newBuilder()
        .setMode(in.enumeration("mode", MarginMode.class, null))
        .setStart(in.doubleOrNull("start"))
        .setFloor(in.doubleOrNull("floor"))
        .setCut(in.doubleOrNull("cut"))
        .setCreep(in.doubleOrNull("creep"))
        .setCleanIntervalMs(in.durationMs("clean_interval"))
        .build();
  }

  private static Budgets budgets(JsonFields in) {
    return Budgets.newBuilder()
        .setRetriesPerTask(in.integerOrNull("retries_per_task"))
        .setCallsPerTask(in.integerOrNull("calls_per_task"))
        .setRetryShare(in.doubleOrNull("retry_share"))
        .build();
  }

  private static Rules rules(JsonFields in) {
    Rules rules = Rules.newBuilder().setCost(in.enumeration("cost", CostRule.class, null)).build();
    for (Rule rule : Rule.values()) {
      rules.put(rule.wireName(), in.booleanOrNull(rule.wireName()));
    }
    return rules;
  }

  private static LeaseClass leaseClass(JsonFields in) {
    Double reserve = in.doubleOrNull("reserve");
    return LeaseClass.newBuilder().setReserve(reserve == null ? 0 : reserve).build();
  }

  private static Tenant tenant(JsonFields in) {
    Double weight = in.doubleOrNull("weight");
    return Tenant.newBuilder()
        .setWeight(weight == null ? 1 : weight)
        .setCeiling(in.doubleOrNull("ceiling"))
        .setAgents(in.strings("agents"))
        .setRoles(in.strings("roles"))
        .setClasses(in.strings("classes"))
        .setMaxUnblocks(in.integerOrNull("max_unblocks"))
        .setSigningKeyRef(in.string("signing_key_ref", null))
        .build();
  }
}
