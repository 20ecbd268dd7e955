package dev.fairway.cli.embedded;

/**
 * How many partitions and replicas the topics get when they are created.
 *
 * @param partitions of each topic that is partitioned by key, 1 to 10000; never altered afterwards,
 *     because that would give keys a new owner
 * @param replicationFactor copies of each partition, 1 to 32767
 * @param minInsyncReplicas copies that have to have a record before it counts as written
 */
public record TopicLayout(int partitions, short replicationFactor, int minInsyncReplicas) {

  private static final int PARTITIONS_MAX = 10_000;

  /** For one broker in this process. */
  public static final TopicLayout EMBEDDED = new TopicLayout(4, (short) 1, 1);

  /** For a cluster of three brokers or more. */
  public static final TopicLayout CLUSTER = new TopicLayout(48, (short) 3, 2);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a number is out of its range
   */
  public TopicLayout {
    if (partitions < 1 || partitions > PARTITIONS_MAX) {
      throw new IllegalArgumentException(
          "Expected 1 to " + PARTITIONS_MAX + " partitions, but found " + partitions + ".");
    }
    if (replicationFactor < 1) {
      throw new IllegalArgumentException(
          "Expected 1 replica or more, but found " + replicationFactor + ".");
    }
    if (minInsyncReplicas < 1 || minInsyncReplicas > replicationFactor) {
      throw new IllegalArgumentException(
          "Expected 1 to %d in-sync replicas, but found %d."
              .formatted(replicationFactor, minInsyncReplicas));
    }
  }
}
