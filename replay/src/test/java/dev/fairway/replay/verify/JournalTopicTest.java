package dev.fairway.replay.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Cause;
import dev.fairway.schemas.CauseKind;
import dev.fairway.schemas.Tick;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.SchemaRegistry;
import dev.fairway.schemas.serde.SchemaRegistryException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.internals.AutoOffsetResetStrategy;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class JournalTopicTest {
  private static final String TOPIC = "fairway.journal";
  private static final TopicPartition FIRST = new TopicPartition(TOPIC, 0);
  private static final TopicPartition SECOND = new TopicPartition(TOPIC, 1);

  private final MockConsumer<byte[], byte[]> consumer =
      new MockConsumer<>(AutoOffsetResetStrategy.EARLIEST.name());
  private final SchemaRegistry registry = new OneSchemaRegistry();
  private final AvroDeserializer<AdmissionEvent> values =
      new AvroDeserializer<>(registry, AdmissionEvent.class);

  @Test
  void shouldReadAllPartitionsToTheEndTheyHadAtTheStart() throws IOException {
    // given: record 2 of the first partition is written while the journal is read
    given(Map.of(FIRST, 2L, SECOND, 1L));
    consumer.schedulePollTask(
        () -> {
          add(FIRST, 0, "a", 1);
          add(FIRST, 1, "a", 2);
          add(FIRST, 2, "a", 3);
          add(SECOND, 0, "b", 1);
        });

    // when
    List<String> read = new ArrayList<>();
    try (JournalTopic journal = new JournalTopic(consumer, values, TOPIC, Duration.ofSeconds(5))) {
      for (AdmissionEvent e = journal.next(); e != null; e = journal.next()) {
        read.add(e.getKey() + e.getSequence());
      }
    }

    // then
    assertThat(read).containsExactlyInAnyOrder("a1", "a2", "b1");
    assertThat(consumer.closed()).isTrue();
  }

  @Test
  void shouldEndWhereATransactionMarkerIsLast() throws IOException {
    // given: offset 1 is a marker, which no poll returns
    given(Map.of(FIRST, 2L, SECOND, 0L));
    consumer.schedulePollTask(() -> add(FIRST, 0, "a", 1));
    consumer.schedulePollTask(() -> consumer.seek(FIRST, 2));

    // when
    try (JournalTopic journal = new JournalTopic(consumer, values, TOPIC, Duration.ofSeconds(5))) {
      // then
      assertThat(journal.next().getSequence()).isEqualTo(1);
      assertThat(journal.next()).isNull();
    }
  }

  @Test
  void shouldNameWhatIsNoJournalRecordAndGoOnAfterIt() throws IOException {
    // given
    given(Map.of(FIRST, 6L, SECOND, 0L));
    consumer.schedulePollTask(
        () -> {
          add(FIRST, 0, "a", 1);
          add(FIRST, 1, "x\n", new byte[] {'h', 'i'});
          add(FIRST, 2, null, new byte[] {0, 0, 0, 0, 1, 2});
          add(FIRST, 3, "a", (byte[]) null);
          consumer.addRecord(
              new ConsumerRecord<>(
                  TOPIC,
                  0,
                  4,
                  "b".getBytes(StandardCharsets.UTF_8),
                  new AvroSerializer<AdmissionEvent>(registry).serialize(TOPIC, tick("a", 2))));
          add(FIRST, 5, "a", 3);
        });

    // when
    List<String> read = new ArrayList<>();
    List<String> refused = new ArrayList<>();
    try (JournalTopic journal = new JournalTopic(consumer, values, TOPIC, Duration.ofSeconds(5))) {
      boolean more = true;
      while (more) {
        try {
          AdmissionEvent event = journal.next();
          more = event != null;
          if (more) {
            read.add(event.getKey() + event.getSequence());
          }
        } catch (UnreadableRecordException e) {
          refused.add(e.getMessage());
        }
      }
    }

    // then
    assertThat(read).containsExactly("a1", "a3");
    assertThat(refused)
        .satisfiesExactly(
            e ->
                assertThat(e)
                    .startsWith(
                        "partition 0, offset 1: expected a journal record, but found one with key"
                            + " 'x?' and 2 bytes: ")
                    .contains("0x68"),
            e -> assertThat(e).startsWith("partition 0, offset 2: ").contains("no key"),
            e -> assertThat(e).startsWith("partition 0, offset 3: ").contains("it has no value"),
            e -> assertThat(e).startsWith("partition 0, offset 4: ").contains("is of key 'a'"));
  }

  @Test
  void shouldStopWhereTheRegistryDoesNotAnswer() throws IOException {
    // given: no record's fault, and none could be read
    given(Map.of(FIRST, 1L, SECOND, 0L));
    consumer.schedulePollTask(() -> add(FIRST, 0, "a", new byte[] {0, 0, 0, 0, 9, 2}));

    // when
    try (JournalTopic journal = new JournalTopic(consumer, values, TOPIC, Duration.ofSeconds(5))) {
      // then
      assertThatThrownBy(journal::next)
          .isInstanceOf(IOException.class)
          .isNotInstanceOf(UnreadableRecordException.class)
          .hasMessageContaining("Check --registry");
    }
  }

  @Test
  void shouldSayThatThereIsNoJournal() {
    assertThatThrownBy(() -> new JournalTopic(consumer, values, TOPIC, Duration.ofSeconds(1)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(TOPIC)
        .hasMessageContaining("check --bootstrap and --prefix");
    assertThat(consumer.closed()).isTrue();
  }

  @Test
  void shouldGiveUpOnABrokerThatIsSilent() throws IOException {
    // given
    given(Map.of(FIRST, 1L, SECOND, 0L));

    // when
    try (JournalTopic journal = new JournalTopic(consumer, values, TOPIC, Duration.ZERO)) {
      // then
      assertThatThrownBy(journal::next)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("nothing came");
    }
  }

  private void given(Map<TopicPartition, Long> ends) {
    Node node = Node.noNode();
    consumer.updatePartitions(
        TOPIC,
        ends.keySet().stream()
            .map(p -> new PartitionInfo(TOPIC, p.partition(), node, new Node[0], new Node[0]))
            .toList());
    consumer.updateBeginningOffsets(Map.of(FIRST, 0L, SECOND, 0L));
    consumer.updateEndOffsets(ends);
  }

  private static AdmissionEvent tick(String key, long sequence) {
    return new AdmissionEvent(
        key,
        sequence,
        1,
        0L,
        "1",
        new Cause(CauseKind.TICK, null, null, null),
        new Tick(),
        List.of());
  }

  private void add(TopicPartition partition, long offset, String key, long sequence) {
    AdmissionEvent event = tick(key, sequence);
    add(
        partition,
        offset,
        key,
        new AvroSerializer<AdmissionEvent>(registry).serialize(TOPIC, event));
  }

  private void add(TopicPartition partition, long offset, String key, byte[] value) {
    consumer.addRecord(
        new ConsumerRecord<>(
            TOPIC,
            partition.partition(),
            offset,
            key == null ? null : key.getBytes(StandardCharsets.UTF_8),
            value));
  }

  private static final class OneSchemaRegistry implements SchemaRegistry {
    @Override
    public int register(String subject, Schema schema) {
      return 1;
    }

    @Override
    public int idOf(String subject, Schema schema) {
      return 1;
    }

    @Override
    public Schema byId(int id) {
      if (id == 9) {
        throw new SchemaRegistryException(
            SchemaRegistryException.Kind.UNAVAILABLE, "The registry is down.", null);
      }
      return AdmissionEvent.getClassSchema();
    }
  }
}
