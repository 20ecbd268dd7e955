package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.schemas.Decision;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplyReaderTest {
  private static final String TOPIC = "fairway.replies.agent-1";
  private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest");
  private final ClientFixture client = new ClientFixture();
  private final Counters counters = new Counters();
  private final List<String> read = new ArrayList<>();
  private final List<String> missed = new ArrayList<>();
  private Handover handover = Handover.none();
  private final ReplyReader reader = reader(0);

  /** Case C54: what is written right after the start has returned must be read. */
  @Test
  void shouldStandAtTheEndOfAnExistingTopicWhenTheStartReturns() {
    // given
    createTopic(1);
    consumer.updateEndOffsets(Map.of(PARTITION, 7L));

    // when
    reader.resolve(SECOND);

    // then: resolved now, and not at the first poll
    assertThat(consumer.assignment()).containsExactly(PARTITION);
    assertThat(consumer.position(PARTITION)).isEqualTo(7);
    consumer.updateEndOffsets(Map.of(PARTITION, 8L));
    consumer.addRecord(record(7, "first"));
    reader.step();
    assertThat(read).containsExactly("first");
  }

  @Test
  void shouldReadATopicThatAppearsLaterFromItsBeginning() {
    // given
    reader.resolve(SECOND);
    assertThat(consumer.assignment()).isEmpty();
    reader.nudge();

    // when: a look in vain, then the first reply brings the topic
    reader.step();
    createTopic(1);
    consumer.updateBeginningOffsets(Map.of(PARTITION, 0L));
    consumer.updateEndOffsets(Map.of(PARTITION, 1L));
    consumer.schedulePollTask(() -> consumer.addRecord(record(0, "first")));
    reader.step();

    // then
    assertThat(read).containsExactly("first");
  }

  @Test
  void shouldRefuseAPartitionThatTheSharedTopicLacks() {
    // given
    createTopic(4);

    // when / then
    assertThatThrownBy(() -> reader(4).resolve(SECOND))
        .isInstanceOf(KafkaException.class)
        .hasMessageContaining("partition 4")
        .hasMessageContaining("it has 4");
  }

  @Test
  void shouldSkipWhatItCannotRead() {
    // given
    createTopic(1);
    consumer.updateEndOffsets(Map.of(PARTITION, 0L));
    reader.resolve(SECOND);
    consumer.addRecord(record(0, "poison"));
    consumer.addRecord(record(1, "good"));
    consumer.addRecord(new ConsumerRecord<>(TOPIC, 0, 2, null, null));

    // when
    reader.step();

    // then
    assertThat(read).containsExactly("good");
    assertThat(counters.unreadableReplies.sum()).isEqualTo(2);
  }

  @Test
  void shouldGoOnAfterAFailedPoll() {
    // given
    createTopic(1);
    consumer.updateEndOffsets(Map.of(PARTITION, 0L));
    reader.resolve(SECOND);
    consumer.setPollException(new TopicAuthorizationException(TOPIC));

    // when
    reader.step();
    consumer.addRecord(record(0, "later"));
    reader.step();

    // then
    assertThat(read).containsExactly("later");
  }

  @Test
  void shouldLookThroughWhatTheClientBeforeHasNotRead(@TempDir Path folder) {
    // given: it had read up to 4, and was killed
    Path file = folder.resolve("handover");
    try (Handover before = Handover.open(file, "rBefore.")) {
      before.read(4);
    }
    createTopic(1);
    consumer.updateBeginningOffsets(Map.of(PARTITION, 0L));
    consumer.updateEndOffsets(Map.of(PARTITION, 6L));
    try (Handover now = Handover.open(file, "rNow.")) {
      handover = now;
      ReplyReader next = reader(0);

      // when
      next.resolve(SECOND);
      for (int offset = 4; offset < 8; offset++) {
        consumer.addRecord(record(offset, "record-" + offset));
      }
      next.step();

      // then
      assertThat(missed).containsExactly("record-4", "record-5");
      assertThat(read).containsExactly("record-6", "record-7");
    }
    try (Handover after = Handover.open(file, "rAfter.")) {
      assertThat(after.position()).isEqualTo(8);
    }
  }

  @Test
  void shouldNotTakeAnythingForMissedInATopicThatWasDeletedAndCreatedAnew(@TempDir Path folder) {
    // given: nothing to look through but what is gone by now
    Path file = folder.resolve("handover");
    try (Handover before = Handover.open(file, "rBefore.")) {
      before.read(900);
    }
    createTopic(1);
    consumer.updateBeginningOffsets(Map.of(PARTITION, 0L));
    consumer.updateEndOffsets(Map.of(PARTITION, 3L));
    try (Handover now = Handover.open(file, "rNow.")) {
      handover = now;
      ReplyReader next = reader(0);

      // when
      next.resolve(SECOND);
      consumer.addRecord(record(3, "first"));
      next.step();

      // then
      assertThat(missed).isEmpty();
      assertThat(read).containsExactly("first");
    }
  }

  @Test
  void shouldCloseTheConsumerAndEndItsThread() {
    // given
    createTopic(1);
    consumer.updateEndOffsets(Map.of(PARTITION, 0L));
    reader.resolve(SECOND);
    reader.start("replies");

    // when
    reader.close(Duration.ofSeconds(10));

    // then
    assertThat(consumer.closed()).isTrue();
  }

  private ReplyReader reader(int partition) {
    return new ReplyReader(
        consumer,
        new TopicPartition(TOPIC, partition),
        (topic, bytes) -> {
          String text = bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
          if ("poison".equals(text)) {
            throw new IllegalArgumentException("poison");
          }
          return text == null ? null : client.queued(text, 1, 0);
        },
        client.timers,
        counters,
        handover,
        new ReplyReader.Handler() {
          @Override
          public void onDecision(Decision decision, long receivedAtMs) {
            read.add(decision.getRequestId());
          }

          @Override
          public void onMissed(Decision decision) {
            missed.add(decision.getRequestId());
          }

          @Override
          public boolean expectsReply() {
            return true;
          }
        });
  }

  private void createTopic(int partitions) {
    Node node = new Node(0, "127.0.0.1", 9092);
    Node[] nodes = {node};
    List<PartitionInfo> infos = new ArrayList<>();
    for (int i = 0; i < partitions; i++) {
      infos.add(new PartitionInfo(TOPIC, i, node, nodes, nodes));
    }
    consumer.updatePartitions(TOPIC, infos);
  }

  private static ConsumerRecord<byte[], byte[]> record(long offset, String requestId) {
    return new ConsumerRecord<>(TOPIC, 0, offset, null, requestId.getBytes(StandardCharsets.UTF_8));
  }
}
