package dev.fairway.replay.simulate;

import dev.fairway.schemas.RejectReason;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * One run in numbers. Tokens are input and output together where nothing else is said; times are
 * milliseconds, and {@link Double#NaN} where there was nothing to measure.
 *
 * @param calls calls that reached the provider, refused ones too
 * @param refusals those of them answered 429
 * @param capacityInput input tokens that the limit left to the fleet, over the whole run
 * @param usefulInput input of completed turns, each counted once and without its prefix
 * @param usefulTokens the same and its output
 * @param tokens all that the provider charged the fleet for calls that are over
 * @param turns completed turns
 * @param crashes agents that died in a call
 * @param finishedPrs merged pull requests
 * @param criticalWaitMs admission waits along the chain of a merged pull request, mean
 * @param leafP50Ms median time of a lint leaf's turn, from the wish to the end of its tools
 * @param taskP50Ms median time of a task
 * @param taskP95Ms time of a task that one in twenty exceeds
 * @param replans turns given up
 * @param replansFromWaits those of them that no refusal had part in
 * @param rejected what the coordinator rejected, an entry for each reason
 */
public record RunResult(
    long calls,
    long refusals,
    double capacityInput,
    long usefulInput,
    long usefulTokens,
    long tokens,
    long turns,
    long crashes,
    long finishedPrs,
    double criticalWaitMs,
    double leafP50Ms,
    double taskP50Ms,
    double taskP95Ms,
    long replans,
    long replansFromWaits,
    List<Rejected> rejected) {

  /** A reason why the coordinator rejected requests, how often, and what it said the last time. */
  public record Rejected(RejectReason reason, long times, String detail) {}

  /** The reason that it gave most often; empty if it rejected nothing. */
  public Optional<Rejected> mostRejected() {
    return rejected.stream().max(Comparator.comparingLong(Rejected::times));
  }
}
