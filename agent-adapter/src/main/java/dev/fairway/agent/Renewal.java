package dev.fairway.agent;

import dev.fairway.agent.Timers.Timer;
import dev.fairway.schemas.Settlement;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one open lease alive by an IN_PROGRESS at half its time to live, up to a bound: a lease
 * object that its holder lost would otherwise hold capacity as long as the process lives. Without a
 * bound in time the remedy would be a cleaner that waits for the garbage collector, which may never
 * run.
 *
 * <p>Guarded by its lease's monitor: either stops the other.
 */
final class Renewal {
  private static final Logger log = LoggerFactory.getLogger(Renewal.class);

  /** Shorter times to live are not worth renewing. */
  static final long INTERVAL_MIN_MS = 50;

  private final ClientContext context;
  private final Lease lease;
  private final Settlement inProgress;
  private final long ttlMs;
  private final long untilMs;

  private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
  private Timer timer;
  private boolean stopped;

  Renewal(ClientContext context, Lease lease, Settlement inProgress, long ttlMs, long untilMs) {
    this.context = context;
    this.lease = lease;
    this.inProgress = inProgress;
    this.ttlMs = ttlMs;
    this.untilMs = untilMs;
  }

  void start() {
    synchronized (lease) {
      scheduleAfter(lease.remaining().toMillis() / 2);
    }
  }

  void stop() {
    synchronized (lease) {
      stopped = true;
      if (timer != null) {
        timer.cancel();
      }
    }
  }

  /** Sends a record that renews the lease once the broker has it. */
  CompletableFuture<Void> send(Settlement renewing) {
    long sentAtMs = context.timers().nowMs();
    CompletableFuture<Void> sent = context.outbox().send(renewing);
    return sent.thenRun(() -> lease.extend(sentAtMs + ttlMs));
  }

  private void scheduleAfter(long delayMs) {
    if (!stopped) {
      timer = context.timers().schedule(Math.max(INTERVAL_MIN_MS, delayMs), this::onDue);
    }
  }

  private void onDue() {
    synchronized (lease) {
      if (stopped) {
        return;
      }
      if (!lease.usable()) {
        log.warn(
            "Expected to renew lease {} of request {} in time, but the broker did not take a"
                + " renewal before it expired. Its call may still be settled; no other may be sent"
                + " on it.",
            lease.leaseId(),
            lease.requestId());
        return;
      }
      if (context.timers().nowMs() >= untilMs) {
        log.warn(
            "Expected lease {} of request {} to be settled or closed within {}, but it is still"
                + " open; it is renewed no more. Look for a lease that is never closed, or raise"
                + " renewFor.",
            lease.leaseId(),
            lease.requestId(),
            context.config().renewFor());
        return;
      }
      if (last.isDone()) {
        context.counters().renewals.increment();
        last = send(inProgress);
      }
      scheduleAfter(ttlMs / 2);
    }
  }
}
