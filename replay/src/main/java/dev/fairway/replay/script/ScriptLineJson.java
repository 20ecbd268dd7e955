package dev.fairway.replay.script;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LimitReading;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.Signal;
import dev.fairway.schemas.SignalClass;
import dev.fairway.schemas.SignalLimits;
import dev.fairway.schemas.TaskState;
import dev.fairway.schemas.TaskUpdate;
import dev.fairway.schemas.Usage;
import java.util.List;

/** The JSON object of one script line. An omitted field takes the default of its record. */
final class ScriptLineJson {
  /** Who asks where a line names no agent. */
  static final String DEFAULT_AGENT = "agent";

  /** The end of year 9999: a time beyond it is a mistake of unit. */
  private static final long AT_MS_MAX = 253_402_300_799_999L;

  private static final List<String> ACTIONS = List.of("quota", "request", "settle", "task", "show");

  private ScriptLineJson() {}

  /**
   * Reads one line.
   *
   * @throws InvalidJsonException with every error of the line
   */
  static ScriptLine parse(long lineNumber, JsonNode tree) {
    JsonFields in = JsonFields.root(tree);
    in.throwErrors();
    long atMs = atMs(in);
    ScriptLine line = null;
    if (ACTIONS.stream().filter(in::has).count() != 1) {
      in.error("line", "expected at_ms and exactly one of " + ACTIONS);
    } else {
      line = action(lineNumber, atMs, in);
    }
    ACTIONS.forEach(in::know);
    in.end();
    in.throwErrors();
    if (line instanceof ScriptLine.DefineQuota define) {
      checkQuota(tree.path("quota"), define.quota(), in);
      in.throwErrors();
    }
    return line;
  }

  private static void checkQuota(JsonNode written, Quota quota, JsonFields in) {
    for (String violation : QuotaJson.violations(written, quota)) {
      int end = violation.indexOf(": ");
      boolean ofField = end >= 0 && violation.indexOf(' ') > end;
      in.error(
          ofField ? "quota." + violation.substring(0, end) : "quota",
          ofField ? violation.substring(end + 2) : violation);
    }
  }

  private static ScriptLine action(long lineNumber, long atMs, JsonFields in) {
    if (in.has("quota")) {
      Quota quota = in.object("quota", QuotaJson::read);
      return new ScriptLine.DefineQuota(lineNumber, atMs, quota);
    }
    if (in.has("request")) {
      LeaseRequest request = in.object("request", ScriptLineJson::request);
      return new ScriptLine.RequestLease(lineNumber, atMs, request);
    }
    if (in.has("settle")) {
      return in.object("settle", settle -> settle(lineNumber, atMs, settle));
    }
    if (in.has("task")) {
      TaskUpdate update = in.object("task", ScriptLineJson::task);
      return new ScriptLine.UpdateTask(lineNumber, atMs, update);
    }
    return new ScriptLine.Show(lineNumber, atMs, in.requiredString("show"));
  }

  private static long atMs(JsonFields in) {
    Long atMs = in.longOrNull("at_ms");
    if (atMs == null) {
      if (!in.has("at_ms")) {
        in.error("at_ms", "expected a time in whole milliseconds, but the field is missing");
      }
      return 0;
    }
    if (atMs < 0 || atMs > AT_MS_MAX) {
      in.error("at_ms", "expected milliseconds from 0 to " + AT_MS_MAX + ", but found " + atMs);
    }
    return atMs;
  }

