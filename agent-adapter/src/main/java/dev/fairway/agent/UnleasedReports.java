package dev.fairway.agent;

import dev.fairway.schemas.Settlement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports of calls that were made without a lease. Where the brokers are gone, too, for longer than
 * a record is tried, a report is kept and sent again when the coordinator answers: else its quota
 * would never hear of the use. {@value #KEPT_MAX} are kept; beyond, the oldest is lost, and counted
 * as such. Does not block. Thread-safe.
 */
final class UnleasedReports {
  private static final Logger log = LoggerFactory.getLogger(UnleasedReports.class);
  static final int KEPT_MAX = 10_000;

  private final Outbox outbox;
  private final Counters counters;
  private final Map<String, Settlement> kept = new LinkedHashMap<>();

  UnleasedReports(Outbox outbox, Counters counters) {
    this.outbox = outbox;
    this.counters = counters;
  }

  /** Sends a report; the same request id again is charged once. */
  CompletableFuture<Void> send(Settlement report) {
    return outbox
        .send(report)
        .whenComplete(
            (sent, error) -> {
              if (error != null) {
                keep(report, error);
              }
            });
  }

  /** Sends again what is kept. */
  void sendKept() {
    List<Settlement> again;
    synchronized (this) {
      again = new ArrayList<>(kept.values());
      kept.clear();
    }
    again.forEach(this::send);
  }

  /** How many are kept. */
  synchronized int kept() {
    return kept.size();
  }

  private void keep(Settlement report, Throwable error) {
    boolean first;
    synchronized (this) {
      first = kept.isEmpty();
      kept.put(report.getRequestId(), report);
      if (kept.size() > KEPT_MAX) {
        kept.remove(kept.keySet().iterator().next());
        counters.unreported.increment();
      }
    }
    if (first) {
      log.warn(
          "Expected the brokers to take reports of calls made without a lease, but they do not;"
              + " the newest {} are kept until the coordinator answers. ({})",
          KEPT_MAX,
          error.toString());
    }
  }
}
