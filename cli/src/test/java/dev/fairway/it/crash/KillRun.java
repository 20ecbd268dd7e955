package dev.fairway.it.crash;

import static org.awaitility.Awaitility.await;

import dev.fairway.cli.demo.emulator.Ledger;
import dev.fairway.cli.demo.emulator.LedgerEntry;
import dev.fairway.cli.demo.emulator.ModelSpeed;
import dev.fairway.cli.demo.emulator.ProviderEmulator;
import dev.fairway.cli.demo.emulator.ProviderLimits;
import dev.fairway.cli.demo.emulator.ProviderLimits.Limit;
import dev.fairway.cli.ops.StatusClient;
import dev.fairway.cli.up.Addresses;
import dev.fairway.it.crash.Differences.Kind;
import dev.fairway.it.crash.Evidence.Agent;
import dev.fairway.it.crash.Evidence.Delivery;
import dev.fairway.it.crash.Evidence.Input;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Topics;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A fleet at work while {@code up} is killed again and again at drawn moments. One in five of them,
 * after the first, falls into its start. The fleet and the providers live on in this process.
 */
final class KillRun implements AutoCloseable {
  private static final int AGENTS = 10;
  private static final int LOOPS = 2;

  /** Short enough that leases end while the process is down, and long enough that they do not. */
  private static final String QUOTAS =
      """
      quotas:
        - id: short/m
          limits: {requests_per_minute: 1200, input_tokens_per_minute: 600000, output_tokens_per_minute: 120000}
          lease_ttl: 4s
          max_queue_wait: 60s
        - id: long/m
          limits: {requests_per_minute: 900, input_tokens_per_minute: 600000, output_tokens_per_minute: 120000}
          lease_ttl: 20s
          max_queue_wait: 60s
      """;

  private static final List<String> QUOTA_IDS = List.of("short/m", "long/m");
  private static final ModelSpeed SPEED = new ModelSpeed(20, 120, 1000);
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private final int kills;
  private final SplittableRandom random;
  private final UpChild up;
  private final ScheduledExecutorService killer = Executors.newSingleThreadScheduledExecutor();
  private final ProviderEmulator open;
  private final ProviderEmulator spent;
  private final List<CrashAgent> agents = new ArrayList<>();

  /**
   * Sets the scene.
   *
   * @param folder for data and logs
   */
  KillRun(Path folder, int kills, long seed) throws IOException {
    this.kills = kills;
    this.random = new SplittableRandom(seed);
    Path config = folder.resolve("fairway.yaml");
    Files.writeString(config, QUOTAS);
    this.up = new UpChild(folder, config);
    this.open =
        ProviderEmulator.start(
            0, ProviderLimits.full(6_000, 3_000_000, 600_000), SPEED, Ledger.inMemory());
    this.spent =
        ProviderEmulator.start(
            0,
            new ProviderLimits(new Limit(1, 0), Limit.full(1_000), Limit.full(1_000)),
            SPEED,
            Ledger.inMemory());
    WireTap.clear();
  }

  /** Runs it all, and leaves {@code up} running. */
  void run() throws IOException, InterruptedException, ExecutionException {
    up.launch();
    up.awaitReady();
    startFleet();
    for (int kill = 0; kill < kills; kill++) {
      boolean whileItStarts = kill > 0 && random.nextInt(5) == 0;
      if (!whileItStarts && kill > 0) {
        up.awaitReady();
      }
      long delayMs = whileItStarts ? random.nextLong(300, 6_000) : random.nextLong(200, 4_000);
      killer.schedule(this::kill, delayMs, TimeUnit.MILLISECONDS).get();
      up.launch();
    }
    up.awaitReady();
    awaitLeases(2);
    drain();
  }

  private Void kill() throws IOException, InterruptedException {
    up.kill();
    return null;
  }

  private void startFleet() {
    HttpClient http = HttpClient.newHttpClient();
    CrashAgent.Providers providers = new CrashAgent.Providers(open.uri(), spent.uri());
    for (int i = 0; i < AGENTS; i++) {
      CrashAgent agent = new CrashAgent("agent-" + i, up.addresses(), QUOTA_IDS, providers, http);
      agents.add(agent);
      agent.start(LOOPS, random.split());
    }
    awaitLeases(1);
  }

  /** Waits until each agent was handed so many leases more. */
  private void awaitLeases(int more) {
    List<Long> before = agents.stream().map(CrashAgent::leases).toList();
    try {
      await().atMost(PATIENCE).until(() -> behind(before, more).isEmpty());
    } catch (ConditionTimeoutException e) {
      StatusClient status = new StatusClient(List.of(URI.create(up.addresses().coordinator())));
      throw new IllegalStateException(
          "Expected each agent to be handed "
              + more
              + " leases more, but these were not: "
              + behind(before, more)
              + "; quotas: "
              + status.quotasById()
              + "; waiting: "
              + status.list("/queue", "queue", null, 100),
          e);
    }
  }

