package dev.fairway.replay.simulate;

import java.util.function.ToDoubleBiFunction;

/** What a policy is judged by: its run, beside the clairvoyant's on the same seed. */
public enum Metric {
  REJECTIONS_PER_1000_CALLS(
      "429s/1000",
      "429s per 1000 calls that reached the provider, refused ones too.",
      (own, best) -> 1000.0 * own.refusals() / own.calls()),
  USEFUL_VS_CLAIRVOYANT(
      "useful/c",
      "Input tokens of completed turns, over the clairvoyant's.",
      (own, best) -> (double) own.usefulInput() / best.usefulInput()),
  USEFUL(
      "useful",
      "Input tokens of completed turns, over what the limit left to the fleet.",
      (own, best) -> own.usefulInput() / own.capacityInput()),
  TOKENS_VS_USEFUL(
      "tokens/useful",
      "All tokens charged over those of completed turns; the difference is re-plans, lost caches and"
          + " crashes.",
      (own, best) -> (double) own.tokens() / own.usefulTokens()),
  TOKENS_PER_FINISHED_PR(
      "tokens/PR",
      "All tokens charged, for each merged pull request.",
      (own, best) -> (double) own.tokens() / own.finishedPrs()),
  FINISHED_PRS("PRs", "Merged pull requests.", (own, best) -> own.finishedPrs()),
  FINISHED_VS_CLAIRVOYANT(
      "PRs/c",
      "Merged pull requests, over the clairvoyant's.",
      (own, best) -> (double) own.finishedPrs() / best.finishedPrs()),
  CRITICAL_WAIT_VS_CLAIRVOYANT(
      "wait/c",
      "Admission waits along a merged pull request's chain of tasks, over the clairvoyant's.",
      (own, best) -> own.criticalWaitMs() / best.criticalWaitMs()),
  CRITICAL_WAIT_S(
      "wait s/PR",
      "Admission waits along a merged pull request's chain of tasks, in seconds.",
      (own, best) -> own.criticalWaitMs() / 1000),
  CRITICAL_WAIT_ABOVE_CLAIRVOYANT_S(
      "wait s above c",
      "What these waits are above the clairvoyant's, in seconds.",
      (own, best) -> (own.criticalWaitMs() - best.criticalWaitMs()) / 1000),
  LEAF_P50_VS_CLAIRVOYANT(
      "leaf/c",
      "Median time of a turn of the agents that lint and wait for nobody, their own wait and"
          + " tools included, over the clairvoyant's.",
      (own, best) -> own.leafP50Ms() / best.leafP50Ms()),
  TASK_P50_S(
      "task p50 s", "Median time of a task, in seconds.", (own, best) -> own.taskP50Ms() / 1000),
  TASK_P95_S(
      "task p95 s",
      "Time that one task in twenty exceeds, in seconds.",
      (own, best) -> own.taskP95Ms() / 1000),
  REPLANS(
      "replans",
      "Turns given up, whose agents read everything again.",
      (own, best) -> own.replans()),
  REPLANS_FROM_WAITS(
      "from waits",
      "Turns given up that no refusal of the provider had part in.",
      (own, best) -> own.replansFromWaits());

  private final String title;
  private final String meaning;
  private final ToDoubleBiFunction<RunResult, RunResult> value;

  Metric(String title, String meaning, ToDoubleBiFunction<RunResult, RunResult> value) {
    this.title = title;
    this.meaning = meaning;
    this.value = value;
  }

  /** Short name in tables, of a terminal, a page and a picture alike; c is the clairvoyant. */
  public String title() {
    return title;
  }

  /** What it is, in words for a report. */
  public String meaning() {
    return meaning;
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
