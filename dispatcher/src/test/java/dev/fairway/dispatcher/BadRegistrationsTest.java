package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.DeadLetterFormat;
import dev.fairway.schemas.DeadLetterReason;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class BadRegistrationsTest {

  private static final TopicPartition AGENTS = new TopicPartition("fairway.agents", 0);
  private static final long PAUSE_MS = 10_000;

  private final Inbox inbox = new Inbox();
  private final MockProducer<byte[], byte[]> kafka =
      new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer());
  private final KeptMarks marks = new KeptMarks();
  private final BadRegistrations bad = newRun();
  private long nowMs;

  @Test
  void shouldPutARecordAsideWithReasonAndCoordinates() {
    // given
    add(bad, 7);

    // when
    turn(bad);

    // then
    assertThat(kafka.history()).hasSize(1);
    ProducerRecord<byte[], byte[]> letter = kafka.history().get(0);
    assertThat(letter.topic()).isEqualTo("fairway.dead-letters");
    assertThat(letter.value()).containsExactly(7);
    assertThat(header(letter, DeadLetterFormat.REASON)).isEqualTo("MALFORMED");
    assertThat(header(letter, DeadLetterFormat.DETAIL)).isEqualTo("why");
    assertThat(header(letter, DeadLetterFormat.TOPIC)).isEqualTo("fairway.agents");
    assertThat(header(letter, DeadLetterFormat.PARTITION)).isEqualTo("0");
    assertThat(header(letter, DeadLetterFormat.OFFSET)).isEqualTo("7");
    assertThat(marks.kept).containsEntry(AGENTS, 8L);
  }

  @Test
  void shouldPutARecordAsideOnceHoweverOftenItIsReadAndWhoeverReadsIt() {
    // given
    add(bad, 7);
    add(bad, 7);
    turn(bad);

    // when: the same run reads the table again, and then the next run does
    add(bad, 7);
    turn(bad);
    BadRegistrations next = newRun();
    add(next, 7);
    add(next, 9);
    turn(next);

    // then
    assertThat(offsets()).containsExactly("7", "9");
    assertThat(marks.kept).containsEntry(AGENTS, 10L);
  }

  @Test
  void shouldWriteAgainAfterAPauseWhatFailedAndNothingElse() {
    // given
    add(bad, 1);
    add(bad, 2);
    bad.turn(nowMs);
    inbox.drain();
    kafka.errorNext(new NotLeaderOrFollowerException());
    kafka.completeNext();
    inbox.drain();
    assertThat(marks.kept).isEmpty();

    // when
    turn(bad);
    assertThat(kafka.history()).hasSize(2);
    nowMs += PAUSE_MS;
    turn(bad);

    // then
    assertThat(offsets()).containsExactly("1", "2", "1");
    assertThat(marks.kept).containsEntry(AGENTS, 3L);
  }

  @Test
  void shouldWriteNothingWhileItDoesNotKnowWhatWasWritten() {
    // given
    marks.error = new GroupAuthorizationException("fairway.dispatcher-agents");
    add(bad, 1);

    // when
    turn(bad);

    // then
    assertThat(kafka.history()).isEmpty();

    // when
    marks.error = null;
    turn(bad);
    nowMs += PAUSE_MS;
    turn(bad);

    // then
    assertThat(offsets()).containsExactly("1");
  }

  @Test
  void shouldHoldAFewAndAskForTheOthersAgain() {
    // given
    int all = 2 * BadRegistrations.WAITING_MAX + 1;
    int reads = 1;
    addAll(all);

    // when
    for (int turns = 0; turns < 10; turns++) {
      if (turn(bad)) {
        reads++;
        addAll(all);
      }
    }

    // then
    assertThat(reads).isEqualTo(3);
    assertThat(offsets()).hasSize(all).doesNotHaveDuplicates();
    assertThat(marks.kept).containsEntry(AGENTS, (long) all);
  }

  private void addAll(int count) {
    for (int offset = 0; offset < count; offset++) {
      add(bad, offset);
    }
  }

  private void add(BadRegistrations to, long offset) {
    ConsumerRecord<byte[], byte[]> record =
        new ConsumerRecord<>(
            "fairway.agents", 0, offset, new byte[] {1}, new byte[] {(byte) offset});
    to.add(record, DeadLetterReason.MALFORMED, "why", nowMs);
  }

  private BadRegistrations newRun() {
    return new BadRegistrations(
        "fairway.dead-letters",
        new NonBlockingProducer(kafka, inbox),
        marks,
        new DispatcherMetrics(new SimpleMeterRegistry()));
  }

  /** One turn, and all that follows from it. */
  private boolean turn(BadRegistrations of) {
    boolean reread = of.turn(nowMs);
    inbox.drain();
    boolean more = true;
    while (more) {
      more = kafka.completeNext();
    }
    inbox.drain();
    return reread;
  }

  private List<String> offsets() {
    List<String> offsets = new ArrayList<>();
    kafka.history().forEach(letter -> offsets.add(header(letter, DeadLetterFormat.OFFSET)));
    return offsets;
  }

  private static String header(ProducerRecord<byte[], byte[]> record, String name) {
    return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
  }

  /** Marks that outlive a run. */
  private final class KeptMarks implements ReadMarks {

    private final Map<TopicPartition, Long> kept = new HashMap<>();
    private RuntimeException error;

    @Override
    public void read(Consumer<Answer> answer) {
      Answer now = new Answer(Map.copyOf(kept), error);
      inbox.post(() -> answer.accept(now));
    }

    @Override
    public void write(Map<TopicPartition, Long> written, Consumer<Answer> answer) {
      kept.putAll(written);
      inbox.post(() -> answer.accept(new Answer(Map.of(), null)));
    }
  }
}
