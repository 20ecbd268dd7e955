package dev.fairway.dispatcher;

import dev.fairway.schemas.serde.UndecodableRecordException;
import java.io.EOFException;
import java.io.IOException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads values, and tells a record that can never be read, which is skipped, from one that cannot
 * be read yet, which must not be. Used by the loop's thread.
 *
 * @param <T> what is read
 */
final class Decoder<T> {

  private static final Logger log = LoggerFactory.getLogger(Decoder.class);

  private final Deserializer<T> deserializer;
  private final DispatcherMetrics metrics;

  Decoder(Deserializer<T> deserializer, DispatcherMetrics metrics) {
    this.deserializer = deserializer;
    this.metrics = metrics;
  }

  /**
   * The value of a record; null for a tombstone, and for a value that can never be read, which is
   * counted and logged.
   *
   * @throws NotYetException if the schema registry gives no answer
   */
  T decode(ConsumerRecord<byte[], byte[]> record) throws NotYetException {
    try {
      return deserializer.deserialize(record.topic(), record.value());
    } catch (SerializationException e) {
      if (isRetriable(e)) {
        throw new NotYetException(e);
      }
      metrics.undecodable();
      log.error(
          "Record at {}-{} offset {} skipped: {}",
          record.topic(),
          record.partition(),
          record.offset(),
          e.getMessage());
      return null;
    }
  }

  private static boolean isRetriable(SerializationException error) {
    if (error instanceof UndecodableRecordException undecodable) {
      return undecodable.isRetriable();
    }
    // Another deserializer, such as Confluent's, tells of an unreachable registry by the cause
    // alone.
    for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof IOException && !(cause instanceof EOFException)) {
        return true;
      }
    }
    return false;
  }

  /** The record may be readable later. */
  static final class NotYetException extends Exception {

    private static final long serialVersionUID = 1L;

    NotYetException(Throwable cause) {
      super(cause.getMessage(), cause);
    }
  }
}
