package dev.fairway.admission.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class PollLoopTest {
  private static final Duration POLL = Duration.ofMillis(100);

  private final PollLoop loop = new PollLoop();

  @Test
  void shouldBeUsedUpWhenTheLastRecordOfEveryPartitionIsHandled() {
    // given
    polled("a", 0, 5, 6, 9);
    polled("b", 1, 3);

    // when, then
    loop.handled("a", 0, 5);
    loop.handled("a", 0, 6);
    loop.handled("b", 1, 3);
    assertThat(loop.usedUp()).isFalse();
    loop.handled("a", 0, 9);
    assertThat(loop.usedUp()).isTrue();
  }

  @Test
  void shouldTakeTheNewerBatchOfAPartition() {
    polled("a", 0, 1);
    polled("a", 0, 2, 3);
    loop.handled("a", 0, 1);
    assertThat(loop.usedUp()).isFalse();
    loop.handled("a", 0, 3);
    assertThat(loop.usedUp()).isTrue();
  }

  @Test
  void shouldForgetAPartitionThatIsTakenAway() {
    // given
    polled("a", 0, 1);
    polled("a", 1, 1);
    loop.timer(0, 5);

    // when
    loop.forget(0);

    // then
    assertThat(loop.usedUp()).isFalse();
    loop.handled("a", 1, 1);
    assertThat(loop.usedUp()).isTrue();
    assertThat(loop.beforePoll(POLL, 0)).isEqualTo(POLL);
  }

  @Test
  void shouldNotSleepPastATimer() {
    // given
    loop.timer(0, Duration.ofMillis(30).toNanos());
    loop.timer(1, Duration.ofMillis(20).toNanos());

    // when, then
    assertThat(loop.beforePoll(POLL, 0)).isEqualTo(Duration.ofMillis(20));
    loop.noTimer(1);
    assertThat(loop.beforePoll(POLL, 0)).isEqualTo(Duration.ofMillis(30));
    assertThat(loop.beforePoll(Duration.ZERO, 0)).isEqualTo(Duration.ZERO);
  }

  @Test
  void shouldNotSpinAtATimerThatDoesNotFire() {
    loop.timer(0, 10);
    assertThat(loop.beforePoll(POLL, 11)).isEqualTo(Duration.ZERO);
    assertThat(loop.beforePoll(POLL, 12)).isEqualTo(POLL);
  }

  @Test
  void shouldAnswerQuestionsInOrderAndRefuseTooMany() {
    // given
    List<Integer> answered = new ArrayList<>();
    int accepted = 0;
    while (loop.submit(answerWith(answered, accepted))) {
      accepted++;
    }

    // when
    loop.beforePoll(POLL, 0);

    // then
    assertThat(accepted).isEqualTo(64);
    assertThat(answered).hasSize(64).startsWith(0, 1, 2);
    assertThat(loop.submit(() -> {})).isTrue();
  }

  private static Runnable answerWith(List<Integer> answered, int number) {
    return () -> answered.add(number);
  }

  private void polled(String topic, int partition, long... offsets) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    for (long offset : offsets) {
      records.add(new ConsumerRecord<>(topic, partition, offset, null, null));
    }
    loop.polled(
        new ConsumerRecords<>(Map.of(new TopicPartition(topic, partition), records), Map.of()));
  }
}
