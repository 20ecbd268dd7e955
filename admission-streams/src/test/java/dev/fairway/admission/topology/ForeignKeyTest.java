package dev.fairway.admission.topology;

import static dev.fairway.admission.topology.Samples.quota;
import static dev.fairway.admission.topology.Samples.request;
import static dev.fairway.admission.topology.TopologyContext.header;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.KeyPartitioner;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The driver has one partition, 0, and hands what is forwarded to it back as a new record. */
class ForeignKeyTest {
  private static final int PARTITIONS = 4;
  private static final String OWN = keyOfPartition(true);
  private static final String FOREIGN = keyOfPartition(false);

  @Test
  void shouldDecideForItsOwnKeys() {
    try (TopologyContext context = new TopologyContext(PARTITIONS)) {
      context.send(context.topics.quotas(), OWN + "/q", quota(OWN + "/q").build());
      assertThat(context.journal()).hasSize(1);
      assertThat(context.observer.told).doesNotContain("forwarded fairway.quotas");
    }
  }

  @Test
  void shouldForwardAForeignKeyUnchangedAndGiveUpAfterTwoHops() {
    try (TopologyContext context = new TopologyContext(PARTITIONS)) {
      // given
      byte[] value =
          context.bytes(context.topics.requests(), request("r1").setQuota(FOREIGN).build());
      Headers headers = new RecordHeaders().add("trace", new byte[] {1, 2});

      // when
      context.send(context.topics.requests(), FOREIGN, value, headers);

      // then
      List<TestRecord<byte[], byte[]>> written = context.output(context.topics.requests());
      assertThat(written).hasSize(2);
      for (int hop = 1; hop <= 2; hop++) {
        TestRecord<byte[], byte[]> forwarded = written.get(hop - 1);
        assertThat(forwarded.key()).isEqualTo(FOREIGN.getBytes(StandardCharsets.UTF_8));
        assertThat(forwarded.value()).isEqualTo(value);
        assertThat(forwarded.headers().lastHeader("trace").value()).containsExactly(1, 2);
        assertThat(forwarded.headers().headers("fairway.hops")).hasSize(1);
        assertThat(header(forwarded, "fairway.hops")).isEqualTo(Integer.toString(hop));
      }
      List<TestRecord<byte[], byte[]>> letters = context.deadLetters();
      assertThat(letters).hasSize(1);
      assertThat(header(letters.get(0), "fairway.reason")).isEqualTo("FOREIGN_KEY");
      assertThat(header(letters.get(0), "fairway.detail"))
          .contains("Expected partition " + KeyPartitioner.partition(FOREIGN, PARTITIONS))
          .contains("but found it in 0 after 2 hops");
      assertThat(context.journal()).isEmpty();
    }
  }

  @Test
  void shouldForwardAForeignQuotaByTheKeyInItsId() {
    try (TopologyContext context = new TopologyContext(PARTITIONS)) {
      context.send(context.topics.quotas(), FOREIGN + "/q", quota(FOREIGN + "/q").build());
      assertThat(context.observer.told)
          .contains("forwarded fairway.quotas", "dead FOREIGN_KEY")
          .doesNotContain("handled DefineQuota");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"2", "99", "-1", "many", ""})
  void shouldNotBeLedIntoALoopByTheHeader(String hops) {
    try (TopologyContext context = new TopologyContext(PARTITIONS)) {
      // given
      Headers headers =
          new RecordHeaders().add("fairway.hops", hops.getBytes(StandardCharsets.UTF_8));

      // when
      context.send(context.topics.requests(), FOREIGN, new byte[] {1}, headers);

      // then
      assertThat(context.output(context.topics.requests())).isEmpty();
      assertThat(context.deadLetters()).hasSize(1);
    }
  }

  private static String keyOfPartition(boolean zero) {
    for (int i = 0; ; i++) {
      String key = "key-" + i;
      if ((KeyPartitioner.partition(key, PARTITIONS) == 0) == zero) {
        return key;
      }
    }
  }
}
