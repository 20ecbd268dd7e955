package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.DeadLetterReason;
import dev.fairway.schemas.serde.UndecodableRecordException;
import dev.fairway.schemas.serde.UndecodableRecordException.Reason;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AgentsReaderTest {

  private static final String TOPIC = "fairway.agents";
  private static final TopicPartition FIRST = new TopicPartition(TOPIC, 0);
  private static final TopicPartition SECOND = new TopicPartition(TOPIC, 1);
  private static final String UNREADABLE = "!";
  private static final String FORBIDDEN_TOPIC = "fairway.journal";

  private final MockConsumer<byte[], byte[]> kafka = new MockConsumer<>("earliest");
  private final AgentTable table = new AgentTable(10);
  private final List<String> changed = new ArrayList<>();
  private boolean registryAnswers = true;
  private AgentsReader reader;

  @BeforeEach
  void open() {
    Recorded changes = new Recorded();
    reader =
        new AgentsReader(
            kafka,
            TOPIC,
            new Decoder<>(
                AgentRegistration.class,
                (topic, data) -> decode(data),
                0,
                new DispatcherMetrics(new SimpleMeterRegistry()),
                changes::refused),
            table,
            () -> 1_000,
            changes);
    kafka.updatePartitions(TOPIC, List.of(info(0), info(1)));
    kafka.updateBeginningOffsets(Map.of(FIRST, 0L, SECOND, 0L));
    kafka.updateEndOffsets(Map.of(FIRST, 0L, SECOND, 0L));
    reader.load(Duration.ofSeconds(1));
  }

  @Test
  void shouldRefuseWhatCannotBeUsedWithItsReason() {
    // given
    add(0, 0, "a b", "a b");
    add(0, 1, "a1", UNREADABLE);
    add(0, 2, "a1", "a2");
    add(0, 3, null, "a1");

    // when
    reader.poll(Duration.ZERO);

    // then
    assertThat(changed)
        .containsExactly("0 KEY_MISMATCH", "1 MALFORMED", "2 KEY_MISMATCH", "3 KEY_MISMATCH");
    assertThat(table.size()).isZero();
  }

  @Test
  void shouldRefuseAReplyTopicThatMustNotBeWrittenToAndTakeItsAgentOff() {
    // given
    add(0, 0, "a1", "a1");
    add(0, 1, "a1", "a1>" + FORBIDDEN_TOPIC);

    // when
    reader.poll(Duration.ZERO);

    // then: nothing is delivered to the address before
    assertThat(changed).containsExactly("1 INVALID", "rerouted a1");
    assertThat(table.get("a1").getReplyTopic()).isEqualTo(FORBIDDEN_TOPIC);
  }

  @Test
  void shouldTakeEachRecordOnceAlsoWhereTheRegistryDidNotAnswerInBetween() {
    // given: an agent that was retired and came back, and the registry gone
    add(0, 0, "a1", null);
    add(0, 1, "a1", "a1");
    add(1, 0, "a2", "a2");
    registryAnswers = false;
    reader.poll(Duration.ZERO);
    assertThat(changed).containsExactly("retired a1");

    // when
    registryAnswers = true;
    add(0, 1, "a1", "a1");
    add(1, 0, "a2", "a2");
    reader.poll(Duration.ZERO);

    // then: the retirement does not come again
    assertThat(changed).containsExactly("retired a1");
    assertThat(table.size()).isEqualTo(2);
  }

  @Test
  void shouldOnlyRefuseAgainWhatItReadsAgain() {
    // given
    add(0, 0, "a1", null);
    add(0, 1, "a1", "a1");
    add(0, 2, "a1", UNREADABLE);
    reader.poll(Duration.ZERO);
    changed.clear();

    // when
    reader.reread();
    add(0, 0, "a1", null);
    add(0, 1, "a1", "a1");
    add(0, 2, "a1", UNREADABLE);
    reader.poll(Duration.ZERO);

    // then
    assertThat(changed).containsExactly("2 MALFORMED");
    assertThat(table.size()).isEqualTo(1);
  }

  private AgentRegistration decode(byte[] data) {
    String text = new String(data, StandardCharsets.UTF_8);
    if (!registryAnswers) {
      throw new UndecodableRecordException(Reason.REGISTRY_UNAVAILABLE, "no answer", null);
    }
    if (text.equals(UNREADABLE)) {
      throw new UndecodableRecordException(Reason.MALFORMED, "no Avro", null);
    }
    String[] parts = text.split(">");
    return new AgentRegistration(
        parts[0], parts.length > 1 ? parts[1] : null, null, "test", 0L, false, Map.of());
  }

  private void add(int partition, long offset, String key, String value) {
    kafka.addRecord(new ConsumerRecord<>(TOPIC, partition, offset, bytes(key), bytes(value)));
  }

  private static byte[] bytes(String text) {
    return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
  }

  private static PartitionInfo info(int partition) {
    Node node = new Node(0, "localhost", 9092);
    return new PartitionInfo(TOPIC, partition, node, new Node[] {node}, new Node[] {node});
  }

  private final class Recorded implements AgentsReader.Changes {

    @Override
    public void retired(String agentId) {
      changed.add("retired " + agentId);
    }

    @Override
    public void rerouted(AgentRegistration registration) {
      changed.add("rerouted " + registration.getAgentId());
    }

    @Override
    public void refused(
        ConsumerRecord<byte[], byte[]> record, DeadLetterReason reason, String detail) {
      changed.add(record.offset() + " " + reason);
    }

    @Override
    public boolean isRoutable(AgentRegistration registration) {
      return !FORBIDDEN_TOPIC.equals(registration.getReplyTopic());
    }
  }
}
