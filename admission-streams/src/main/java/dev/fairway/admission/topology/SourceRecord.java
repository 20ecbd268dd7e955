package dev.fairway.admission.topology;

import org.apache.kafka.common.header.Headers;

/**
 * A record as it was read.
 *
 * @param topic source topic
 * @param partition source partition
 * @param offset source offset
 * @param appendedAtMs broker's append time
 * @param key key bytes, or null
 * @param value value bytes, or null
 * @param headers headers; not to be changed
 */
@SuppressWarnings("ArrayRecordComponent") // Carried through, never compared.
record SourceRecord(
    String topic,
    int partition,
    long offset,
    long appendedAtMs,
    byte[] key,
    byte[] value,
    Headers headers) {

  /** Where it stands, for messages. */
  String coordinates() {
    return topic + "-" + partition + "@" + offset;
  }
}
