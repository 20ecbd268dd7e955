package dev.fairway.replay.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Cause;
import dev.fairway.schemas.CauseKind;
import dev.fairway.schemas.Tick;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

  private final MockConsumer<byte[], AdmissionEvent> consumer =
      new MockConsumer<>(AutoOffsetResetStrategy.EARLIEST.name());

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
    try (JournalTopic journal = new JournalTopic(consumer, TOPIC, Duration.ofSeconds(5))) {
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
    try (JournalTopic journal = new JournalTopic(consumer, TOPIC, Duration.ofSeconds(5))) {
      // then
      assertThat(journal.next().getSequence()).isEqualTo(1);
      assertThat(journal.next()).isNull();
    }
  }

  @Test
  void shouldSayThatThereIsNoJournal() {
    assertThatThrownBy(() -> new JournalTopic(consumer, TOPIC, Duration.ofSeconds(1)))
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
    try (JournalTopic journal = new JournalTopic(consumer, TOPIC, Duration.ZERO)) {
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

  private void add(TopicPartition partition, long offset, String key, long sequence) {
    AdmissionEvent event =
        new AdmissionEvent(
            key,
            sequence,
            1,
            0L,
            "1",
            new Cause(CauseKind.TICK, null, null, null),
            new Tick(),
            List.of());
    consumer.addRecord(
        new ConsumerRecord<>(TOPIC, partition.partition(), offset, new byte[0], event));
  }
}
