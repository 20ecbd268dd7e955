package dev.fairway.agent.gateway;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Knows calls that come again. A client's own retry says so in a header; a harness's loop sends the
 * same bytes once more after a failure. A call that went well and comes again is a new call.
 *
 * <p>The newest {@value #CALLS_MAX} calls are known, for {@value #FOR_MS} ms. Thread-safe.
 */
final class RetryBook {
  static final int CALLS_MAX = 20_000;
  static final long FOR_MS = 15 * 60 * 1_000;

  private record Key(String member, String bodyHash) {}

  private record Past(String requestId, boolean failed, long atMs) {}

  private final Map<Key, Past> calls =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Past> eldest) {
          return size() > CALLS_MAX;
        }
      };

  /**
   * The request that a call repeats, or null if it is a first attempt as far as anybody knows.
   *
   * @param saidRetry whether the client says that it is a retry
   */
  synchronized String retryOf(String member, String bodyHash, boolean saidRetry, long nowMs) {
    Past past = calls.get(new Key(member, bodyHash));
    return past != null && nowMs - past.atMs() <= FOR_MS && (past.failed() || saidRetry)
        ? past.requestId()
        : null;
  }

  /** A call ended, one way or the other. */
  synchronized void ended(
      String member, String bodyHash, String requestId, boolean failed, long nowMs) {
    Key key = new Key(member, bodyHash);
    calls.remove(key);
    calls.put(key, new Past(requestId, failed, nowMs));
  }
}
