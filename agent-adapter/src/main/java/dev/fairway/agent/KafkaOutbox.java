package dev.fairway.agent;

import dev.fairway.schemas.Ids;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Topics;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Sends through one idempotent producer, from the scheduler thread: {@code send()} may wait for
 * metadata or for room in its buffer, at most {@code max.block.ms}, and then neither a caller nor
 * the poll thread should.
 */
final class KafkaOutbox implements Outbox {
  private final Producer<String, SpecificRecord> producer;
  private final Topics topics;
  private final Timers timers;

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

  /** Waits until what was handed over before is with the brokers, then closes the producer. */
  void close(Duration timeout) {
    long deadlineMs = timers.nowMs() + timeout.toMillis();
    CountDownLatch handedOver = new CountDownLatch(1);
    try {
      if (timers.execute(handedOver::countDown)) {
        var unused = handedOver.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    // An interrupt does not reach here: an interrupted thread closes at once, the rest is dropped.
    long leftMs = Thread.currentThread().isInterrupted() ? 0 : deadlineMs - timers.nowMs();
    producer.close(Duration.ofMillis(Math.max(0, leftMs)));
  }

  private CompletableFuture<Void> send(String topic, String quota, SpecificRecord value) {
    CompletableFuture<Void> sent = new CompletableFuture<>();
    boolean accepted =
        timers.execute(
            () -> {
              try {
                producer.send(
                    new ProducerRecord<>(topic, Ids.keyOf(quota), value),
                    (metadata, error) -> {
                      if (error == null) {
                        sent.complete(null);
                      } else {
                        sent.completeExceptionally(error);
                      }
                    });
              } catch (RuntimeException e) {
                sent.completeExceptionally(e);
              }
            });
    if (!accepted) {
      sent.completeExceptionally(
          new IllegalStateException("the admission client is closed; start another one"));
    }
    return sent;
  }
}
