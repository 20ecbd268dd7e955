package dev.fairway.admission.mapping;

/**
 * Where a journalled command came from.
 *
 * @param kind what submitted it
 * @param topic source topic of a record, else null
 * @param partition source partition of a record, else null
 * @param offset source offset of a record, else null
 */
public record Cause(Kind kind, String topic, Integer partition, Long offset) {
  /** A deadline that passed. */
  public static final Cause TICK = new Cause(Kind.TICK, null, null, null);

  /** The coordinator's own wish to write state down. */
  public static final Cause SNAPSHOT = new Cause(Kind.SNAPSHOT, null, null, null);

  /** What submits commands. */
  public enum Kind {
    RECORD,
    TICK,
    SNAPSHOT
  }

  /** A record of an input topic. */
  public static Cause record(String topic, int partition, long offset) {
    return new Cause(Kind.RECORD, topic, partition, offset);
  }
}
