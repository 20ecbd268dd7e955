package dev.fairway.cli.config;

import dev.fairway.schemas.Ids;
import dev.fairway.schemas.LeaseClass;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.Margin;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.Tenant;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Ranges of a quota's fields, as the {@code Quota} record documents them; names and types are
 * checked before.
 */
final class QuotaRules {

  private static final long LIMIT_MAX = 1_000_000_000_000L;
  private static final long DURATION_MS_MAX = 86_400_000L;

  private final BiConsumer<String, String> errors;

  private QuotaRules(BiConsumer<String, String> errors) {
    this.errors = errors;
  }

  /** Checks a quota and gives every error as field and message. */
  static void check(Quota quota, BiConsumer<String, String> errors) {
    new QuotaRules(errors).quota(quota);
  }

  private void quota(Quota quota) {
    if (!Ids.isQuotaId(quota.getId())) {
      expected(
          "id",
          "'key' or 'key/name' of letters, digits, '.', '_' and '-', at most 100 each",
          "'" + quota.getId() + "'");
    }
    limits(quota.getLimits());
    margin(quota.getMargin());
    range("lease_ttl", quota.getLeaseTtlMs(), 1, DURATION_MS_MAX, " ms");
    range("max_queue_wait", quota.getMaxQueueWaitMs(), 0, DURATION_MS_MAX, " ms");
    range("late_settlement_window", quota.getLateSettlementWindowMs(), 0, DURATION_MS_MAX, " ms");
    range("default_estimate", quota.getDefaultEstimate(), 0, LIMIT_MAX, "");
    range("queue_max", asLong(quota.getQueueMax()), 0, Integer.MAX_VALUE, "");
    range("queue_max_per_agent", asLong(quota.getQueueMaxPerAgent()), 0, Integer.MAX_VALUE, "");
    also(quota);
    quota.getRoles().forEach((role, weight) -> positive("roles." + role, weight));
    for (Map.Entry<String, LeaseClass> entry : quota.getClasses().entrySet()) {
      share("classes." + entry.getKey() + ".reserve", entry.getValue().getReserve(), 0, 0.95);
    }
    for (Map.Entry<String, Tenant> entry : quota.getTenants().entrySet()) {
      positive("tenants." + entry.getKey() + ".weight", entry.getValue().getWeight());
      share("tenants." + entry.getKey() + ".ceiling", entry.getValue().getCeiling(), 0.0001, 1);
    }
  }

  private void limits(Limits limits) {
    if (limits.getRequestsPerMinute() == null
        && limits.getInputTokensPerMinute() == null
        && limits.getOutputTokensPerMinute() == null
        && limits.getTokensPerMinute() == null
        && limits.getConcurrentRequests() == null) {
      errors.accept(
          "limits", "expected at least one limit such as input_tokens_per_minute, but found none");
    }
    range("limits.requests_per_minute", limits.getRequestsPerMinute(), 1, LIMIT_MAX, "");
    range("limits.input_tokens_per_minute", limits.getInputTokensPerMinute(), 1, LIMIT_MAX, "");
    range("limits.output_tokens_per_minute", limits.getOutputTokensPerMinute(), 1, LIMIT_MAX, "");
    range("limits.tokens_per_minute", limits.getTokensPerMinute(), 1, LIMIT_MAX, "");
    range("limits.concurrent_requests", limits.getConcurrentRequests(), 1, LIMIT_MAX, "");
  }

  private void margin(Margin margin) {
    if (margin == null) {
      return;
    }
    share("margin.start", margin.getStart(), 0.01, 1);
    share(
        "margin.floor", margin.getFloor(), 0.01, margin.getStart() == null ? 1 : margin.getStart());
    share("margin.cut", margin.getCut(), 0, 1);
    share("margin.creep", margin.getCreep(), 0, 1);
    range("margin.clean_interval", margin.getCleanIntervalMs(), 1, DURATION_MS_MAX, " ms");
  }

  private void also(Quota quota) {
    String key = Ids.keyOf(quota.getId());
    for (String other : quota.getAlso()) {
      if (other.equals(quota.getId()) || !Ids.keyOf(other).equals(key)) {
        expected(
            "also",
            "other quotas of the key '" + key + "', such as " + key + "/organisation",
            other);
      }
    }
  }

  private void positive(String field, double value) {
    if (!(value > 0 && value <= 1_000_000)) {
      expected(field, "a weight above 0, at most 1000000", value);
    }
  }

  private void share(String field, Double value, double low, double high) {
    if (value != null && !(value >= low && value <= high)) {
      expected(field, "a share from " + low + " to " + high, value);
    }
  }

  private void range(String field, Long value, long low, long high, String unit) {
    if (value != null && (value < low || value > high)) {
      expected(field, "a number from " + low + " to " + high + unit, value);
    }
  }

  private void expected(String field, String expected, Object found) {
    errors.accept(field, "expected " + expected + ", but found " + found);
  }

  private static Long asLong(Integer value) {
    return value == null ? null : value.longValue();
  }
}
