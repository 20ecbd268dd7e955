package dev.fairway.replay.simulate;

import java.util.function.ToDoubleBiFunction;

/** What a policy is judged by: its run, beside the clairvoyant's on the same seed. */
public enum Metric {
  /** 429s per 1000 calls that reached the provider, refused ones too. */
  REJECTIONS_PER_1000_CALLS((own, best) -> 1000.0 * own.refusals() / own.calls()),
  /** Input of completed turns, beside the clairvoyant's. */
  USEFUL_VS_CLAIRVOYANT((own, best) -> (double) own.usefulInput() / best.usefulInput()),
  /** Input of completed turns over what the limit left to the fleet. */
  USEFUL((own, best) -> own.usefulInput() / own.capacityInput()),
  /** All tokens charged over those of completed turns. */
  TOKENS_VS_USEFUL((own, best) -> (double) own.tokens() / own.usefulTokens()),
  /** All tokens charged, for each merged pull request. */
  TOKENS_PER_FINISHED_PR((own, best) -> (double) own.tokens() / own.finishedPrs()),
  /** Merged pull requests. */
  FINISHED_PRS((own, best) -> own.finishedPrs()),
  /** Merged pull requests, beside the clairvoyant's. */
  FINISHED_VS_CLAIRVOYANT((own, best) -> (double) own.finishedPrs() / best.finishedPrs()),
  /** Admission waits along a pull request's chain, beside the clairvoyant's. */
  CRITICAL_WAIT_VS_CLAIRVOYANT((own, best) -> own.criticalWaitMs() / best.criticalWaitMs()),
  /** The same, in seconds. */
  CRITICAL_WAIT_S((own, best) -> own.criticalWaitMs() / 1000),
  /** What it is above the clairvoyant's, in seconds. */
  CRITICAL_WAIT_ABOVE_CLAIRVOYANT_S(
      (own, best) -> (own.criticalWaitMs() - best.criticalWaitMs()) / 1000),
  /** Median time of a lint leaf's turn, wait and tools included, beside the clairvoyant's. */
  LEAF_P50_VS_CLAIRVOYANT((own, best) -> own.leafP50Ms() / best.leafP50Ms()),
  /** Median time of a task, in seconds. */
  TASK_P50_S((own, best) -> own.taskP50Ms() / 1000),
  /** Time that one task in twenty exceeds, in seconds. */
  TASK_P95_S((own, best) -> own.taskP95Ms() / 1000),
  /** Turns given up. */
  REPLANS((own, best) -> own.replans()),
  /** Turns given up that no refusal of the provider had part in. */
  REPLANS_FROM_WAITS((own, best) -> own.replansFromWaits());

  private final ToDoubleBiFunction<RunResult, RunResult> value;

  Metric(ToDoubleBiFunction<RunResult, RunResult> value) {
    this.value = value;
  }

  /** Name in results. */
  public String wireName() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }

  /** Its value of one seed; not finite where there is nothing to divide by. */
  double of(RunResult own, RunResult clairvoyant) {
    return value.applyAsDouble(own, clairvoyant);
  }
}
