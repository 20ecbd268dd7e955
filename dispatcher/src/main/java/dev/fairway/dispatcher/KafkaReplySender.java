package dev.fairway.dispatcher;

import dev.fairway.dispatcher.Reply.Payload;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Sends replies through the producer. Used by the loop's thread. */
final class KafkaReplySender implements ReplySender {

  /**
   * Spring's header, by which its clients find the request that a reply belongs to. Others read the
   * request id in the decision, so it is set only if the request brought bytes to echo.
   */
  static final String CORRELATION_HEADER = "kafka_correlationId";

  private final NonBlockingProducer producer;
  private final Outcomes outcomes;

  KafkaReplySender(NonBlockingProducer producer, Outcomes outcomes) {
    this.producer = producer;
    this.outcomes = outcomes;
  }

  @Override
  public Attempt send(Route route, Reply reply) {
    Payload payload = reply.payload();
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(route.topic(), route.partition(), payload.key(), payload.value());
    if (payload.correlation() != null) {
      record.headers().add(CORRELATION_HEADER, payload.correlation());
    }
    return producer.send(record, error -> outcomes.completed(reply, error));
  }

  /** Hears what became of accepted replies. Called by the loop's thread. */
  interface Outcomes {

    /**
     * Called once for each accepted reply.
     *
     * @param error null if it was acknowledged
     */
    void completed(Reply reply, Exception error);
  }
}
