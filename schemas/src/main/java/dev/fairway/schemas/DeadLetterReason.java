package dev.fairway.schemas;

/** Why a record is dead-lettered; names stand in header {@code fairway.reason}. */
public enum DeadLetterReason {
  /** Not the Confluent wire format. */
  MAGIC_BYTE,
  /** The bytes end before the value does. */
  TRUNCATED,
  /** The bytes go on after the value's end. */
  TRAILING_BYTES,
  /** The bytes contradict their schema. */
  MALFORMED,
  /** The registry knows no schema of that id. */
  UNKNOWN_SCHEMA,
  /** Another record, or a schema that this one's cannot be read from. */
  INCOMPATIBLE_SCHEMA,
  /** The schema is not known here, and the registry gave no answer for too long. */
  REGISTRY_UNAVAILABLE,
  /** More bytes than a record may have. */
  TOO_LARGE,
  /** No value where one is needed. */
  NO_VALUE,
  /** The record key is not that of the value, or no key that the topic may have. */
  KEY_MISMATCH,
  /** Forwarded too often, and still not in the partition of its key. */
  FOREIGN_KEY,
  /** The engine refuses it: a number or an id out of its grammar, other content under a used id. */
  INVALID,
  /** The engine itself failed on it, twice. */
  ENGINE_FAILED
}
