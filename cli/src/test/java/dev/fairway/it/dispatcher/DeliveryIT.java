package dev.fairway.it.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.it.dispatcher.DispatcherHarness.Dispatcher;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeliveryIT {

  private static final long TTL_MS = 120_000;

  @TempDir private Path folder;
  private DispatcherHarness harness;

  @BeforeEach
  void setUp() throws Exception {
    harness = new DispatcherHarness(folder);
  }

  @AfterEach
  void tearDown() throws Exception {
    harness.close();
  }

  @Test
  void shouldDeliverEachAgentsDecisionsInOrderOnItsOwnTopic() throws Exception {
    // given
    harness.start();

    // when: two agents of one key in turns, some records a transaction
    List<AdmissionEvent> records = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      records.add(JournalRecords.granted("k", i, "a" + (i % 2), "r" + i, TTL_MS));
    }
    for (int i = 0; i < 100; i += 10) {
      harness.journal(records.subList(i, i + 10));
    }

    // then
    assertThat(harness.awaitDecisions("a0", 50))
        .extracting(Decision::getRequestId)
        .containsExactlyElementsOf(IntStream.range(0, 50).mapToObj(i -> "r" + 2 * i).toList());
    assertThat(harness.awaitDecisions("a1", 50))
        .extracting(Decision::getDecisionId)
        .containsExactlyElementsOf(
            IntStream.range(0, 50).mapToObj(i -> "k:1:" + (2 * i + 1) + ":0").toList());
  }

  @Test
  void shouldWriteWhatClientsOfAnyKindRead() throws Exception {
    // given
    harness.start();

    // when
    harness.journal(JournalRecords.granted("k", 1, "a1", "r1", TTL_MS));
    Decision decision = harness.awaitDecisions("a1", 1).get(0);

    // then
    assertThat(decision.getStatus()).isEqualTo(DecisionStatus.GRANTED);
    assertThat(decision.getGranted().getTtlMs()).isEqualTo(TTL_MS);
    ConsumerRecord<byte[], byte[]> record = harness.records(harness.topics().reply("a1"), 0).get(0);
    assertThat(new String(record.key(), StandardCharsets.UTF_8)).isEqualTo("r1");
    assertThat(record.headers().lastHeader("kafka_correlationId").value())
        .isEqualTo(JournalRecords.CORRELATION);
  }

  @Test
  void shouldMakeReplyTopicsThatForgetInTime() throws Exception {
    // given
    harness.start();
    harness.journal(JournalRecords.granted("k", 1, "a1", "r1", TTL_MS));
    harness.awaitDecisions("a1", 1);

    // when
    ConfigResource topic =
        new ConfigResource(ConfigResource.Type.TOPIC, harness.topics().reply("a1"));
    Config config = harness.admin().describeConfigs(List.of(topic)).all().get().get(topic);

    // then
    assertThat(config.get("retention.ms").value()).isEqualTo("3600000");
    assertThat(Long.parseLong(config.get("segment.ms").value())).isLessThan(3_600_000);
    assertThat(config.get("message.timestamp.type").value()).isEqualTo("LogAppendTime");
    assertThat(
            harness
                .admin()
                .describeTopics(List.of(topic.name()))
                .allTopicNames()
                .get()
                .get(topic.name())
                .partitions())
        .hasSize(1);
  }

  @Test
  void shouldNeverDeliverWhatWasAborted() throws Exception {
    // given
    harness.start();

    // when
    harness.journalAborted(JournalRecords.granted("k", 1, "a1", "aborted", TTL_MS));
    RecordMetadata last = harness.journal(JournalRecords.granted("k", 1, "a1", "r1", TTL_MS));

    // then
    assertThat(harness.awaitDecisions("a1", 1))
        .extracting(Decision::getRequestId)
        .containsExactly("r1");
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(() -> harness.committed(last.partition()) > last.offset());
    assertThat(harness.decisionsOf("a1")).hasSize(1);
  }

  @Test
  void shouldCreateTwoHundredTopicsWithoutHoldingUpTheAgentsItKnows() throws Exception {
    // given
    Dispatcher dispatcher = harness.start();
    harness.journal(JournalRecords.granted("k", 0, "known", "r0", TTL_MS));
    harness.awaitDecisions("known", 1);

    // when: in one transaction, the agent that is known comes last
    List<AdmissionEvent> records = new ArrayList<>();
    for (int i = 1; i <= 200; i++) {
      records.add(JournalRecords.granted("k", i, "new-" + i, "r" + i, TTL_MS));
    }
    records.add(JournalRecords.granted("k", 201, "known", "r201", TTL_MS));
    harness.journal(records);

    // then: the known agent is served before the two hundred topics exist
    harness.awaitDecisions("known", 2);
    await().atMost(DispatcherHarness.PATIENCE).until(() -> dispatcher.delivered() == 202);
    List<TopicPartition> newTopics =
        IntStream.rangeClosed(1, 200)
            .mapToObj(i -> new TopicPartition(harness.topics().reply("new-" + i), 0))
            .toList();
    long latestNewMs =
        harness.records(newTopics).stream()
            .mapToLong(ConsumerRecord::timestamp)
            .max()
            .orElseThrow();
    long knownMs = harness.records(harness.topics().reply("known"), 0).get(1).timestamp();
    assertThat(knownMs).isLessThan(latestNewMs);
    assertThat(dispatcher.count("topics.added")).isEqualTo(201);
    assertThat(dispatcher.dropped("expired")).isZero();
  }

  @Test
  void shouldSkipWhatCannotBeRead() throws Exception {
    // given
    Dispatcher dispatcher = harness.start();

    // when
    harness.writeRaw(harness.topics().journal(), 0, new byte[] {1}, new byte[] {9, 9, 9});
    harness.journal(JournalRecords.granted("k", 1, "a1", "r1", TTL_MS));

    // then
    harness.awaitDecisions("a1", 1);
    await().atMost(DispatcherHarness.PATIENCE).until(() -> dispatcher.count("undecodable") == 1);
    assertThat(dispatcher.service().isHealthy()).isTrue();
  }

  @Test
  void shouldWaitForTopicsThatAreNotThereYet(@TempDir Path other) throws Exception {
    try (DispatcherHarness late = new DispatcherHarness(other, false)) {
      // given
      Dispatcher dispatcher = late.startUnready(Map.of());
      await()
          .atMost(DispatcherHarness.PATIENCE)
          .until(() -> dispatcher.service().trouble().contains(late.topics().journal()));
      assertThat(dispatcher.service().isHealthy()).isFalse();

      // when
      late.createTopics();

      // then
      assertThat(dispatcher.service().awaitHealthy(DispatcherHarness.PATIENCE)).isTrue();
      late.journal(JournalRecords.granted("k", 1, "a1", "r1", TTL_MS));
      late.awaitDecisions("a1", 1);
    }
  }
}
