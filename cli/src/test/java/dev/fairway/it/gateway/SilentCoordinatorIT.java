package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.admission.AdmissionService;
import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionClientConfig;
import dev.fairway.agent.SafeCapacity;
import dev.fairway.agent.gateway.Gateway;
import dev.fairway.agent.gateway.ModeStore;
import dev.fairway.cli.CliException;
import dev.fairway.cli.config.FairwayConfig;
import dev.fairway.cli.config.GatewaySection;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.embedded.TopicLayout;
import dev.fairway.cli.embedded.TopicSetup;
import dev.fairway.cli.ops.AgentStore;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.QuotaStore;
import dev.fairway.cli.ops.StatusClient;
import dev.fairway.cli.ops.TopicReader;
import dev.fairway.cli.registry.InProcessSchemaRegistry;
import dev.fairway.dispatcher.DispatcherService;
import dev.fairway.it.TestCluster;
import dev.fairway.it.TestServices;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.LeaseExpired;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.RequestLease;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.UnleasedCharged;
import dev.fairway.schemas.serde.AvroDeserializer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The coordinator goes away under load and comes back; for half a minute: {@code
 * -Dfairway.silence.seconds=30}.
 */
class SilentCoordinatorIT {
  private static final int SILENCE_S = Integer.getInteger("fairway.silence.seconds", 20);

  /** So many that a call waits longer for the share than for the first repeat of its request. */
  private static final int AGENTS = 40;

  private static final String QUOTA = "ant/sonnet";
  private static final long LIMIT = 60_000;
  private static final double FLOOR = 0.6;
  private static final Duration SILENT_AFTER = Duration.ofSeconds(5);
  private static final String TEXT = "lorem ipsum dolor sit amet ".repeat(37);

  private record Answer(int agent, int status, long atNanos) {}

  @TempDir Path folder;

  private final Topics topics = new Topics(TestCluster.newPrefix("silent"));
  private final EmulatedApis apis = new EmulatedApis(LIMIT, LIMIT / 10);
  private final List<Answer> answers = new CopyOnWriteArrayList<>();
  private final HttpClient http = HttpClient.newHttpClient();
  private final ExecutorService agents = Executors.newFixedThreadPool(AGENTS);
  private volatile boolean working = true;
  private InProcessSchemaRegistry registry;
  private AdmissionService coordinator;
  private DispatcherService dispatcher;
  private AdmissionClient client;
  private Gateway gateway;

  @BeforeEach
  void start() throws Exception {
    registry = InProcessSchemaRegistry.start(0, folder.resolve("registry"));
    try (Admin admin = TestCluster.admin()) {
      new TopicSetup(admin).ensure(topics, TopicLayout.EMBEDDED);
    }
    Path key = Files.writeString(folder.resolve("key"), "sk-upstream\n");
    FairwayConfig config =
        QuotaYaml.parse(
            """
            quotas:
              - id: %s
                provider: anthropic
                models: ["claude-*"]
                limits: {requests_per_minute: 100000, input_tokens_per_minute: %d, output_tokens_per_minute: 10000000}
                level: {input_tokens: %d}
                margin: {floor: %s}
            gateway:
              upstreams:
                anthropic: {provider: anthropic, url: "%s", key: {file: "%s"}}
              fail_mode: SAFE_SHARE
              silent_after: %ds
            """
                .formatted(
                    QUOTA, LIMIT, LIMIT / 10, FLOOR, apis.url(), key, SILENT_AFTER.toSeconds()),
            "test");
    GatewaySection section = config.gateway();
    try (Pipeline pipeline = pipeline()) {
      config.quotas().forEach(new QuotaStore(pipeline)::put);
      new AgentStore(pipeline)
          .put(
              AgentRegistration.newBuilder()
                  .setAgentId(section.id())
                  .setMembers(true)
                  .setRegisteredAtMs(System.currentTimeMillis())
                  .build());
    }
    startCoordinator();
    StatusClient status =
        new StatusClient(List.of(URI.create("http://127.0.0.1:" + coordinator.httpPort())));
    await()
        .atMost(Duration.ofSeconds(60))
        .ignoreExceptionsInstanceOf(
            CliException.class) // It says so while it is too busy to answer.
        .until(() -> status.quotasById().containsKey(QUOTA));
    dispatcher = TestServices.dispatcher(registry.url(), topics);
    assertThat(dispatcher.awaitHealthy(Duration.ofSeconds(60))).isTrue();
    client =
        AdmissionClient.start(
            AdmissionClientConfig.of(TestCluster.bootstrapServers(), registry.url(), section.id())
                .topicPrefix(topics.prefix())
                .fallback(section.fallback())
                .build());
    gateway = Gateway.start(section.config().withPort(0), client, ModeStore.inMemory());
  }