  private List<String> behind(List<Long> before, int more) {
    List<String> behind = new ArrayList<>();
    for (int i = 0; i < agents.size(); i++) {
      long leases = agents.get(i).leases() - before.get(i);
      if (leases < more) {
        behind.add(agents.get(i).id() + " (" + leases + ")");
      }
    }
    return behind;
  }

  /** The fleet stops, and every lease and waiting request comes to its end. */
  private void drain() throws InterruptedException {
    agents.forEach(CrashAgent::stop);
    long untilNanos = System.nanoTime() + PATIENCE.toNanos();
    for (CrashAgent agent : agents) {
      if (!agent.awaitIdle(untilNanos)) {
        throw new IllegalStateException("Expected " + agent.id() + " to come to rest");
      }
    }
    StatusClient status = new StatusClient(List.of(URI.create(up.addresses().coordinator())));
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                open.openCalls() == 0
                    && status.quotasById().values().stream()
                        .allMatch(
                            quota ->
                                quota.path("open_leases").asInt(-1) == 0
                                    && quota.path("waiting").asInt(-1) == 0));
  }

  /** What there is, once everything that is to be delivered is, or should have been. */
  Evidence evidence() {
    try {
      await()
          .atMost(Duration.ofSeconds(20))
          .pollInterval(Duration.ofSeconds(1))
          .until(() -> isDelivered(Join.of(gather()).differences()));
    } catch (ConditionTimeoutException e) {
      // The differences say what is missing.
    }
    return gather();
  }

  private static boolean isDelivered(Differences differences) {
    return differences.of(Kind.DECISION_UNDELIVERED) + differences.of(Kind.REPLY_UNREAD) == 0;
  }

  /** What there is now. */
  Evidence gather() {
    Addresses at = up.addresses();
    Topics topics = new Topics(at.prefix());
    try (TopicDump dump = new TopicDump(at.bootstrap(), at.registry())) {
      Function<byte[], AdmissionEvent> events =
          dump.decoder(topics.journal(), AdmissionEvent.class);
      List<AdmissionEvent> journal = new ArrayList<>();
      for (ConsumerRecord<byte[], byte[]> record : dump.read(topics.journal())) {
        journal.add(events.apply(record.value()));
      }
      List<Input> inputs = new ArrayList<>();
      inputs.addAll(inputs(dump, topics.requests(), LeaseRequest.class));
      inputs.addAll(inputs(dump, topics.settlements(), Settlement.class));
      List<Coordinates> replies = new ArrayList<>();
      for (String topic :
          dump.topics(Pattern.compile(Pattern.quote(topics.replyPrefix()) + ".*"))) {
        dump.read(topic).forEach(record -> replies.add(TopicDump.at(record)));
      }
      Function<byte[], Decision> decisions = dump.decoder(topics.replyPrefix(), Decision.class);
      List<LedgerEntry> ledger = new ArrayList<>(open.ledger().entries());
      ledger.addAll(spent.ledger().entries());
      return new Evidence(
          journal,
          inputs,
          dump.read(topics.deadLetters()).size(),
          replies,
          agents.stream().map(agent -> record(agent, decisions)).toList(),
          ledger,
          up.lives());
    }
  }

  private static <T extends SpecificRecord> List<Input> inputs(
      TopicDump dump, String topic, Class<T> type) {
    Function<byte[], T> values = dump.decoder(topic, type);
    return dump.read(topic).stream()
        .map(record -> new Input(TopicDump.at(record), values.apply(record.value())))
        .toList();
  }

  private static Agent record(CrashAgent agent, Function<byte[], Decision> decisions) {
    WireTap.Seen wire = agent.wire();
    List<Delivery> received = new ArrayList<>();
    for (WireTap.Reply reply : wire.received()) {
      received.add(new Delivery(reply.at(), decisions.apply(reply.value()), reply.receivedAtMs()));
    }
    return new Agent(
        agent.id(), wire.sentSoFar(), List.copyOf(wire.acknowledged()), received, agent.uses());
  }

  List<CrashAgent> agents() {
    return List.copyOf(agents);
  }

  UpChild up() {
    return up;
  }

  /** Stops everything; {@code up} by a signal that it can handle. */
  @Override
  public void close() throws IOException, InterruptedException {
    agents.forEach(CrashAgent::stop);
    killer.shutdownNow();
    agents.forEach(CrashAgent::close);
    open.close();
    spent.close();
    try {
      up.stop();
    } finally {
      up.close();
    }
  }
}
