package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.dispatcher.ReplySender.Attempt;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class NonBlockingProducerTest {

  private final Inbox inbox = new Inbox();
  private final List<Exception> outcomes = new ArrayList<>();

  @Test
  void shouldTellOfAnAcknowledgementThroughTheInbox() {
    // given
    MockProducer<byte[], byte[]> kafka = kafka(false);
    NonBlockingProducer producer = new NonBlockingProducer(kafka, inbox);

    // when
    Attempt attempt = producer.send(record(), outcomes::add);
    kafka.completeNext();

    // then
    assertThat(attempt).isEqualTo(Attempt.ACCEPTED);
    assertThat(outcomes).isEmpty();
    inbox.drain();
    assertThat(outcomes).containsExactly((Exception) null);
  }

  @Test
  void shouldTellOfAnAcknowledgementDuringTheSendThroughTheInboxToo() {
    // given
    NonBlockingProducer producer = new NonBlockingProducer(kafka(true), inbox);

    // when
    Attempt attempt = producer.send(record(), outcomes::add);

    // then
    assertThat(attempt).isEqualTo(Attempt.ACCEPTED);
    assertThat(outcomes).isEmpty();
    inbox.drain();
    assertThat(outcomes).hasSize(1);
  }

  @Test
  void shouldTellOfALaterFailureThroughTheInbox() {
    // given
    MockProducer<byte[], byte[]> kafka = kafka(false);
    NonBlockingProducer producer = new NonBlockingProducer(kafka, inbox);
    NotLeaderOrFollowerException error = new NotLeaderOrFollowerException();

    // when
    producer.send(record(), outcomes::add);
    kafka.errorNext(error);
    inbox.drain();

    // then
    assertThat(outcomes).containsExactly(error);
  }

  @Test
  void shouldSayAtOnceWhyNothingWasSent() {
    // when / then
    assertThat(failing(new TimeoutException("not present in metadata after 0 ms")))
        .isEqualTo(Attempt.NO_METADATA);
    assertThat(failing(new TopicAuthorizationException("t"))).isEqualTo(Attempt.NO_METADATA);
    assertThat(failing(new BufferExhaustedException("full"))).isEqualTo(Attempt.BUFFER_FULL);
    assertThat(failing(new RecordTooLargeException("large"))).isEqualTo(Attempt.TOO_LARGE);
    inbox.drain();
    assertThat(outcomes).isEmpty();
  }

  @Test
  void shouldGiveUpAProducerThatIsOfNoMoreUse() {
    // when / then
    assertThatThrownBy(() -> failing(new ClusterAuthorizationException("no")))
        .isInstanceOf(KafkaException.class)
        .hasRootCauseInstanceOf(ClusterAuthorizationException.class);
  }

  /** Like KafkaProducer: a failure inside send goes to the callback and into the future. */
  private Attempt failing(RuntimeException error) {
    MockProducer<byte[], byte[]> kafka =
        new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer()) {
          @Override
          public synchronized Future<RecordMetadata> send(
              ProducerRecord<byte[], byte[]> record, Callback callback) {
            callback.onCompletion(null, error);
            return CompletableFuture.failedFuture(error);
          }
        };
    return new NonBlockingProducer(kafka, inbox).send(record(), outcomes::add);
  }

  private static MockProducer<byte[], byte[]> kafka(boolean autoComplete) {
    return new MockProducer<>(
        autoComplete, null, new ByteArraySerializer(), new ByteArraySerializer());
  }

  private static ProducerRecord<byte[], byte[]> record() {
    return new ProducerRecord<>("t", 0, new byte[1], new byte[1]);
  }
}
