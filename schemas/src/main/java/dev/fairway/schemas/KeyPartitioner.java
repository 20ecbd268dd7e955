package dev.fairway.schemas;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.utils.Utils;

/**
 * Puts a record where its key belongs: murmur2 over the part of the record key before the first
 * slash. For a record key without a slash that is Kafka's own default for keyed records; a quota id
 * {@code key/name} lands where {@code key} lands, so all quotas of a key share a partition.
 *
 * <p>A record without a key goes to partition 0, always: it belongs to no quota, and the reader has
 * to dead-letter it wherever it lands. Stateless and safe for use by any number of threads.
 */
public final class KeyPartitioner implements Partitioner {

  private static final byte SEPARATOR = '/';

  /** For Kafka, which creates partitioners by class name. */
  public KeyPartitioner() {}

  /**
   * The partition that owns a key.
   *
   * @param key a key or a quota id, of which only the key counts; null: partition 0
   * @param partitions how many partitions the topic has, 1 or more
   * @throws IllegalArgumentException if {@code partitions} is below 1
   */
  public static int partition(String key, int partitions) {
    return partition(key == null ? null : key.getBytes(StandardCharsets.UTF_8), partitions);
  }

  /**
   * The partition that owns a record key as it stands in the record.
   *
   * @param recordKey UTF-8 bytes of a key or a quota id; null: partition 0
   * @param partitions how many partitions the topic has, 1 or more
   * @throws IllegalArgumentException if {@code partitions} is below 1
   */
  public static int partition(byte[] recordKey, int partitions) {
    if (partitions < 1) {
      throw new IllegalArgumentException(
          "Expected 1 partition or more, but found %d.".formatted(partitions));
    }
    return recordKey == null ? 0 : Utils.toPositive(Utils.murmur2(keyPart(recordKey))) % partitions;
  }

  private static byte[] keyPart(byte[] recordKey) {
    // A byte of a multi-byte UTF-8 character is never 0x2F, so bytes can be searched as they are.
    for (int i = 0; i < recordKey.length; i++) {
      if (recordKey[i] == SEPARATOR) {
        return Arrays.copyOf(recordKey, i);
      }
    }
    return recordKey;
  }

  @Override
  public int partition(
      String topic, Object key, byte[] keyBytes, Object value, byte[] valueBytes, Cluster cluster) {
    return partition(keyBytes, cluster.partitionsForTopic(topic).size());
  }

  @Override
  public void close() {}

  @Override
  public void configure(Map<String, ?> configs) {}
}
