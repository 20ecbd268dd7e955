package dev.fairway.it.admission;

import static dev.fairway.it.admission.AdmissionFixture.quota;
import static dev.fairway.it.admission.AdmissionFixture.request;
import static dev.fairway.it.admission.AdmissionFixture.requestBuilder;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.fairway.admission.AdmissionConfig;
import dev.fairway.admission.AdmissionService;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.it.TestCluster;
import dev.fairway.schemas.KeyPartitioner;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bad input and misplaced keys over a real broker. */
class BadInputIT {
  private static final int PARTITIONS = 4;

  @TempDir private Path folder;
  private AdmissionFixture fixture;

  @BeforeEach
  void open() throws Exception {
    fixture = new AdmissionFixture("bad-input", folder);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldSetEveryPoisonedRecordAsideAndGoOn() throws Exception {
    String requests = fixture.topics.requests();
    allowBytes(requests, 12_000_000);
    try (AdmissionService service = fixture.startCoordinator();
        Journal journal = new Journal(fixture);
        AdmissionFixture.Reader letters = fixture.reader(fixture.topics.deadLetters())) {
      // given
      journal.define(quota("k/q", 600_000));
      byte[] good = fixture.serialized(requests, request("r", "k/q"));
      byte[] unknown = good.clone();
      ByteBuffer.wrap(unknown).putInt(1, 123_456);
      byte[] magic = good.clone();
      magic[0] = 9;

      // when: one good request after each bad one
      List<Runnable> poisons =
          List.of(
              () -> fixture.send(requests, null, "k", Arrays.copyOf(good, good.length - 4)),
              () -> fixture.send(requests, null, "k", magic),
              () -> fixture.send(requests, null, "k", unknown),
              () -> fixture.send(requests, null, "k", new byte[10_000_000]),
              () -> fixture.send(requests, null, null, good),
              () -> fixture.send(requests, null, "k", null),
              () -> fixture.send(requests, "k", request("a/b", "k/q")),
              () -> fixture.send(requests, "k", request("", "k/q")),
              () ->
                  fixture.send(
                      requests,
                      "k",
                      requestBuilder("late", "k/q").setDeadlineMs(4_102_444_800_000L).build()),
              () -> fixture.send(fixture.topics.quotas(), "k/zero", quota("k/zero", 0)));
      int sent = 0;
      for (Runnable poison : poisons) {
        poison.run();
        fixture.send(requests, "k", request("good-" + sent++, "k/q"));
      }
      int all = sent;
      journal.readUntil(j -> j.events(Event.LeaseGranted.class).size() == all);

      // then
      Map<String, Integer> reasons = new TreeMap<>();
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () -> {
                letters
                    .poll()
                    .forEach(
                        letter -> reasons.merge(header(letter, "fairway.reason"), 1, Integer::sum));
                return reasons.values().stream().mapToInt(Integer::intValue).sum()
                    == poisons.size();
              });
      assertThat(reasons)
          .containsExactlyInAnyOrderEntriesOf(
              Map.of(
                  "TRUNCATED", 1,
                  "MAGIC_BYTE", 1,
                  "UNKNOWN_SCHEMA", 1,
                  "TOO_LARGE", 1,
                  "KEY_MISMATCH", 1,
                  "NO_VALUE", 1,
                  "INVALID", 4));
      // No key, two bad ids and a bad deadline: in each the agent can be told.
      assertThat(journal.events(Event.LeaseRejected.class))
          .hasSize(4)
          .allMatch(told -> told.reason() == RejectReason.INVALID);
      assertThat(AdmissionFixture.get(service, "/health")).contains("\"thread_failures\":0");
      assertThat(AdmissionFixture.get(service, "/metrics"))
          .contains("fairway_dead_letters_total{reason=\"TOO_LARGE\"} 1.0");
    }
  }

  @Test
  void shouldDecideAMisplacedKeyInItsOwnPartitionOnly() throws Exception {
    try (AdmissionService service = fixture.startCoordinator();
        Journal journal = new Journal(fixture)) {
      // given
      journal.define(quota("k", 600_000));
      byte[] value;

      // when: the same key's requests are written to every partition
      for (int partition = 0; partition < PARTITIONS; partition++) {
        value = fixture.serialized(fixture.topics.requests(), request("r" + partition, "k"));
        fixture.send(fixture.topics.requests(), partition, "k", value);
      }
      journal.readUntil(j -> j.events(Event.LeaseGranted.class).size() == PARTITIONS);

      // then: the journal's reader has checked that the key is in one partition
      assertThat(journal.partitionOfKey)
          .containsExactly(Map.entry("k", KeyPartitioner.partition("k", PARTITIONS)));
      assertThat(journal.events(Event.LeaseGranted.class))
          .extracting(Event.LeaseGranted::requestId)
          .containsExactlyInAnyOrder("r0", "r1", "r2", "r3");
      assertThat(AdmissionFixture.get(service, "/metrics"))
          .contains("fairway_forwarded_total{topic=\"" + fixture.topics.requests() + "\"} 3.0");
    }
  }

  @Test
  void shouldSayWhichTopicsAreMissing() {
    Map<String, String> settings = fixture.settings();
    settings.put(AdmissionConfig.TOPIC_PREFIX, "nothing-here.");
    settings.put(AdmissionConfig.START_TIMEOUT_MS, "100");
    AdmissionConfig config = AdmissionConfig.of(settings);
    assertThatThrownBy(() -> AdmissionService.start(config))
        .hasMessageContaining("Expected topics [nothing-here.dead-letters, nothing-here.journal")
        .hasMessageContaining("do not exist");
  }

  private static String header(ConsumerRecord<byte[], byte[]> record, String name) {
    return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
  }

  private static void allowBytes(String topic, int bytes) throws Exception {
    try (Admin admin = TestCluster.admin()) {
      admin
          .incrementalAlterConfigs(
              Map.of(
                  new ConfigResource(ConfigResource.Type.TOPIC, topic),
                  List.of(
                      new AlterConfigOp(
                          new ConfigEntry("max.message.bytes", Integer.toString(bytes)),
                          AlterConfigOp.OpType.SET))))
          .all()
          .get();
    }
  }
}
