package dev.fairway.schemas.serde;

import dev.fairway.schemas.DeadLetterReason;
import org.apache.kafka.common.errors.SerializationException;

/**
 * The bytes of a record are not a value that the reader understands. The one exception that {@link
 * AvroDeserializer} throws for what it reads, so that a reader can set the record aside with its
 * reason.
 */
public class UndecodableRecordException extends SerializationException {

  private static final long serialVersionUID = 1L;

  /** Why the bytes cannot be read. */
  public enum Reason {
    /** The first byte is not 0x00: not the Confluent wire format. */
    MAGIC_BYTE,
    /** The bytes end before the value does. */
    TRUNCATED,
    /** The bytes go on after the value's end. */
    TRAILING_BYTES,
    /** The bytes contradict the schema they were written with, or are of hostile shape. */
    MALFORMED,
    /** The registry knows no schema of this id. */
    UNKNOWN_SCHEMA,
    /** Written with a schema that the reader's cannot resolve, or of another record. */
    INCOMPATIBLE_SCHEMA,
    /** The registry gave no answer: the record may be readable later. */
    REGISTRY_UNAVAILABLE,
    /** More bytes than the reader takes. */
    TOO_LARGE
  }

  private final Reason reason;

  /** For the deserializer; {@code cause} may be null. */
  public UndecodableRecordException(Reason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /** Why the bytes cannot be read; never null. */
  public Reason reason() {
    return reason;
  }

  /** The reason under which the record is set aside. */
  public DeadLetterReason deadLetterReason() {
    return DeadLetterReason.valueOf(reason.name());
  }

  /** Whether the same bytes may be readable later: only {@link Reason#REGISTRY_UNAVAILABLE}. */
  public boolean isRetriable() {
    return reason == Reason.REGISTRY_UNAVAILABLE;
  }
}
