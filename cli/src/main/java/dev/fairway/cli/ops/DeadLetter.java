package dev.fairway.cli.ops;

import dev.fairway.schemas.DeadLetterFormat;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * A record that could not be handled, as the coordinator put it aside, with its reason and source
 * in headers.
 *
 * @param record as it stands in the dead-letter topic
 * @param reason short name such as {@code MALFORMED}, or null if the header is missing
 * @param detail for people, or null
 * @param sourceTopic topic it was read from, or null
 * @param sourcePartition partition it was read from, or null
 * @param sourceOffset offset it was read from, or null
 * @param truncatedFromBytes length before it was cut, or null if it is whole
 * @param redriven whether it was sent to its source topic again
 */
public record DeadLetter(
    ConsumerRecord<byte[], byte[]> record,
    String reason,
    String detail,
    String sourceTopic,
    String sourcePartition,
    String sourceOffset,
    String truncatedFromBytes,
    boolean redriven) {

  /** On a marker in the dead-letter topic: place of the dead letter that was sent again. */
  static final String REDRIVEN = "fairway.redriven";

  static DeadLetter of(ConsumerRecord<byte[], byte[]> record, boolean redriven) {
    String keyCut = header(record, DeadLetterFormat.KEY_TRUNCATED_FROM);
    String valueCut = header(record, DeadLetterFormat.TRUNCATED_FROM);
    return new DeadLetter(
        record,
        header(record, DeadLetterFormat.REASON),
        header(record, DeadLetterFormat.DETAIL),
        header(record, DeadLetterFormat.TOPIC),
        header(record, DeadLetterFormat.PARTITION),
        header(record, DeadLetterFormat.OFFSET),
        valueCut == null ? keyCut : valueCut,
        redriven);
  }

  /** The same one, after it was sent to its source topic again. */
  public DeadLetter sentAgain() {
    return new DeadLetter(
        record,
        reason,
        detail,
        sourceTopic,
        sourcePartition,
        sourceOffset,
        truncatedFromBytes,
        true);
  }

  /** Where it stands in the dead-letter topic, as {@code partition:offset}. */
  public String place() {
    return record.partition() + ":" + record.offset();
  }

  /** Where it was read from, as {@code topic/partition:offset}. */
  public String source() {
    return sourceTopic + "/" + sourcePartition + ":" + sourceOffset;
  }

  static String source(String topic, int partition, long offset) {
    return topic + "/" + partition + ":" + offset;
  }

  /** Length of the value in bytes; 0 for none. */
  public int bytes() {
    return record.value() == null ? 0 : record.value().length;
  }

  static String header(ConsumerRecord<byte[], byte[]> record, String name) {
    Header header = record.headers().lastHeader(name);
    return header == null || header.value() == null
        ? null
        : new String(header.value(), StandardCharsets.UTF_8);
  }
}
