package dev.fairway.cli.ops;

import dev.fairway.admission.mapping.QuotaMapper;
import dev.fairway.cli.CliException;
import dev.fairway.schemas.Quota;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Waits until the coordinators decide by definitions that were written. Definitions and requests
 * come to a coordinator by different topics: a request that follows a definition closely may
 * overtake it, and be told that there is no such quota.
 */
public final class InForce {

  /** How long a coordinator has to read what was written. */
  public static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final long PAUSE_MS = 50;

  private InForce() {}

  /**
   * Waits until all of them are decided by, at most for {@link #PATIENCE}; a coordinator that is
   * there and cannot answer yet is asked again as long.
   *
   * @return whether they are
   * @throws CliException if a coordinator does not answer, at the end of that time or for good
   */
  public static boolean await(StatusClient coordinators, Collection<Quota> written) {
    return await(coordinators, written, PATIENCE.toMillis());
  }

  static boolean await(StatusClient coordinators, Collection<Quota> written, long patienceMs) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMs);
    String only = written.size() == 1 ? written.iterator().next().getId() : null;
    while (true) {
      boolean isOver = System.nanoTime() - deadline >= 0;
      try {
        if (areDecidedBy(coordinators.definitions(only), written)) {
          return true;
        }
        if (isOver) {
          return false;
        }
      } catch (StatusClient.NotNowException e) {
        if (isOver) {
          throw e;
        }
      }
      pause();
    }
  }

  /** Whether a definition is the one that is decided by. */
  static boolean isDecidedBy(Map<String, Quota> decidedBy, Quota quota) {
    Quota decided = decidedBy.get(quota.getId());
    return decided != null && QuotaMapper.toEngine(decided).equals(QuotaMapper.toEngine(quota));
  }

  private static boolean areDecidedBy(Map<String, Quota> decidedBy, Collection<Quota> written) {
    return written.stream().allMatch(quota -> isDecidedBy(decidedBy, quota));
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliException("Interrupted.", e);
    }
  }
}
