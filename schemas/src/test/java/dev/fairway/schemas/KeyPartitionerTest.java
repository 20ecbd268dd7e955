package dev.fairway.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyPartitionerTest {

  private static final int PARTITIONS = 48;

  /** Hashes published with librdkafka's and Kafka's own tests of murmur2. */
  @ParameterizedTest
  @CsvSource({
    "21, -973932308",
    "foobar, -790332482",
    "a-little-bit-long-string, -985981536",
    "a-little-bit-longer-string, -1486304829",
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8, -58897971"
  })
  void shouldAgreeWithPublishedHashes(String key, int hash) {
    assertThat(KeyPartitioner.partition(key, Integer.MAX_VALUE))
        .isEqualTo((hash & 0x7fffffff) % Integer.MAX_VALUE);
  }

  @Test
  void shouldEqualKafkasDefaultForPlainKeys() {
    Random random = new Random(1);
    for (int i = 0; i < 1_000; i++) {
      String key = "key-" + Long.toString(random.nextLong(), 36);
      byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
      for (int partitions : new int[] {1, 4, 48, 1_000}) {
        assertThat(KeyPartitioner.partition(key, partitions))
            .isEqualTo(BuiltInPartitioner.partitionForKey(bytes, partitions));
      }
    }
  }

  @Test
  void shouldPutAllQuotasOfAKeyIntoItsPartition() {
    int home = KeyPartitioner.partition("anthropic.prod-1", PARTITIONS);
    assertThat(KeyPartitioner.partition("anthropic.prod-1/sonnet", PARTITIONS)).isEqualTo(home);
    assertThat(KeyPartitioner.partition("anthropic.prod-1/organisation", PARTITIONS))
        .isEqualTo(home);
    assertThat(
            BuiltInPartitioner.partitionForKey(
                "anthropic.prod-1/sonnet".getBytes(StandardCharsets.UTF_8), PARTITIONS))
        .as("the plain default would have put it elsewhere")
        .isNotEqualTo(home);
  }

  @Test
  void shouldPutRecordsWithoutKeyIntoPartitionZero() {
    assertThat(KeyPartitioner.partition((String) null, PARTITIONS)).isZero();
    assertThat(KeyPartitioner.partition((byte[]) null, PARTITIONS)).isZero();
  }

  @Test
  void shouldTakeAnyBytesAsKey() {
    assertThat(KeyPartitioner.partition(new byte[0], PARTITIONS)).isBetween(0, PARTITIONS - 1);
    assertThat(KeyPartitioner.partition(new byte[] {'/'}, PARTITIONS))
        .isEqualTo(KeyPartitioner.partition("", PARTITIONS));
    assertThat(KeyPartitioner.partition(new byte[] {-1, -128, 0}, PARTITIONS))
        .isBetween(0, PARTITIONS - 1);
  }

  @Test
  void shouldRefuseATopicWithoutPartitions() {
    assertThatThrownBy(() -> KeyPartitioner.partition("a", 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldPartitionInsideAProducer() throws Exception {
    // given
    Node node = new Node(0, "localhost", 9092);
    List<PartitionInfo> infos = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) {
      infos.add(new PartitionInfo("t", i, node, new Node[] {node}, new Node[] {node}));
    }
    Cluster cluster = new Cluster("c", List.of(node), infos, Set.of(), Set.of());
    KeyPartitioner partitioner = new KeyPartitioner();
    partitioner.configure(Map.of());
    try (MockProducer<String, String> producer =
        new MockProducer<>(
            cluster, true, partitioner, new StringSerializer(), new StringSerializer())) {
      // when
      RecordMetadata sent = producer.send(new ProducerRecord<>("t", "prod/sonnet", "v")).get();

      // then
      assertThat(sent.partition()).isEqualTo(KeyPartitioner.partition("prod", PARTITIONS));
    }
  }
}