  @AfterEach
  void stop() throws Exception {
    working = false;
    agents.shutdownNow();
    if (gateway != null) {
      gateway.close();
    }
    if (client != null) {
      client.close();
    }
    if (dispatcher != null) {
      dispatcher.close();
    }
    coordinator.close();
    registry.close();
    apis.close();
  }

  @Test
  void shouldGoOnByTheSafeShareAndBeReconciledWhenItIsBack() throws Exception {
    // given: agents that ask for more than the limit, and shares that have grown
    for (int i = 0; i < AGENTS; i++) {
      int agent = i;
      agents.execute(() -> work(agent));
    }
    pass(10);
    final long callsBefore = answers.size();

    // when
    coordinator.close();
    final long goneNanos = System.nanoTime();
    long share = share();
    await().atMost(Duration.ofSeconds(30)).until(() -> client.stats().silentKeys() == 1);
    final long resendsBefore = client.stats().resends();
    pass(SILENCE_S);
    assertThat(client.stats().silentKeys()).as("the alert").isEqualTo(1);
    final long unleasedInSilence = client.stats().unleased();
    final long backNanos = System.nanoTime();
    startCoordinator();
    await().atMost(Duration.ofSeconds(60)).until(() -> client.stats().silentKeys() == 0);
    final long heardNanos = System.nanoTime();
    final long resends = client.stats().resends() - resendsBefore;
    pass(6);
    working = false;
    agents.shutdown();
    assertThat(agents.awaitTermination(90, TimeUnit.SECONDS)).isTrue();

    // then: one request is for all, though each waits so long that it would ask again by itself
    assertThat(resends).as("no storm of requests").isLessThanOrEqualTo(AGENTS / 4);

    // then: no agent noticed, and the provider refused nobody
    assertThat(callsBefore).isPositive();
    assertThat(answers).allMatch(answer -> answer.status() == 200);
    assertThat(apis.refused.get()).isZero();
    assertThat(client.stats().silences()).isEqualTo(1);
    assertThat(unleasedInSilence).isPositive();

    // then: every call is in the journal once, and nothing stays open
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              List<AdmissionEvent> journal = journal();
              assertThat(open(journal)).isEmpty();
              assertThat(unleased(journal)).hasSize((int) client.stats().unleased());
            });
    List<AdmissionEvent> journal = journal();
    long used =
        unleased(journal).stream().mapToLong(event -> event.getCharged().getInputTokens()).sum();
    double minutes = (heardNanos - goneNanos) / 60e9;
    long inTheSecondAfter =
        answers.stream()
            .filter(a -> a.atNanos() >= heardNanos && a.atNanos() < heardNanos + 1_000_000_000L)
            .count();
    System.out.printf(
        "silence: %.1f s (%.1f until asked again), share %d of %d tokens a minute, %d calls with %d"
            + " tokens (%.0f %% of the share), %d resends, %d calls in the second after%n",
        minutes * 60,
        (heardNanos - backNanos) / 1e9,
        share,
        LIMIT,
        unleased(journal).size(),
        used,
        100 * used / (share * minutes),
        resends,
        inTheSecondAfter);
    assertThat(share).isBetween(1L, (long) (FLOOR * LIMIT));
    assertThat((double) used).as("no more than the share").isLessThanOrEqualTo(share * minutes);
    // Each call asks once, and again after a rejection that named a time or an unanswered request.
    assertThat(requests(journal))
        .isLessThanOrEqualTo(
            answers.size() + AGENTS + client.stats().resends() + client.stats().rejects());
  }

  private void work(int agent) {
    int turn = 0;
    while (working) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(gateway.url() + "/v1/messages"))
              .header("content-type", "application/json")
              .header("x-session-id", "agent-" + agent)
              .header("x-stainless-timeout", "600")
              .POST(
                  HttpRequest.BodyPublishers.ofString(
                      "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":16,\"messages\":[{\"role\":\"user\",\"content\":\""
                          + TEXT
                          + turn++
                          + "\"}]}"))
              .build();
      try {
        int status = http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
        answers.add(new Answer(agent, status, System.nanoTime()));
      } catch (InterruptedException e) {
        return;
      } catch (java.io.IOException e) {
        answers.add(new Answer(agent, 0, System.nanoTime()));
      }
    }
  }

  /** What all agents together may use alone, in input tokens a minute. */
  private long share() {
    long sum = 0;
    Set<String> members = new HashSet<>();
    for (AdmissionEvent event : journal()) {
      if (event.getCommand() instanceof RequestLease asked) {
        members.add(asked.getRequest().getAgentId().substring("gateway:".length()));
      }
    }
    for (String member : members) {
      sum +=
          client
              .safeCapacity(member, QUOTA)
              .map(SafeCapacity::inputTokensPerMinute)
              .map(tokens -> tokens.orElse(0))
              .orElse(0L);
    }
    return sum;
  }

  private List<AdmissionEvent> journal() {
    List<AdmissionEvent> events = new ArrayList<>();
    try (Pipeline pipeline = pipeline();
        AvroDeserializer<AdmissionEvent> deserializer =
            new AvroDeserializer<>(pipeline.registry(), AdmissionEvent.class)) {
      String topic = topics.journal();
      pipeline
          .reader()
          .read(
              topic,
              new TopicReader.From.Beginning(),
              record -> events.add(deserializer.deserialize(topic, record.value())));
    }
    return events;
  }

  private static long requests(List<AdmissionEvent> journal) {
    return journal.stream().filter(event -> event.getCommand() instanceof RequestLease).count();
  }

  private static List<UnleasedCharged> unleased(List<AdmissionEvent> journal) {
    return journal.stream()
        .flatMap(event -> event.getEvents().stream())
        .filter(UnleasedCharged.class::isInstance)
        .map(UnleasedCharged.class::cast)
        .toList();
  }

  /** Leases that were granted and did not end. */
  private static Set<String> open(List<AdmissionEvent> journal) {
    Set<String> open = new HashSet<>();
    for (AdmissionEvent entry : journal) {
      for (Object event : entry.getEvents()) {
        if (event instanceof LeaseGranted granted) {
          open.add(granted.getLeaseId());
        } else if (event instanceof LeaseSettled settled) {
          open.remove(settled.getLeaseId());
        } else if (event instanceof LeaseExpired expired) {
          open.remove(expired.getLeaseId());
        }
      }
    }
    return open;
  }

  private Pipeline pipeline() {
    return new Pipeline(TestCluster.bootstrapServers(), registry.url(), topics, Map.of());
  }

  private void startCoordinator() throws Exception {
    coordinator = TestServices.coordinator(registry.url(), topics, folder.resolve("state"));
    assertThat(coordinator.awaitReady(Duration.ofSeconds(60))).isTrue();
  }

  /** Lets the fleet work for a while. */
  private static void pass(int seconds) {
    await()
        .pollDelay(Duration.ofSeconds(seconds))
        .atMost(Duration.ofSeconds(seconds + 5))
        .until(() -> true);
  }
}
