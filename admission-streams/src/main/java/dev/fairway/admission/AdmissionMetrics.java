package dev.fairway.admission;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.admission.topology.AdmissionObserver;
import dev.fairway.schemas.DeadLetterReason;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Counts what the topology does. Work whose transaction aborts is counted too: what is exact is the
 * journal. Thread-safe.
 */
final class AdmissionMetrics implements AdmissionObserver {
  private static final Duration[] WAIT_BOUNDS = {
    Duration.ofMillis(10),
    Duration.ofMillis(100),
    Duration.ofSeconds(1),
    Duration.ofSeconds(5),
    Duration.ofSeconds(15),
    Duration.ofSeconds(60),
    Duration.ofSeconds(300)
  };
  private static final double[] ERROR_BOUNDS = {0.05, 0.1, 0.2, 0.5, 1, 2};

  private final MeterRegistry registry;
  private final QuotaLabels labels;

  /** Meters of a quota label, found without building their tags again. */
  private final Map<String, Counter> counters = new ConcurrentHashMap<>();

  private final Map<String, Timer> waits = new ConcurrentHashMap<>();
  private final Map<String, DistributionSummary> errors = new ConcurrentHashMap<>();
  private final Map<Class<?>, Timer> handleTimes = new ConcurrentHashMap<>();

  AdmissionMetrics(MeterRegistry registry, QuotaLabels labels) {
    this.registry = registry;
    this.labels = labels;
    // There from the start: an alert on growth would not see the first of a series that begins at
    // 1.
    engineFailures();
    for (DeadLetterReason reason : DeadLetterReason.values()) {
      deadLetters(reason);
    }
  }

  @Override
  public void handled(Command command, Handled handled, long nanos) {
    handleTimes
        .computeIfAbsent(command.getClass(), this::handleTime)
        .record(nanos, TimeUnit.NANOSECONDS);
    for (Event event : handled.events()) {
      count(event, handled);
    }
  }

  @Override
  public void deadLettered(DeadLetterReason reason) {
    deadLetters(reason).increment();
  }

  private Counter deadLetters(DeadLetterReason reason) {
    return counter("fairway.dead.letters", "reason", reason.name(), null, null);
  }

  @Override
  public void forwarded(String topic) {
    counter("fairway.forwarded", "topic", topic, null, null).increment();
  }

  @Override
  public void engineFailed() {
    engineFailures().increment();
  }

  private Counter engineFailures() {
    return counter("fairway.engine.failures", "kind", "handle", null, null);
  }

  @Override
  public void restored(int partition, int keys, long rows, long nanos) {
    registry.timer("fairway.restore").record(nanos, TimeUnit.NANOSECONDS);
    registry.counter("fairway.restore.rows").increment((double) rows);
  }

  private void count(Event event, Handled handled) {
    String quota = labels.of(event.quotaId());
    if (event instanceof Event.LeaseGranted e) {
      decision(quota, "granted");
      countWait(quota, e, handled);
    } else if (event instanceof Event.LeaseQueued) {
      decision(quota, "queued");
    } else if (event instanceof Event.EtaRevised) {
      decision(quota, "revised");
    } else if (event instanceof Event.LeaseRejected e) {
      decision(quota, "rejected");
      counter("fairway.rejections", "quota", quota, "reason", e.reason().name()).increment();
    } else if (event instanceof Event.DecisionRepeated) {
      decision(quota, "repeated");
    } else if (event instanceof Event.LeaseSettled e) {
      settlement(quota, e.outcome().name());
      if (e.outcome() == Settlement.Outcome.RATE_LIMITED) {
        refusal(quota);
      } else if (e.outcome() == Settlement.Outcome.SUCCEEDED) {
        countError(quota, e);
      }
    } else if (event instanceof Event.LeaseRenewed) {
      settlement(quota, Settlement.Outcome.IN_PROGRESS.name());
    } else if (event instanceof Event.LeaseCancelled) {
      settlement(quota, Settlement.Outcome.CANCELLED.name());
    } else if (event instanceof Event.UnleasedCharged e) {
      settlement(quota, Settlement.Outcome.UNLEASED.name());
      if (e.refused()) {
        refusal(quota);
      }
    } else if (event instanceof Event.DuplicateIgnored
        || event instanceof Event.SettlementIgnored) {
      counter("fairway.settlements.ignored", "quota", quota, null, null).increment();
    } else if (event instanceof Event.LeaseExpired) {
      counter("fairway.leases.expired", "quota", quota, null, null).increment();
    } else if (event instanceof Event.BreakerOpened e) {
      counter("fairway.breaker.opened", "quota", quota, "cause", e.cause().name()).increment();
    } else if (event instanceof Event.MarginCut) {
      counter("fairway.margin.cuts", "quota", quota, null, null).increment();
    }
  }

  private void decision(String quota, String type) {
    counter("fairway.decisions", "quota", quota, "type", type).increment();
  }

  private void refusal(String quota) {
    counter("fairway.provider.429", "quota", quota, null, null).increment();
  }

  private void settlement(String quota, String outcome) {
    counter("fairway.settlements", "quota", quota, "outcome", outcome).increment();
  }

  /** From the broker's append to the grant, where the lease's row tells it. */
  private void countWait(String quota, Event.LeaseGranted grant, Handled handled) {
    Row row =
        handled.changedRows().get(new RowId(Row.Kind.LEASE, grant.quotaId(), grant.leaseId()));
    if (row instanceof Row.LeaseRow lease) {
      long waitMs = Math.max(0, grant.grantedAtMs() - lease.lease().appendedAtMs());
      waits
          .computeIfAbsent(
              quota,
              label ->
                  Timer.builder("fairway.wait")
                      .description("From the broker's append of a request to its grant")
                      .tag("quota", label)
                      .serviceLevelObjectives(WAIT_BOUNDS)
                      .register(registry))
          .record(waitMs, TimeUnit.MILLISECONDS);
    }
  }

  /** How far what was charged lay from what was used, as a share of what was charged. */
  private void countError(String quota, Event.LeaseSettled settled) {
    for (Dimension dimension :
        new Dimension[] {Dimension.INPUT_TOKENS, Dimension.OUTPUT_TOKENS, Dimension.TOKENS}) {
      double adjusted = settled.adjusted().get(dimension);
      double charged = settled.actual().get(dimension) + adjusted;
      if (settled.actual().has(dimension) && charged > 0) {
        errors
            .computeIfAbsent(
                quota + " " + dimension.wireName(),
                both ->
                    DistributionSummary.builder("fairway.estimate.error")
                        .description("|charged - used| / charged")
                        .tag("quota", quota)
                        .tag("dimension", dimension.wireName())
                        .serviceLevelObjectives(ERROR_BOUNDS)
                        .register(registry))
            .record(Math.abs(adjusted) / charged);
      }
    }
  }

  private Timer handleTime(Class<?> command) {
    return Timer.builder("fairway.handle")
        .description("Time the engine took for one command")
        .tag("command", command.getSimpleName())
        .register(registry);
  }

  private Counter counter(String name, String tag, String value, String tag2, String value2) {
    String key = tag2 == null ? name + "\n" + value : name + "\n" + value + "\n" + value2;
    Counter known = counters.get(key);
    if (known != null) {
      return known;
    }
    Counter.Builder builder = Counter.builder(name).tag(tag, value);
    if (tag2 != null) {
      builder.tag(tag2, value2);
    }
    Counter counter = builder.register(registry);
    counters.put(key, counter);
    return counter;
  }
}
