package dev.fairway.agent;

import dev.fairway.schemas.Ids;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskUpdate;
import dev.fairway.schemas.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Sends through one idempotent producer, from the scheduler thread, without waiting there.
 *
 * <p>A producer that has lost all brokers forgets the topics too, and {@code send()} then waits for
 * them or, as here, fails at once. So failures that may pass are tried again from here, for {@link
 * #RETRY_FOR_MS} and at most {@link #RETRYING_MAX} records at a time: a settlement that is dropped
 * leaves its lease charged. The coordinator takes a repeated record once.
 */
final class KafkaOutbox implements Outbox {
  /** How long a record is tried; Kafka's own default for one send. */
  static final long RETRY_FOR_MS = 120_000;

  /** Most records that wait to be tried again; beyond it a failure is final. */
  static final int RETRYING_MAX = 20_000;

  private static final long RETRY_FIRST_MS = 100;
  private static final long RETRY_MAX_MS = 2_000;

  private final Producer<String, SpecificRecord> producer;
  private final Topics topics;
  private final Timers timers;
  private final Set<Sending> retrying = ConcurrentHashMap.newKeySet();

  KafkaOutbox(Producer<String, SpecificRecord> producer, Topics topics, Timers timers) {
    this.producer = producer;
    this.topics = topics;
    this.timers = timers;
  }

  @Override
  public CompletableFuture<Void> send(LeaseRequest request) {
    return send(topics.requests(), request.getQuota(), request);
  }

  @Override
  public CompletableFuture<Void> send(Settlement settlement) {
    return send(topics.settlements(), settlement.getQuota(), settlement);
  }

  @Override
  public CompletableFuture<Void> send(TaskUpdate update) {
    return send(topics.tasks(), update.getQuota(), update);
  }

  /** Waits until what was handed over before is with the brokers, then closes the producer. */
  void close(Duration timeout) {
    long deadlineMs = timers.nowMs() + timeout.toMillis();
    try {
      CountDownLatch handedOver = new CountDownLatch(1);
      if (timers.execute(handedOver::countDown)) {
        var unused = handedOver.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
      }
      awaitRetries(deadlineMs - timers.nowMs());
    } catch (InterruptedException e) {
      // An interrupted thread does not wait: what is not sent yet is dropped.
      deadlineMs = timers.nowMs();
      Thread.currentThread().interrupt();
    }
    producer.close(Duration.ofMillis(Math.max(0, deadlineMs - timers.nowMs())));
    List.copyOf(retrying).forEach(sending -> sending.fail(closed()));
  }

  private void awaitRetries(long timeoutMs) throws InterruptedException {
    CompletableFuture<?>[] left =
        retrying.stream().map(sending -> sending.sent).toArray(CompletableFuture<?>[]::new);
    try {
      CompletableFuture.allOf(left).get(Math.max(0, timeoutMs), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // Each future tells its own failure.
    }
  }

  private CompletableFuture<Void> send(String topic, String quota, SpecificRecord value) {
    ProducerRecord<String, SpecificRecord> record =
        new ProducerRecord<>(topic, Ids.keyOf(quota), value);
    Sending sending = new Sending(record, timers.nowMs() + RETRY_FOR_MS);
    if (!timers.execute(sending::attempt)) {
      sending.fail(closed());
    }
    return sending.sent;
  }

  /** The last two: the producer has begun a new sequence, and the same record may go in it. */
  private static boolean mayPass(Exception error) {
    return error instanceof RetriableException
        || error instanceof OutOfOrderSequenceException
        || error instanceof InvalidProducerEpochException;
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("the admission client is closed; start another one");
  }

  /** One record on its way. */
  private final class Sending {
    final CompletableFuture<Void> sent = new CompletableFuture<>();
    private final ProducerRecord<String, SpecificRecord> record;
    private final long untilMs;
    private long delayMs = RETRY_FIRST_MS;

    Sending(ProducerRecord<String, SpecificRecord> record, long untilMs) {
      this.record = record;
      this.untilMs = untilMs;
    }

    void attempt() {
      try {
        // The callback tells all that the returned future would.
        var unused =
            producer.send(
                record,
                (metadata, error) -> {
                  if (error == null) {
                    retrying.remove(this);
                    sent.complete(null);
                  } else {
                    onFailure(error);
                  }
                });
      } catch (RuntimeException e) {
        onFailure(e);
      }
    }

    void fail(Throwable error) {
      retrying.remove(this);
      sent.completeExceptionally(error);
    }

    private void onFailure(Exception error) {
      if (!mayPass(error)
          || timers.nowMs() >= untilMs
          || (!retrying.contains(this) && retrying.size() >= RETRYING_MAX)) {
        fail(error);
        return;
      }
      retrying.add(this);
      timers.schedule(delayMs, this::attempt);
      delayMs = Math.min(2 * delayMs, RETRY_MAX_MS);
    }
  }
}
