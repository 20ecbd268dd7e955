package dev.fairway.schemas.serde;

import org.apache.kafka.common.errors.SerializationException;

/** The schema registry refused, or gave no answer. The message names its address and what to do. */
public class SchemaRegistryException extends SerializationException {

  private static final long serialVersionUID = 1L;

  /** What went wrong, as far as a caller has to tell cases apart. */
  public enum Kind {
    /** No such schema or subject; asking again soon is useless. */
    NOT_FOUND,
    /** The registry answered and refused: incompatible, invalid, not authorised. */
    REFUSED,
    /** No usable answer in time; the same question may be answered later. */
    UNAVAILABLE
  }

  private final Kind kind;

  /** For implementations of {@link SchemaRegistry}; {@code cause} may be null. */
  public SchemaRegistryException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  /** What went wrong; never null. */
  public Kind kind() {
    return kind;
  }
}
