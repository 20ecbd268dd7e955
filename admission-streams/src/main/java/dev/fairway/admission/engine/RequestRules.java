package dev.fairway.admission.engine;

import dev.fairway.admission.engine.lease.CallTokens;

/** What a lease request must be like before it is decided on. */
final class RequestRules {
  /** A deadline or cache end further away is absurd. */
  static final long FARTHEST_MS = 24L * 3_600_000;

  private static final int MAX_CORRELATION_BYTES = 1024;
  private static final int MAX_REPEAT_FAILURES = 1000;

  private RequestRules() {}

  /** What is wrong with a request whose agent can be told, or null. */
  static String violation(LeaseRequest r, long appendedAtMs) {
    String wrong = wrongId(r);
    return wrong != null ? wrong : wrongNumber(r, appendedAtMs);
  }

  private static String wrongId(LeaseRequest r) {
    if (!Grammar.isRequestId(r.requestId())) {
      return Grammar.expectedId("a request_id", 64, r.requestId());
    }
    if (!Grammar.isQuotaId(r.quotaId())) {
      return "Expected a quota id 'key' or 'key/name' from A-Z a-z 0-9 . _ -, but found "
          + Grammar.quoted(r.quotaId());
    }
    if (r.taskId() != null && !Grammar.isId(r.taskId())) {
      return Grammar.expectedId("a task_id", 100, r.taskId());
    }
    if (!Grammar.isId(r.role())) {
      return Grammar.expectedId("a role", 100, r.role());
    }
    if (!Grammar.isId(r.leaseClass())) {
      return Grammar.expectedId("a class", 100, r.leaseClass());
    }
    if (r.retryOf() != null && !Grammar.isRequestId(r.retryOf())) {
      return Grammar.expectedId("a retry_of", 64, r.retryOf());
    }
    if (r.tenant() != null && !Grammar.isId(r.tenant())) {
      return Grammar.expectedId("a tenant", 100, r.tenant());
    }
    return null;
  }

  private static String wrongNumber(LeaseRequest r, long appendedAtMs) {
    LeaseRequest.Estimate e = r.estimate();
    String wrong = CallTokens.violation("input_tokens", e.inputTokens());
    wrong = wrong != null ? wrong : CallTokens.violation("cached_tokens", e.cachedTokens());
    wrong = wrong != null ? wrong : CallTokens.violation("max_output_tokens", e.maxOutputTokens());
    wrong =
        wrong != null
            ? wrong
            : wrongTime("cache_expires_at_ms", e.cacheExpiresAtMs(), appendedAtMs);
    wrong = wrong != null ? wrong : wrongTime("deadline_ms", r.deadlineMs(), appendedAtMs);
    if (wrong != null) {
      return wrong;
    }
    if (r.repeatFailures() < 0 || r.repeatFailures() > MAX_REPEAT_FAILURES) {
      return "Expected repeat_failures from 0 to "
          + MAX_REPEAT_FAILURES
          + ", but found "
          + r.repeatFailures();
    }
    if (r.unblocks() != null && r.unblocks() < 0) {
      return "Expected unblocks of 0 or more, or null if unknown, but found " + r.unblocks();
    }
    if (r.correlation() != null && r.correlation().length() > MAX_CORRELATION_BYTES) {
      return "Expected at most "
          + MAX_CORRELATION_BYTES
          + " correlation bytes, but found "
          + r.correlation().length();
    }
    return null;
  }

  private static String wrongTime(String field, Long timeMs, long appendedAtMs) {
    if (timeMs != null && (timeMs < 0 || timeMs - FARTHEST_MS > appendedAtMs)) {
      return "Expected "
          + field
          + " in epoch milliseconds, at most 24 h after the request was appended ("
          + appendedAtMs
          + "), but found "
          + timeMs;
    }
    return null;
  }
}
