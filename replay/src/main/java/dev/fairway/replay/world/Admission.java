package dev.fairway.replay.world;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskUpdate;
import java.util.function.Consumer;

/**
 * A policy of admission. All that it ever learns of the world are these records, when they reach
 * it, and what an operator knows; it answers by decisions. Times are virtual, in milliseconds.
 */
public interface Admission {

  /** The fleet's quota; the record key is the part before the slash. */
  String QUOTA = "fleet/model";

  /**
   * What an operator knows and a policy may be built on: plain numbers, through which no policy
   * comes to the world that they were taken from.
   *
   * @param requestsPerMinute limit of calls, at least 1
   * @param inputTokensPerMinute limit of input tokens, at least 1
   * @param outputTokensPerMinute limit of output tokens, at least 1
   * @param window how the provider counts
   * @param depthS depth of its buckets, in seconds of their rate
   * @param reservesMaxTokens whether it counts {@code max_tokens} of a call until that ends
   */
  record Terms(
      long requestsPerMinute,
      long inputTokensPerMinute,
      long outputTokensPerMinute,
      ProviderWindow window,
      int depthS,
      boolean reservesMaxTokens) {}

  /** Makes a policy for one run, with a fresh state. */
  interface Maker {
    /**
     * A policy.
     *
     * @param decisions takes each decision at the time it is made
     */
    Admission make(Terms terms, Consumer<Decision> decisions);
  }

  /** An agent asks for a lease. */
  void request(LeaseRequest request, long nowMs);

  /** An agent tells what became of a call. */
  void settle(Settlement settlement, long nowMs);

  /** An orchestrator tells where a task stands. */
  void task(TaskUpdate update, long nowMs);

  /** When {@link #tick} wants to be called next; {@link Long#MAX_VALUE} for never. */
  long nextDeadlineMs();

  /** Time passed. */
  void tick(long nowMs);

  /**
   * Whether a call that the provider refused is put back in line by the policy. If not, its agent
   * asks again after a backoff.
   */
  boolean requeues();
}
