package dev.fairway.admission.topology;

import dev.fairway.schemas.Topics;

/**
 * What the topology has to know.
 *
 * @param topics topic names
 * @param partitions partitions of each input topic and of the journal; 1 or more
 * @param snapshotIntervalMs how often the state of every key is written to the journal, at least 1
 * @param recordBytesMax most bytes of a record's value that are read; a journal record holds up to
 *     three times that
 * @param deadLetterBytesMax most bytes of a value that are dead-lettered whole
 */
public record TopologySettings(
    Topics topics,
    int partitions,
    long snapshotIntervalMs,
    int recordBytesMax,
    int deadLetterBytesMax) {

  /** Ten minutes between snapshots. */
  public static final long SNAPSHOT_INTERVAL_MS_DEFAULT = 600_000;

  /** 256 KiB a record: a definition with hundreds of tenants, a task blocked on a thousand. */
  public static final int RECORD_BYTES_MAX_DEFAULT = 262_144;

  /** 900,000 bytes: with headers still below what a broker takes by default. */
  public static final int DEAD_LETTER_BYTES_MAX_DEFAULT = 900_000;

  public TopologySettings {
    if (partitions < 1) {
      throw new IllegalArgumentException("Expected 1 partition or more but found " + partitions);
    }
    if (snapshotIntervalMs < 1) {
      throw new IllegalArgumentException(
          "Expected a snapshot interval of 1 ms or more but found " + snapshotIntervalMs);
    }
    if (recordBytesMax < 1 || deadLetterBytesMax < 1) {
      throw new IllegalArgumentException(
          "Expected bounds of 1 byte or more but found "
              + recordBytesMax
              + " and "
              + deadLetterBytesMax);
    }
  }

  /** Defaults for these topics. */
  public static TopologySettings of(Topics topics, int partitions) {
    return new TopologySettings(
        topics,
        partitions,
        SNAPSHOT_INTERVAL_MS_DEFAULT,
        RECORD_BYTES_MAX_DEFAULT,
        DEAD_LETTER_BYTES_MAX_DEFAULT);
  }
}
