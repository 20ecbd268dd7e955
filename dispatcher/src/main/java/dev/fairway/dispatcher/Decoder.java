package dev.fairway.dispatcher;

import dev.fairway.schemas.DeadLetterReason;
import dev.fairway.schemas.serde.UndecodableRecordException;
import dev.fairway.schemas.serde.UndecodableRecordException.Reason;
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

  private final Class<T> type;
  private final Deserializer<?> deserializer;
  private final long patienceMs;
  private final DispatcherMetrics metrics;
  private final Skipped skipped;

  /**
   * A decoder of one kind of records.
   *
   * @param type what the topic should hold; anything else is skipped
   * @param patienceMs how old a record may become of a schema that is not known, or not understood:
   *     the registry may have to be filled again, or this process be upgraded
   * @param skipped hears of each record that can never be read
   */
  Decoder(
      Class<T> type,
      Deserializer<?> deserializer,
      long patienceMs,
      DispatcherMetrics metrics,
      Skipped skipped) {
    this.type = type;
    this.deserializer = deserializer;
    this.patienceMs = patienceMs;
    this.metrics = metrics;
    this.skipped = skipped;
  }

  /** Hears of records that can never be read. */
  interface Skipped {

    /** Such a record, and why. */
    void skipped(ConsumerRecord<byte[], byte[]> record, DeadLetterReason reason, String detail);
  }

  /**
   * The value of a record; null for a tombstone, and for a value that can never be read, which is
   * counted and logged.
   *
   * @throws NotYetException if it may be readable later
   */
  T decode(ConsumerRecord<byte[], byte[]> record, long nowMs) throws NotYetException {
    try {
      Object value = deserializer.deserialize(record.topic(), record.value());
      if (value == null || type.isInstance(value)) {
        return type.cast(value);
      }
      return skip(
          record,
          DeadLetterReason.INCOMPATIBLE_SCHEMA,
          "Expected a %s, but found a %s."
              .formatted(type.getSimpleName(), value.getClass().getSimpleName()));
    } catch (SerializationException e) {
      if (isUnreachable(e) || (isUnknown(e) && nowMs - record.timestamp() < patienceMs)) {
        throw new NotYetException(e);
      }
      return skip(record, reasonOf(e), e.getMessage());
    }
  }

  /** Another deserializer, such as Confluent's, does not say what is wrong with the bytes. */
  private static DeadLetterReason reasonOf(SerializationException error) {
    return error instanceof UndecodableRecordException undecodable
        ? undecodable.deadLetterReason()
        : DeadLetterReason.MALFORMED;
  }

  private T skip(ConsumerRecord<byte[], byte[]> record, DeadLetterReason reason, String detail) {
    metrics.undecodable();
    log.error(
        "Record at {}-{} offset {} skipped: {}",
        record.topic(),
        record.partition(),
        record.offset(),
        detail);
    skipped.skipped(record, reason, detail);
    return null;
  }

  private static boolean isUnknown(SerializationException error) {
    return error instanceof UndecodableRecordException undecodable
        && (undecodable.reason() == Reason.UNKNOWN_SCHEMA
            || undecodable.reason() == Reason.INCOMPATIBLE_SCHEMA);
  }

  private static boolean isUnreachable(SerializationException error) {
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
