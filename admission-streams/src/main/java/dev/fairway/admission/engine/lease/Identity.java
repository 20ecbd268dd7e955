package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.LeaseRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Ids that are derived, never drawn: the same inputs give the same id in every replay. All are the
 * first 16 bytes of a SHA-256, in hex.
 */
public final class Identity {
  private static final int BYTES = 16;
  private static final char SEPARATOR = '\n';

  private Identity() {}

  /** Identity of a request: its agent and its id. */
  public static String ofRequest(String agentId, String requestId) {
    return hash(agentId + SEPARATOR + requestId);
  }

  /** Identity of a call without a lease, apart from all requests: no agent id has a line break. */
  public static String ofUnleased(String agentId, String requestId) {
    return hash("unleased" + SEPARATOR + agentId + SEPARATOR + requestId);
  }

  /**
   * Lease id; the salt keeps an agent from guessing another's. When the request was appended tells
   * it from an earlier one of the same id that is forgotten, whose settlement may come again.
   *
   * @param appendedAtMs when the request was appended, or null where the published rules know a
   *     lease by its request alone
   */
  public static String leaseId(
      String salt, String agentId, String requestId, int attempt, Long appendedAtMs) {
    return hash(
        salt
            + SEPARATOR
            + agentId
            + SEPARATOR
            + requestId
            + SEPARATOR
            + attempt
            + (appendedAtMs == null ? "" : SEPARATOR + "" + appendedAtMs));
  }

  /**
   * Content of a request: all that a decision depends on. Correlation and signature are left out, a
   * client may renew them when it sends the same request again.
   */
  public static String contentOf(LeaseRequest r) {
    LeaseRequest.Estimate e = r.estimate();
    StringBuilder text = new StringBuilder(160);
    for (Object field :
        new Object[] {
          r.quotaId(),
          r.taskId(),
          r.role(),
          r.leaseClass(),
          r.retryOf(),
          r.repeatFailures(),
          r.unblocks(),
          e.inputTokens(),
          e.cachedTokens(),
          e.cacheExpiresAtMs(),
          e.maxOutputTokens(),
          r.tenant(),
          r.deadlineMs()
        }) {
      text.append(field).append(SEPARATOR);
    }
    return hash(text.toString());
  }

  private static String hash(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256", e);
    }
  }
}
