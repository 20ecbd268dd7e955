package dev.fairway.agent.gateway;

import dev.fairway.agent.fallback.RetryBudget;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Knows calls that come again. A client's own retry says so in a header; a harness's loop sends the
 * same bytes once more after a failure. A call that went well and comes again is a new call.
 *
 * <p>All tries of one call share one retry budget, whoever makes them: an SDK inside a loop inside
 * a queue that delivers again would else multiply theirs.
 *
 * <p>The newest {@value #CALLS_MAX} calls are known, for {@value #FOR_MS} ms. Thread-safe.
 */
final class RetryBook {
  static final int CALLS_MAX = 20_000;
  static final long FOR_MS = 15 * 60 * 1_000;

  private record Key(String triesOf, String bodyHash) {}

  private final Map<Key, Tries> calls =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Tries> eldest) {
          return size() > CALLS_MAX;
        }
      };

  private final int retriesMax;

  /** With the retries of a call whose client does not allow fewer. */
  RetryBook(int retriesMax) {
    this.retriesMax = retriesMax;
  }

  /**
   * The tries that a call belongs to.
   *
   * @param triesOf who the call is a try of
   * @param saidRetry whether the client says that it is a retry
   * @param allowed how often the client allows this call to be repeated after this try, or null if
   *     it does not say; of a call that is known that may take from its budget, and adds nothing
   */
  synchronized Tries of(
      String triesOf, String bodyHash, boolean saidRetry, Integer allowed, long nowMs) {
    Key key = new Key(triesOf, bodyHash);
    Tries known = calls.get(key);
    if (known != null && nowMs - known.atMs <= FOR_MS && (known.failed || saidRetry)) {
      if (allowed != null) {
        // A call that went upstream before spends one for this try itself.
        known.budget.lowerTo(known.sent == 0 ? allowed : allowed + 1);
      }
      return known;
    }
    int retries = allowed == null ? retriesMax : Math.min(retriesMax, allowed);
    return new Tries(key, RetryBudget.of(retries), nowMs);
  }

  private synchronized void remember(Tries tries) {
    calls.remove(tries.key);
    calls.put(tries.key, tries);
  }

  /** One logical call, and how often it was tried. Guarded by its book. */
  final class Tries {
    private final Key key;
    private final RetryBudget budget;
    private int sent;
    private boolean failed;
    private boolean told;
    private String requestId;
    private long atMs;

    private Tries(Key key, RetryBudget budget, long nowMs) {
      this.key = key;
      this.budget = budget;
      this.atMs = nowMs;
    }

    /**
     * The request that the next try repeats, or null if it is the first as far as anybody knows.
     */
    String retryOf() {
      synchronized (RetryBook.this) {
        return requestId;
      }
    }

    /** The call goes upstream; false if it must not, because the budget is spent. */
    boolean trySend(long nowMs) {
      synchronized (RetryBook.this) {
        if (sent > 0 && !budget.trySpend()) {
          return false;
        }
        sent++;
        atMs = nowMs;
        remember(this);
        return true;
      }
    }

    /** Whether the call must not go upstream any more. */
    boolean isSpent() {
      synchronized (RetryBook.this) {
        return sent > 0 && budget.remaining() == 0;
      }
    }

    /** A try ended, one way or the other. */
    void ended(String endedRequestId, boolean withFailure, long nowMs) {
      synchronized (RetryBook.this) {
        requestId = endedRequestId == null ? requestId : endedRequestId;
        failed = withFailure;
        atMs = nowMs;
        remember(this);
      }
    }

    /** Whether this is the first time that somebody hears of the spent budget. */
    boolean tellOnce() {
      synchronized (RetryBook.this) {
        boolean first = !told;
        told = true;
        return first;
      }
    }

    /** How often it went upstream. */
    int sent() {
      synchronized (RetryBook.this) {
        return sent;
      }
    }

    /** How long until the call counts as another one. */
    Duration forgottenIn(long nowMs) {
      synchronized (RetryBook.this) {
        return Duration.ofMillis(Math.max(1, atMs + FOR_MS - nowMs));
      }
    }

    /** What is left, for the header. */
    String retriesLeft() {
      return budget.toHeader();
    }
  }
}
