package dev.fairway.cli.demo;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.fairway.cli.demo.emulator.LedgerEntry;
import dev.fairway.cli.demo.fleet.AgentLog;
import dev.fairway.cli.demo.fleet.AgentLog.Counts;
import dev.fairway.cli.demo.fleet.FleetRun;
import dev.fairway.cli.demo.fleet.Stage;
import java.util.Arrays;
import java.util.List;

/**
 * One run in numbers. Calls, 429s and tokens are the provider's own, from its ledger; waits and
 * tasks are the fleet's.
 *
 * @param calls calls that reached the provider
 * @param provider429 those it refused
 * @param tokens input and output that it charged
 * @param wastedTokens those of them that went into re-plans
 * @param turnsFinished turns whose model call succeeded
 * @param tasksFinished tasks whose last turn was finished
 * @param prsMerged tasks of reviewers among them: each merges a pull request of its group
 * @param limitUsed input tokens charged within the run, over what the limit could give in it: its
 *     opening level and its refill
 * @param waitMs how long turns waited until the call that succeeded was sent, or until the run
 *     ended
 */
@JsonPropertyOrder({
  "calls",
  "provider_429",
  "tokens",
  "wasted_tokens",
  "turns_finished",
  "tasks_finished",
  "prs_merged",
  "limit_used",
  "wait_ms"
})
record RunSummary(
    long calls,
    @JsonProperty("provider_429") long provider429,
    long tokens,
    @JsonProperty("wasted_tokens") long wastedTokens,
    @JsonProperty("turns_finished") long turnsFinished,
    @JsonProperty("tasks_finished") long tasksFinished,
    @JsonProperty("prs_merged") long prsMerged,
    @JsonProperty("limit_used") double limitUsed,
    @JsonProperty("wait_ms") Wait waitMs) {

  /**
   * Waits in milliseconds: quantiles over turns, the longest, and the sum of all. Where few agents
   * are stuck in backoff, and run few turns for that, only the last two tell it.
   */
  record Wait(long p50, long p95, long max, long total) {}

  /**
   * Sums up a run.
   *
   * @param capacityTokens what the binding limit could give in it
   */
  static RunSummary of(
      FleetRun run, List<LedgerEntry> ledger, double capacityTokens, double seconds) {
    Counts counts = run.counts();
    long endNs = (run.startedEpochMs() + Math.round(seconds * 1000)) * 1_000_000;
    long refused = 0;
    long tokens = 0;
    long inputInTime = 0;
    for (LedgerEntry entry : ledger) {
      if (entry.status() == 429) {
        refused++;
        continue;
      }
      tokens += entry.inputTokens() + (entry.outputTokens() == null ? 0 : entry.outputTokens());
      if (entry.arrivedNs() <= endNs) {
        inputInTime += entry.inputTokens();
      }
    }
    double[] waits =
        run.logs().stream()
            .map(AgentLog::waitsMs)
            .flatMap(List::stream)
            .mapToDouble(Double::doubleValue)
            .sorted()
            .toArray();
    return new RunSummary(
        ledger.size(),
        refused,
        tokens,
        counts.wastedTokens(),
        counts.turns(),
        counts.tasks(),
        run.logs().stream()
            .filter(log -> log.plan().stage() == Stage.REVIEW)
            .mapToLong(log -> log.counts().tasks())
            .sum(),
        Math.round(inputInTime / capacityTokens * 10_000) / 10_000.0,
        new Wait(
            quantile(waits, 0.5),
            quantile(waits, 0.95),
            quantile(waits, 1),
            Math.round(Arrays.stream(waits).sum())));
  }

  /** 429s in 1000 calls. */
  double refusalsPerThousand() {
    return calls == 0 ? 0 : 1000.0 * provider429 / calls;
  }

  private static long quantile(double[] sorted, double q) {
    return sorted.length == 0
        ? 0
        : Math.round(sorted[(int) Math.min(sorted.length - 1, Math.floor(q * sorted.length))]);
  }
}
