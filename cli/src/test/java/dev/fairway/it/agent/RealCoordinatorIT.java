package dev.fairway.it.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.admission.AdmissionService;
import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionClientConfig;
import dev.fairway.agent.Lease;
import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.LeaseRejectedException;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.QueueUpdate;
import dev.fairway.agent.UsageReport;
import dev.fairway.cli.embedded.TopicLayout;
import dev.fairway.cli.embedded.TopicSetup;
import dev.fairway.cli.registry.InProcessSchemaRegistry;
import dev.fairway.dispatcher.DispatcherService;
import dev.fairway.it.TestCluster;
import dev.fairway.it.TestServices;
import dev.fairway.schemas.KeyPartitioner;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.PolicyPreset;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaState;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.HttpSchemaRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The client against the real coordinator and dispatcher. */
class RealCoordinatorIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String QUOTA = "key/sonnet";

  @TempDir Path folder;

  private final Topics topics = new Topics(TestCluster.newPrefix("whole"));
  private InProcessSchemaRegistry registry;
  private AdmissionService coordinator;
  private DispatcherService dispatcher;
  private AdmissionClient client;

  @BeforeEach
  void start() throws Exception {
    registry = InProcessSchemaRegistry.start(0, folder.resolve("registry"));
    try (Admin admin = TestCluster.admin()) {
      new TopicSetup(admin).ensure(topics, TopicLayout.EMBEDDED);
    }
    coordinator = TestServices.coordinator(registry.url(), topics, folder.resolve("state"));
    dispatcher = TestServices.dispatcher(registry.url(), topics);
    client =
        AdmissionClient.start(
            AdmissionClientConfig.of(TestCluster.bootstrapServers(), registry.url(), "agent-1")
                .topicPrefix(topics.prefix())
                .callTimeout(PATIENCE)
                .build());
  }

  @AfterEach
  void stop() throws Exception {
    if (client != null) {
      client.close();
    }
    if (dispatcher != null) {
      dispatcher.close();
    }
    if (coordinator != null) {
      coordinator.close();
    }
    registry.close();
  }

  @Test
  void shouldGrantSettleAndGrantAgain() throws Exception {
    // given
    define(600, 1_200_000);

    // when
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      leases.add(lease(client.acquire(call(100).build())));
    }
    List<CompletableFuture<Void>> settled = new ArrayList<>();
    for (Lease lease : leases) {
      lease.markSent();
      settled.add(lease.succeeded(UsageReport.of(90, 10), ProviderSignal.ok()));
    }

    // then
    assertThat(settled).allSatisfy(future -> assertThat(future).succeedsWithin(PATIENCE));
    assertThat(leases).extracting(Lease::leaseId).doesNotHaveDuplicates();
    assertThat(leases).allMatch(lease -> lease.charged().inputTokens() == 100);
    assertThat(client.stats().lateGrants()).isZero();
    assertThat(client.stats().foreignReplies()).isZero();
  }

  @Test
  void shouldQueueThenGrantWhenTheFirstLeaseIsGivenBack() throws Exception {
    // given: room for one
    define(600, 60_000);
    Lease first = lease(client.acquire(call(50_000).build()));
    List<QueueUpdate> updates = new CopyOnWriteArrayList<>();
    CompletableFuture<Lease> second = client.acquire(call(50_000).onQueued(updates::add).build());
    await().atMost(PATIENCE).until(() -> !updates.isEmpty());
    assertThat(second).isNotDone();

    // when
    first.close();

    // then
    Lease granted = second.get(5, TimeUnit.SECONDS);
    assertThat(updates.get(0).position()).isEqualTo(1);
    granted.close();
  }

  @Test
  void shouldLeaveTheQueueWhenCancelledAndGiveBackAnOpenGrant() throws Exception {
    // given
    define(600, 60_000);
    Lease first = lease(client.acquire(call(50_000).build()));
    List<QueueUpdate> updates = new CopyOnWriteArrayList<>();
    CompletableFuture<Lease> second = client.acquire(call(50_000).onQueued(updates::add).build());
    await().atMost(PATIENCE).until(() -> !updates.isEmpty());

    // when
    second.cancel(true);
    first.close();
    Lease third = lease(client.acquire(call(50_000).build()));

    // then
    assertThat(third.usable()).isTrue();
    third.close();
  }

  @Test
  void shouldComeBackAsTheNextAttemptAfterA429() throws Exception {
    // given
    define(600, 60_000);
    Lease first = lease(client.acquire(call(100).build()));
    first.markSent();

    // when
    Lease second =
        lease(first.rateLimitedRequeue(ProviderSignal.rateLimited(Duration.ofMillis(300))));

    // then
    assertThat(second.requestId()).isEqualTo(first.requestId());
    assertThat(second.attempt()).isEqualTo(2);
    assertThat(second.leaseId()).isNotEqualTo(first.leaseId());
    second.close();
  }

  @Test
  void shouldSayWhyACallIsRejected() throws Exception {
    // given
    define(600, 60_000);

    // when
    CompletableFuture<Lease> tooLarge = client.acquire(call(10_000_000).build());

    // then
    assertThat(tooLarge)
        .failsWithin(PATIENCE)
        .withThrowableThat()
        .havingCause()
        .isInstanceOfSatisfying(
            LeaseRejectedException.class,
            rejected -> {
              assertThat(rejected.reason()).isEqualTo(RejectReason.NEVER_FITS);
              assertThat(rejected.retryAfter()).isEmpty();
            });
  }

  private void define(long requestsPerMinute, long inputTokensPerMinute) throws Exception {
    Quota quota =
        Quota.newBuilder()
            .setId(QUOTA)
            .setPolicy(PolicyPreset.SEED)
            .setWindow(ProviderWindow.TOKEN_BUCKET)
            .setState(QuotaState.ACTIVE)
            .setClasses(Map.of())
            .setTenants(Map.of())
            .setRoles(Map.of())
            .setLimits(
                Limits.newBuilder()
                    .setRequestsPerMinute(requestsPerMinute)
                    .setInputTokensPerMinute(inputTokensPerMinute)
                    .build())
            .build();
    try (KafkaProducer<String, SpecificRecord> producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                TestCluster.bootstrapServers(),
                "partitioner.class",
                KeyPartitioner.class.getName()),
            new StringSerializer(),
            new AvroSerializer<>(new HttpSchemaRegistry(registry.url())))) {
      producer.send(new ProducerRecord<>(topics.quotas(), QUOTA, quota)).get(30, TimeUnit.SECONDS);
    }
    // The definition travels on another topic than the requests.
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              try {
                client.acquire(call(1).build()).get(10, TimeUnit.SECONDS).close();
                return true;
              } catch (ExecutionException e) {
                return false;
              }
            });
  }

  private static LeaseCall.Builder call(long inputTokens) {
    return LeaseCall.of(QUOTA).inputTokens(inputTokens).maxOutputTokens(10);
  }

  private static Lease lease(CompletableFuture<Lease> future) {
    return future.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
  }
}
