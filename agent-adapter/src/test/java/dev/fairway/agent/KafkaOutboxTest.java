package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.KeyPartitioner;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.InMemorySchemaRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

@SuppressWarnings("FutureReturnValueIgnored") // What was sent is asserted, not each future.
class KafkaOutboxTest {
  private final MockProducer<String, SpecificRecord> producer =
      new MockProducer<>(
          Cluster.empty(),
          false,
          null,
          new StringSerializer(),
          new AvroSerializer<>(new InMemorySchemaRegistry()));
  private final VirtualTimers timers = new VirtualTimers();
  private final KafkaOutbox outbox = new KafkaOutbox(producer, new Topics("own."), timers);

  @Test
  void shouldKeyRecordsByTheKeyOfTheirQuota() {
    // when
    outbox.send(Records.request("a", "r", LeaseCall.of("key/name").build(), null));
    outbox.send(Records.cancellation("a", "key/name", "r"));

    // then
    assertThat(producer.history()).extracting(record -> record.key()).containsExactly("key", "key");
    assertThat(producer.history())
        .extracting(record -> record.topic())
        .containsExactly("own.requests", "own.settlements");
  }

  @Test
  void shouldCompleteOnceTheBrokerHasIt() {
    // given
    CompletableFuture<Void> sent = outbox.send(Records.cancellation("a", "key", "r"));
    CompletableFuture<Void> lost = outbox.send(Records.cancellation("a", "key", "s"));
    assertThat(sent).isNotDone();

    // when
    producer.completeNext();
    producer.errorNext(new RecordTooLargeException("too large"));

    // then
    assertThat(sent).isCompleted();
    assertThat(lost).isCompletedExceptionally();
  }

  @Test
  void shouldTryAgainWhileTheBrokersAreOutOfReach() {
    // given
    producer.sendException = new TimeoutException("no metadata");
    CompletableFuture<Void> sent = outbox.send(Records.cancellation("a", "key", "r"));
    timers.advance(20_000);
    assertThat(sent).isNotDone();

    // when
    producer.sendException = null;
    timers.advance(2_000);
    producer.completeNext();

    // then
    assertThat(producer.history()).hasSize(1);
    assertThat(sent).isCompleted();
    timers.advance(KafkaOutbox.RETRY_FOR_MS);
    assertThat(producer.history()).hasSize(1);
  }

  @Test
  void shouldTryAgainWhenTheProducerGaveUp() {
    // given
    CompletableFuture<Void> sent = outbox.send(Records.cancellation("a", "key", "r"));

    // when
    producer.errorNext(new TimeoutException("expired"));
    timers.advance(2_000);
    producer.completeNext();

    // then
    assertThat(sent).isCompleted();
  }

  @Test
  void shouldGiveUpAfterTwoMinutes() {
    // given
    producer.sendException = new TimeoutException("no metadata");

    // when
    CompletableFuture<Void> sent = outbox.send(Records.cancellation("a", "key", "r"));
    timers.advance(KafkaOutbox.RETRY_FOR_MS + 2_000);

    // then
    assertThat(sent).isCompletedExceptionally();
    assertThat(timers.scheduled()).isZero();
  }

  @Test
  void shouldNotKeepMoreRecordsToTryAgainThanItsBound() {
    // given
    producer.sendException = new TimeoutException("no metadata");
    for (int i = 0; i < KafkaOutbox.RETRYING_MAX; i++) {
      outbox.send(Records.cancellation("a", "key", "r"));
    }

    // when
    CompletableFuture<Void> oneMore = outbox.send(Records.cancellation("a", "key", "r"));

    // then
    assertThat(oneMore).isCompletedExceptionally();
  }

  @Test
  void shouldFailWhatIsStillToBeSentWhenClosed() {
    // given
    producer.sendException = new TimeoutException("no metadata");
    CompletableFuture<Void> sent = outbox.send(Records.cancellation("a", "key", "r"));

    // when
    outbox.close(Duration.ofMillis(1));

    // then
    assertThat(sent).isCompletedExceptionally();
  }

  @Test
  void shouldFailAtOnceWhatCanNeverBeSent() {
    // given
    producer.sendException = new RecordTooLargeException("too large");

    // when
    CompletableFuture<Void> sent = outbox.send(Records.cancellation("a", "key", "r"));

    // then
    assertThat(sent).isCompletedExceptionally();
    assertThat(timers.scheduled()).isZero();
  }

  @Test
  void shouldFailTheFutureWhenTheSchedulerIsClosed() {
    // given
    SchedulerTimers scheduler = new SchedulerTimers("test");
    KafkaOutbox closed = new KafkaOutbox(producer, new Topics(), scheduler);
    scheduler.close();

    // when
    CompletableFuture<Void> sent = closed.send(Records.cancellation("a", "key", "r"));

    // then
    assertThat(sent).isCompletedExceptionally();
    assertThat(producer.history()).isEmpty();
  }

  @Test
  void shouldCloseTheProducer() {
    // when
    outbox.close(Duration.ofSeconds(1));

    // then
    assertThat(producer.closed()).isTrue();
  }

  @Test
  void shouldNotLetPropertiesOverrideWhatTheProtocolNeeds() {
    // given
    AdmissionClientConfig config =
        AdmissionClientConfig.of("127.0.0.1:9092", "http://127.0.0.1:8081", "a")
            .clientProperties(
                Map.of(
                    ProducerConfig.ACKS_CONFIG,
                    "0",
                    ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
                    false,
                    ProducerConfig.PARTITIONER_CLASS_CONFIG,
                    "other",
                    ProducerConfig.LINGER_MS_CONFIG,
                    5,
                    ConsumerConfig.GROUP_ID_CONFIG,
                    "shared",
                    ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                    "latest",
                    "security.protocol",
                    "SASL_SSL"))
            .build();

    // when
    Map<String, Object> producing = KafkaClients.producerProperties(config);
    Map<String, Object> consuming = KafkaClients.consumerProperties(config);

    // then
    assertThat(producing)
        .containsEntry(ProducerConfig.ACKS_CONFIG, "all")
        .containsEntry(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true)
        .containsEntry(ProducerConfig.PARTITIONER_CLASS_CONFIG, KeyPartitioner.class.getName())
        .containsEntry(ProducerConfig.LINGER_MS_CONFIG, 5)
        .containsEntry("security.protocol", "SASL_SSL");
    assertThat(consuming)
        .doesNotContainKey(ConsumerConfig.GROUP_ID_CONFIG)
        .containsEntry(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest")
        .containsEntry("security.protocol", "SASL_SSL");
  }
}
