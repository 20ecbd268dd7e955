package dev.fairway.dispatcher;

import dev.fairway.dispatcher.ReplySender.Attempt;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * An idempotent producer whose sends never wait, neither for metadata nor for memory. Used by the
 * loop's thread; outcomes come through the inbox.
 */
final class NonBlockingProducer implements AutoCloseable {

  private static final long BUFFER_BYTES = 64L << 20;
  private static final int BATCH_BYTES = 8 << 10;
  private static final int REQUEST_TIMEOUT_MS = 5_000;
  private static final int DELIVERY_TIMEOUT_MS = 10_000;
  private static final int RETRY_BACKOFF_MS = 20;

  private final Producer<byte[], byte[]> producer;
  private final Inbox inbox;

  NonBlockingProducer(Producer<byte[], byte[]> producer, Inbox inbox) {
    this.producer = producer;
    this.inbox = inbox;
  }

  /** A producer for this cluster. */
  static NonBlockingProducer open(DispatcherConfig config, Inbox inbox) {
    Map<String, Object> settings = new HashMap<>();
    settings.put(ProducerConfig.CLIENT_ID_CONFIG, "fairway-dispatcher");
    settings.put(ProducerConfig.RETRY_BACKOFF_MS_CONFIG, RETRY_BACKOFF_MS);
    settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, BUFFER_BYTES);
    settings.put(ProducerConfig.BATCH_SIZE_CONFIG, BATCH_BYTES);
    settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, REQUEST_TIMEOUT_MS);
    settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, DELIVERY_TIMEOUT_MS);
    settings.put(ProducerConfig.LINGER_MS_CONFIG, 0);
    settings.putAll(config.clientSettings());
    settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    settings.put(ProducerConfig.ACKS_CONFIG, "all");
    settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, 0);
    return new NonBlockingProducer(
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer()), inbox);
  }

  /**
   * Sends a record, or says at once why not.
   *
   * @param outcome called by the loop's thread, once, if the record was accepted
   */
  Attempt send(ProducerRecord<byte[], byte[]> record, Outcome outcome) {
    SendCallback callback = new SendCallback(outcome);
    // The callback says everything that the future would.
    Future<RecordMetadata> unused = producer.send(record, callback);
    return callback.attempt();
  }

  @Override
  public void close() {
    // What is under way has been waited for; what has not come back will be sent again by the next
    // run.
    producer.close(Duration.ofMillis(100));
  }

  /** What became of an accepted record. */
  interface Outcome {

    /**
     * Called once.
     *
     * @param error null if the record was acknowledged
     */
    void completed(Exception error);
  }

  /** Tells a failure inside {@code send()} from one that comes back later. */
  private final class SendCallback implements Callback {

    private final Outcome outcome;
    private final Thread sender = Thread.currentThread();
    private boolean inSend = true;
    private Exception failedAtOnce;

    SendCallback(Outcome outcome) {
      this.outcome = outcome;
    }

    @Override
    public void onCompletion(RecordMetadata metadata, Exception error) {
      if (error != null && Thread.currentThread() == sender && inSend) {
        failedAtOnce = error;
      } else {
        inbox.post(() -> outcome.completed(error));
      }
    }

    Attempt attempt() {
      inSend = false;
      if (failedAtOnce == null) {
        return Attempt.ACCEPTED;
      }
      if (failedAtOnce instanceof BufferExhaustedException) {
        return Attempt.BUFFER_FULL;
      }
      if (failedAtOnce instanceof RecordTooLargeException) {
        return Attempt.TOO_LARGE;
      }
      if (failedAtOnce instanceof TimeoutException || isOfTopic(failedAtOnce)) {
        return Attempt.NO_METADATA;
      }
      throw new KafkaException("The producer takes nothing any more", failedAtOnce);
    }

    private static boolean isOfTopic(Exception error) {
      return error instanceof TopicAuthorizationException || error instanceof InvalidTopicException;
    }
  }
}
