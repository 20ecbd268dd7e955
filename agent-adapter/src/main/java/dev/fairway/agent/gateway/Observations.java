package dev.fairway.agent.gateway;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What became of calls that were observed only, by quota, since the gateway started. Thread-safe.
 */
final class Observations {

  /**
   * Sums of one quota.
   *
   * @param calls that ended
   * @param rateLimited of these, refused by the provider with a 429 that a wait helps against
   * @param rateLimitedAdmitted of these, not known to have been kept back: granted without a wait
   *     or by the time they ended, not decided in time, or rejected with a reason that no wait
   *     helps against; all others would have waited
   * @param rateLimitedTokens input of the refused calls, estimated: it has to be sent again
   */
  record Sums(long calls, long rateLimited, long rateLimitedAdmitted, long rateLimitedTokens) {
    static final Sums NONE = new Sums(0, 0, 0, 0);

    Sums plus(boolean refused, boolean admitted, long tokens) {
      return new Sums(
          calls + 1,
          rateLimited + (refused ? 1 : 0),
          rateLimitedAdmitted + (refused && admitted ? 1 : 0),
          rateLimitedTokens + (refused ? tokens : 0));
    }
  }

  private final Map<String, Sums> byQuota = new ConcurrentHashMap<>();

  /**
   * Counts a call that ended.
   *
   * @param rateLimited whether the provider refused it for a limit that refills
   * @param admitted whether admission would have let it pass, or nobody knows
   * @param inputTokens estimate, or null
   */
  void ended(String quota, boolean rateLimited, boolean admitted, Long inputTokens) {
    // Quotas come from the routes of the configuration, so there are no more of them than routes.
    byQuota.merge(
        quota,
        Sums.NONE.plus(rateLimited, admitted, inputTokens == null ? 0 : inputTokens),
        (a, b) ->
            new Sums(
                a.calls() + b.calls(),
                a.rateLimited() + b.rateLimited(),
                a.rateLimitedAdmitted() + b.rateLimitedAdmitted(),
                a.rateLimitedTokens() + b.rateLimitedTokens()));
  }

  /** Sums of every quota that was observed. */
  Map<String, Sums> all() {
    return new TreeMap<>(byQuota);
  }
}
