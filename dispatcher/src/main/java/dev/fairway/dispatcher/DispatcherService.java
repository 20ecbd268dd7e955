package dev.fairway.dispatcher;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running dispatcher: reads the journal and delivers each decision to its agent's reply topic.
 * Any number may run against one cluster; they share the journal's partitions among them.
 *
 * <p>It heals itself: whatever goes wrong, a cluster that is not there yet included, it says so in
 * {@link #trouble()} and in the log, and begins anew after a pause. Thread-safe.
 */
public final class DispatcherService implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(DispatcherService.class);
  private static final long PAUSE_MIN_MS = 250;
  private static final long PAUSE_MAX_MS = 10_000;
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(15);
  private static final long RUNS_WELL_AFTER_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final DispatcherConfig config;
  private final Serdes serdes;
  private final DispatcherMetrics metrics;
  private final DispatcherHealth health = new DispatcherHealth();
  private final CountDownLatch stopping = new CountDownLatch(1);
  private final Thread thread;

  private DispatcherService(DispatcherConfig config, MeterRegistry registry) {
    this.config = config;
    this.serdes = config.newSerdes();
    this.metrics = new DispatcherMetrics(registry);
    this.thread = new Thread(this::run, "fairway-dispatcher");
    this.thread.setDaemon(true);
  }

  /**
   * Starts a dispatcher whose metrics nobody reads. Returns at once; see {@link #awaitHealthy}.
   *
   * @param config not null
   * @throws org.apache.kafka.common.config.ConfigException if the serializers don't take their
   *     settings
   */
  public static DispatcherService start(DispatcherConfig config) {
    return start(config, new SimpleMeterRegistry());
  }

  /**
   * Starts a dispatcher. Returns at once; see {@link #awaitHealthy}.
   *
   * @param config not null
   * @param registry where its metrics go, named {@code fairway.dispatcher.*}; one dispatcher a
   *     registry
   */
  public static DispatcherService start(DispatcherConfig config, MeterRegistry registry) {
    DispatcherService service = new DispatcherService(config, registry);
    service.thread.start();
    return service;
  }

  /** Whether decisions are being delivered, or would be if there were any. */
  public boolean isHealthy() {
    return trouble() == null;
  }

  /** What is wrong and what to do, for people; null if it is healthy. */
  public String trouble() {
    return thread.isAlive()
        ? health.trouble()
        : "Expected a running dispatcher, but it has ended. Start it again.";
  }

  /**
   * Waits until it is healthy.
   *
   * @param timeout longest wait
   * @return whether it is
   * @throws InterruptedException if the thread is interrupted meanwhile
   */
  public boolean awaitHealthy(Duration timeout) throws InterruptedException {
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    while (!isHealthy()) {
      if (System.nanoTime() - deadlineNanos >= 0 || stopping.await(10, TimeUnit.MILLISECONDS)) {
        return isHealthy();
      }
    }
    return true;
  }

  /**
   * Stops reading, waits up to 5 s for replies under way, commits what is finished, and leaves the
   * group. What is parked is delivered by the next run. May be called more than once.
   */
  @Override
  public void close() {
    stopping.countDown();
    boolean interrupted = !join(CLOSE_PATIENCE);
    if (thread.isAlive()) {
      // It waits for brokers that don't answer; what it has not committed is delivered again.
      thread.interrupt();
      interrupted |= !join(CLOSE_PATIENCE);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the thread to end; whether this thread was left in peace meanwhile. */
  private boolean join(Duration patience) {
    try {
      thread.join(patience.toMillis());
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }

  private void run() {
    MonotonicClock clock = new MonotonicClock();
    long pauseMs = PAUSE_MIN_MS;
    try (serdes) {
      while (!isStopping()) {
        long startedNanos = System.nanoTime();
        runOnce(clock);
        if (System.nanoTime() - startedNanos > RUNS_WELL_AFTER_NANOS) {
          pauseMs = PAUSE_MIN_MS;
        }
        pause(pauseMs);
        pauseMs = Math.min(PAUSE_MAX_MS, 2 * pauseMs);
      }
    } catch (Error e) {
      log.error("The dispatcher has ended", e);
      throw e;
    }
  }

  private void runOnce(MonotonicClock clock) {
    try (DispatchLoop loop = DispatchLoop.open(config, serdes, metrics, clock)) {
      loop.run(this::isStopping, health::turned);
    } catch (NotReadyException e) {
      health.troubled(e.getMessage());
      log.warn("{}", e.getMessage());
    } catch (RuntimeException e) {
      if (isStopping()) {
        log.info("Stopped in the middle of something: {}", e.toString());
        return;
      }
      health.troubled("The dispatcher stumbled and begins anew: " + e);
      metrics.restarted();
      log.error("The dispatcher stumbled and begins anew", e);
    }
  }

  private boolean isStopping() {
    return stopping.getCount() == 0;
  }

  private void pause(long ms) {
    try {
      if (stopping.await(ms, TimeUnit.MILLISECONDS)) {
        log.debug("Stopped");
      }
    } catch (InterruptedException e) {
      // Only close() interrupts this thread, and then the loop ends by itself.
      log.debug("Interrupted while pausing");
    }
  }
}
