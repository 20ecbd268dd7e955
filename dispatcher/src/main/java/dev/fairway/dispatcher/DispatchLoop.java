package dev.fairway.dispatcher;

import dev.fairway.dispatcher.Decoder.NotYetException;
import dev.fairway.dispatcher.DispatcherMetrics.Level;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.DeadLetterReason;
import dev.fairway.schemas.Topics;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One run of the dispatcher: its clients, its state, and the turns of its one thread. After an
 * error the whole of it is thrown away and made anew; what was under way is then read from the
 * journal again.
 */
final class DispatchLoop implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(DispatchLoop.class);

  /** Answers of the producer and the admin client are picked up between two polls. */
  private static final long BUSY_POLL_MS = 2;

  private static final long IDLE_POLL_MS = 50;
  private static final Duration NO_WAIT = Duration.ZERO;
  private static final Duration LOAD_TIMEOUT = Duration.ofSeconds(10);
  private static final long DRAIN_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long LEVELS_INTERVAL_MS = 1_000;
  private static final long REFRESH_INTERVAL_MS = 60_000;
  private static final long DECODE_RETRY_PAUSE_MS = 1_000;

  /** So an agent that keeps asking is far from being taken for idle. */
  private static final int RENEWALS_PER_IDLE_TIME = 4;

  private final DispatcherConfig config;
  private final DispatcherMetrics metrics;
  private final LongSupplier clock;
  private final Clients clients;
  private final Inbox inbox;
  private final KafkaReplyTopics topics;
  private final RegistrationPublisher publisher;
  private final AgentTable table;
  private final Deliveries deliveries;
  private final BadRegistrations badRegistrations;
  private final AgentsReader agents;
  private final JournalReader journal;
  private final Replies replies;
  private final Retirement retirement;

  private long commitAtMs;
  private long levelsAtMs;
  private long refreshAtMs;
  private String unreadable;
  private long unreadableUntilMs;

  private DispatchLoop(
      DispatcherConfig config,
      DispatcherMetrics metrics,
      LongSupplier clock,
      Inbox inbox,
      Clients clients,
      Serdes serdes) {
    this.config = config;
    this.metrics = metrics;
    this.clock = clock;
    this.inbox = inbox;
    this.clients = clients;
    Topics names = config.topics();
    topics = new KafkaReplyTopics(clients.admin(), config, inbox, new TopicAnswers(), metrics);
    publisher = new RegistrationPublisher(names.agents(), clients.producer(), serdes.serializer());
    table = new AgentTable(config.agentsMax());
    AgentDirectory directory =
        new AgentDirectory(
            names,
            config.openMode(),
            config.agentIdleMs() / RENEWALS_PER_IDLE_TIME,
            table,
            publisher);
    deliveries =
        new Deliveries(
            new KafkaReplySender(clients.producer(), this::completed),
            topics,
            config.parkingBounds(),
            config.inFlightMax(),
            metrics);
    badRegistrations =
        new BadRegistrations(
            names.deadLetters(),
            clients.producer(),
            new GroupReadMarks(clients.admin(), config.agentsGroupId(), inbox),
            metrics);
    AgentChanges changes = new AgentChanges(directory);
    agents =
        new AgentsReader(
            clients.agents(),
            names.agents(),
            new Decoder<>(
                AgentRegistration.class, serdes.deserializer(), 0, metrics, changes::refused),
            table,
            clock,
            changes);
    journal =
        new JournalReader(clients.journal(), names.journal(), metrics, deliveries::forgetForeign);
    replies =
        new Replies(
            new Decoder<>(
                AdmissionEvent.class,
                serdes.deserializer(),
                config.parkingDeadlineMs(),
                metrics,
                (record, reason, detail) -> {}),
            serdes.serializer(),
            names.prefix() + "replies",
            directory,
            deliveries,
            metrics,
            config);
    retirement = new Retirement(config, table, publisher, topics, deliveries);
  }

  /**
   * Connects, and reads what must be known before the first decision is delivered.
   *
   * @throws NotReadyException if something needed is not there yet
   */
  static DispatchLoop open(
      DispatcherConfig config, Serdes serdes, DispatcherMetrics metrics, LongSupplier clock) {
    Inbox inbox = new Inbox();
    Clients clients = Clients.open(config, inbox);
    try {
      DispatchLoop loop = new DispatchLoop(config, metrics, clock, inbox, clients, serdes);
      loop.load();
      return loop;
    } catch (RuntimeException e) {
      clients.close();
      throw e;
    }
  }

  /**
   * Dispatches until told to stop, then waits a little for what is under way.
   *
   * @param afterEachTurn is told what is wrong; null if nothing is
   */
  void run(BooleanSupplier stopping, Consumer<String> afterEachTurn) {
    while (!stopping.getAsBoolean()) {
      turn();
      afterEachTurn.accept(clock.getAsLong() < unreadableUntilMs ? unreadable : null);
    }
    drain();
  }

  /** Commits what is finished, leaves the group and disconnects. */
  @Override
  public void close() {
    clients.close();
  }

  private void load() {
    Set<String> existing = existingTopics();
    for (String needed : List.of(config.topics().journal(), config.topics().agents())) {
      if (!existing.contains(needed)) {
        throw new NotReadyException(
            "Expected topic %s, but the cluster has none of this name. Start the coordinator, or create the topics of the protocol; check %s."
                .formatted(needed, DispatcherConfig.TOPIC_PREFIX));
      }
    }
    topics.exist(existing);
    replies.warmUp();
    agents.load(LOAD_TIMEOUT);
    log.info(
        "Dispatcher of {} as group {}: {} agents registered, {} mode",
        config.topics().journal(),
        config.groupId(),
        table.size(),
        config.openMode() ? "open" : "closed");
  }

  private Set<String> existingTopics() {
    try {
      return clients.admin().listTopics().names().get(LOAD_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptException(e);
    } catch (ExecutionException | TimeoutException e) {
      throw new NotReadyException(
          "Expected brokers at %s to list their topics, but: %s. Check that they run and can be reached."
              .formatted(
                  config.clientSettings().get(DispatcherConfig.BOOTSTRAP_SERVERS), rootOf(e)));
    }
  }

  private void turn() {
    long nowMs = clock.getAsLong();
    ConsumerRecords<byte[], byte[]> records =
        journal.poll(patience(nowMs), deliveries.isSaturated(nowMs), nowMs);
    // After the journal, so that an agent which was registered before it asked is known by now.
    agents.poll(NO_WAIT);
    inbox.drain();
    handle(records);
    nowMs = clock.getAsLong();
    deliveries.tick(nowMs);
    topics.flush();
    publisher.flush(nowMs);
    doWhatIsDue(nowMs);
  }

  /**
   * How long to wait for the journal: not at all long if answers are awaited, which it would delay.
   */
  private Duration patience(long nowMs) {
    boolean busy = deliveries.inFlight() > 0 || topics.isBusy();
    return Duration.ofMillis(deliveries.quietMs(nowMs, busy ? BUSY_POLL_MS : IDLE_POLL_MS));
  }

  private void handle(ConsumerRecords<byte[], byte[]> records) {
    for (TopicPartition partition : records.partitions()) {
      for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
        long nowMs = clock.getAsLong();
        try {
          replies.handle(record, journal.trackerOf(record), nowMs);
        } catch (NotYetException e) {
          log.warn("The journal cannot be read now, and will be again: {}", e.getMessage());
          unreadable = e.getMessage();
          unreadableUntilMs = nowMs + 2 * DECODE_RETRY_PAUSE_MS;
          journal.retry(record, nowMs + DECODE_RETRY_PAUSE_MS);
          break;
        }
      }
    }
    journal.handled(records.partitions());
  }

  private void doWhatIsDue(long nowMs) {
    if (nowMs >= commitAtMs) {
      commitAtMs = nowMs + config.commitIntervalMs();
      journal.commit();
    }
    if (nowMs >= levelsAtMs) {
      levelsAtMs = nowMs + LEVELS_INTERVAL_MS;
      measure(nowMs);
      if (journal.isLeader()) {
        retirement.turn(nowMs);
        if (badRegistrations.turn(nowMs)) {
          agents.reread();
        }
      }
    }
    if (nowMs >= refreshAtMs) {
      refreshAtMs = nowMs + REFRESH_INTERVAL_MS;
      topics.refresh();
    }
  }

  private void measure(long nowMs) {
    metrics.set(Level.IN_FLIGHT, deliveries.inFlight());
    metrics.set(Level.PARKED, deliveries.parked());
    metrics.set(Level.PARKED_BYTES, deliveries.parkedBytes());
    metrics.set(Level.AGENTS_FAILING, deliveries.lanesFailing());
    metrics.set(Level.AGENTS, table.size());
    metrics.set(Level.PARTITIONS, journal.partitions());
    metrics.set(Level.LAG, journal.lag());
    OptionalLong oldest = journal.oldestUnfinishedMs();
    metrics.set(Level.HELD_BACK_MS, oldest.isPresent() ? nowMs - oldest.getAsLong() : 0);
  }

  private void drain() {
    long deadlineNanos = System.nanoTime() + DRAIN_TIMEOUT_NANOS;
    while (deliveries.inFlight() > 0 && System.nanoTime() - deadlineNanos < 0) {
      // Paused, so nothing new is read; it keeps the place in the group meanwhile.
      journal.poll(Duration.ofMillis(BUSY_POLL_MS), true, clock.getAsLong());
      inbox.drain();
    }
  }

  private void completed(Reply reply, Exception error) {
    long nowMs = clock.getAsLong();
    if (error == null) {
      deliveries.delivered(reply, nowMs);
    } else {
      log.debug("Reply to agent {} not delivered: {}", reply.agentId(), error.toString());
      deliveries.failed(reply, TopicError.of(error), nowMs);
    }
  }

  private static Throwable rootOf(Throwable error) {
    Throwable root = error;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }

  private final class TopicAnswers implements KafkaReplyTopics.Answers {

    @Override
    public void ready(Route route) {
      deliveries.topicReady(route, clock.getAsLong());
    }

    @Override
    public void failed(Route route, TopicError error) {
      deliveries.topicFailed(route, error, clock.getAsLong());
    }
  }

  private final class AgentChanges implements AgentsReader.Changes {

    private final AgentDirectory directory;

    AgentChanges(AgentDirectory directory) {
      this.directory = directory;
    }

    @Override
    public void retired(String agentId) {
      deliveries.retire(agentId);
    }

    @Override
    public void refused(
        ConsumerRecord<byte[], byte[]> record, DeadLetterReason reason, String detail) {
      badRegistrations.add(record, reason, detail, clock.getAsLong());
    }

    @Override
    public boolean isRoutable(AgentRegistration registration) {
      return directory.routeOf(registration) != null;
    }

    @Override
    public void rerouted(AgentRegistration registration) {
      Route route = directory.routeOf(registration);
      if (route != null) {
        deliveries.reroute(registration.getAgentId(), route);
      }
    }
  }
}