  private static LeaseRequest request(JsonFields in) {
    Integer repeatFailures = in.integerOrNull("repeat_failures");
    Long cachedTokens = in.longOrNull("cached_tokens");
    return LeaseRequest.newBuilder()
        .setRequestId(in.requiredString("id"))
        .setAgentId(in.string("agent", DEFAULT_AGENT))
        .setQuota(in.requiredString("quota"))
        .setTaskId(in.string("task", null))
        .setRole(in.string("role", "worker"))
        .setClass$(in.string("class", "batch"))
        .setRetryOf(in.string("retry_of", null))
        .setRepeatFailures(repeatFailures == null ? 0 : repeatFailures)
        .setUnblocks(in.integerOrNull("unblocks"))
        .setEstimate(
            Estimate.newBuilder()
                .setInputTokens(in.longOrNull("input_tokens"))
                .setCachedTokens(cachedTokens == null ? 0 : cachedTokens)
                .setCacheExpiresAtMs(in.longOrNull("cache_expires_at_ms"))
                .setMaxOutputTokens(in.longOrNull("max_output_tokens"))
                .setMethod("script")
                .build())
        .setTenant(in.string("tenant", null))
        .setDeadlineMs(in.longOrNull("deadline_ms"))
        .build();
  }

  private static ScriptLine.Settle settle(long lineNumber, long atMs, JsonFields in) {
    String leaseId = in.string("lease", null);
    String requestId = in.string("request", null);
    if (leaseId == null && requestId == null) {
      in.error("request", "expected a request id or a lease id, but found neither");
    }
    Outcome outcome = in.enumeration("outcome", Outcome.class, null);
    if (outcome == null && !in.has("outcome")) {
      in.error("outcome", "expected how the call ended, but the field is missing");
    }
    return new ScriptLine.Settle(
        lineNumber,
        atMs,
        leaseId,
        requestId,
        in.string("agent", null),
        in.requiredString("quota"),
        outcome,
        in.bool("requeue", false),
        usage(in),
        in.object("signal", ScriptLineJson::signal));
  }

  /** The usage, which in a script lies flat beside the outcome; null if no number is known. */
  private static Usage usage(JsonFields in) {
    Usage usage =
        Usage.newBuilder()
            .setInputTokens(in.longOrNull("input_tokens"))
            .setCacheReadTokens(in.longOrNull("cache_read_tokens"))
            .setCacheWriteTokens(in.longOrNull("cache_write_tokens"))
            .setOutputTokens(in.longOrNull("output_tokens"))
            .setExact(in.bool("exact", true))
            .build();
    boolean known =
        usage.getInputTokens() != null
            || usage.getCacheReadTokens() != null
            || usage.getCacheWriteTokens() != null
            || usage.getOutputTokens() != null;
    return known ? usage : null;
  }

  private static Signal signal(JsonFields in) {
    return Signal.newBuilder()
        .setStatus(in.integerOrNull("status"))
        .setClass$(in.enumeration("class", SignalClass.class, null))
        .setBinding(in.string("binding", null))
        .setRetryAfterMs(in.longOrNull("retry_after_ms"))
        .setAgeMs(in.longOrNull("age_ms"))
        .setMsSinceSend(in.longOrNull("ms_since_send"))
        .setLimits(in.object("limits", ScriptLineJson::limits))
        .build();
  }

  private static SignalLimits limits(JsonFields in) {
    return SignalLimits.newBuilder()
        .setRequests(in.object("requests", ScriptLineJson::reading))
        .setInputTokens(in.object("input_tokens", ScriptLineJson::reading))
        .setOutputTokens(in.object("output_tokens", ScriptLineJson::reading))
        .setTokens(in.object("tokens", ScriptLineJson::reading))
        .build();
  }

  private static LimitReading reading(JsonFields in) {
    return LimitReading.newBuilder()
        .setLimit(in.longOrNull("limit"))
        .setRemaining(in.longOrNull("remaining"))
        .setResetMs(in.longOrNull("reset_ms"))
        .build();
  }

  private static TaskUpdate task(JsonFields in) {
    TaskState state = in.enumeration("state", TaskState.class, null);
    if (state == null && !in.has("state")) {
      in.error("state", "expected where the task stands, but the field is missing");
    }
    return TaskUpdate.newBuilder()
        .setTaskId(in.requiredString("id"))
        .setQuota(in.requiredString("quota"))
        .setRole(in.string("role", null))
        .setAgentId(in.string("agent", null))
        .setState(state == null ? TaskState.STARTED : state)
        .setBlockedOn(in.strings("blocked_on"))
        .build();
  }
}
