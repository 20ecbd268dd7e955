package dev.fairway.dispatcher;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the dispatcher counts, and the log lines that go with it. Labels are reasons out of fixed
 * lists; no agent is ever one.
 *
 * <p>Every loss is counted. It is logged too, with the agent it concerned, but at most once in a
 * while for each reason.
 */
final class DispatcherMetrics implements DeliveryListener {

  private static final Logger log = LoggerFactory.getLogger(DispatcherMetrics.class);
  private static final String PREFIX = "fairway.dispatcher.";
  private static final long LOG_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Counter delivered;
  private final Timer latency;
  private final Map<DropReason, Quiet> dropped = new EnumMap<>(DropReason.class);
  private final Map<TopicError, Quiet> topicErrors = new EnumMap<>(TopicError.class);
  private final Counter topicsCreated;
  private final Counter topicsDeleted;
  private final Counter undecodable;
  private final Counter deadLetters;
  private final Counter commitFailures;
  private final Counter restarts;
  private final Map<Level, AtomicLong> levels = new EnumMap<>(Level.class);

  DispatcherMetrics(MeterRegistry registry) {
    delivered = counter(registry, "delivered", "Replies acknowledged by their topic.");
    latency =
        Timer.builder(PREFIX + "delivery")
            .description("From the append to the journal to the acknowledged reply.")
            .publishPercentileHistogram()
            .minimumExpectedValue(Duration.ofMillis(1))
            .maximumExpectedValue(Duration.ofMinutes(1))
            .register(registry);
    for (DropReason reason : DropReason.values()) {
      dropped.put(
          reason,
          new Quiet(
              Counter.builder(PREFIX + "dropped")
                  .description("Decisions that will not be delivered.")
                  .tag("reason", reason.label())
                  .register(registry)));
    }
    for (TopicError error : TopicError.values()) {
      topicErrors.put(
          error,
          new Quiet(
              Counter.builder(PREFIX + "topic.errors")
                  .description("Answers of reply topics that took no reply.")
                  .tag("error", error.label())
                  .register(registry)));
    }
    // Prometheus takes "_created" for an ending of its own and cuts it off.
    topicsCreated = counter(registry, "topics.added", "Reply topics created.");
    topicsDeleted = counter(registry, "topics.deleted", "Reply topics of retired agents deleted.");
    undecodable = counter(registry, "undecodable", "Records that cannot be read; skipped.");
    deadLetters = counter(registry, "dead.letters", "Bad registrations put aside as dead letters.");
    commitFailures = counter(registry, "commit.failures", "Offset commits that failed.");
    restarts = counter(registry, "restarts", "Times that the loop began anew after an error.");
    for (Level level : Level.values()) {
      AtomicLong value = new AtomicLong();
      levels.put(level, value);
      Gauge.builder(PREFIX + level.metric, value, AtomicLong::doubleValue)
          .description(level.description)
          .register(registry);
    }
  }

  @Override
  public void delivered(Reply reply, long nowMs) {
    delivered.increment();
    latency.record(Math.max(0, nowMs - reply.appendedMs()), TimeUnit.MILLISECONDS);
  }

  @Override
  public void dropped(String agentId, DropReason reason) {
    Quiet quiet = dropped.get(reason);
    quiet.counter.increment();
    if (quiet.mayLog()) {
      log.warn(
          "Decision for agent {} dropped: {} ({} so far for this reason)",
          printable(agentId),
          reason.label(),
          (long) quiet.counter.count());
    }
  }

  @Override
  public void topicError(String agentId, TopicError error) {
    Quiet quiet = topicErrors.get(error);
    quiet.counter.increment();
    if (quiet.mayLog()) {
      log.warn(
          "Reply topic of agent {} took no reply: {} ({} so far of this kind)",
          printable(agentId),
          error.label(),
          (long) quiet.counter.count());
    }
  }

  void topicCreated() {
    topicsCreated.increment();
  }

  void topicDeleted() {
    topicsDeleted.increment();
  }

  void undecodable() {
    undecodable.increment();
  }

  void deadLettered() {
    deadLetters.increment();
  }

  void commitFailed() {
    commitFailures.increment();
  }

  void restarted() {
    restarts.increment();
  }

  void set(Level level, long value) {
    levels.get(level).set(value);
  }

  /** Agent ids come from outside; one out of its grammar must not forge a line of the log. */
  private static String printable(String agentId) {
    String shown = agentId.length() <= 100 ? agentId : agentId.substring(0, 100);
    return shown.replaceAll("[^\\x21-\\x7e]", "?");
  }

  private static Counter counter(MeterRegistry registry, String name, String description) {
    return Counter.builder(PREFIX + name).description(description).register(registry);
  }

  /** What is measured as a level. */
  enum Level {
    IN_FLIGHT("in.flight", "Replies sent and not acknowledged."),
    PARKED("parked", "Replies that wait for their topic."),
    PARKED_BYTES("parked.bytes", "Bytes of the replies that wait for their topic."),
    AGENTS_FAILING("agents.failing", "Agents whose reply topic takes nothing just now."),
    AGENTS("agents", "Registered agents."),
    PARTITIONS("partitions", "Journal partitions read here."),
    LAG(
        "journal.lag",
        "Offsets between the position and the end of the journal. An upper bound of the records:"
            + " transaction markers count."),
    HELD_BACK_MS("commit.held.back.ms", "Age of the oldest record that is not finished.");

    private final String metric;
    private final String description;

    Level(String metric, String description) {
      this.metric = metric;
      this.description = description;
    }
  }

  /** A counter that is logged once in a while. Used by the loop's thread. */
  private static final class Quiet {

    private final Counter counter;
    private long nextLogNanos = System.nanoTime();

    Quiet(Counter counter) {
      this.counter = counter;
    }

    boolean mayLog() {
      long now = System.nanoTime();
      if (now - nextLogNanos < 0) {
        return false;
      }
      nextLogNanos = now + LOG_INTERVAL_NANOS;
      return true;
    }
  }
}
