package dev.fairway.admission.topology;

import dev.fairway.schemas.KeyPartitioner;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.Record;

/**
 * Who owns a record key, and how a record gets there. A client with another partitioner than the
 * protocol's puts a key's records into the wrong partition; deciding them there would double the
 * quota.
 */
final class ForeignKeys {
  static final String HOPS = "fairway.hops";
  static final int HOPS_MAX = 2;

  /**
   * What was wrong with the record key of a record that was forwarded to the owner of its quota.
   */
  private static final String WRONG_KEY = "fairway.wrong_key";

  private static final int WRONG_KEY_BYTES_MAX = 1_024;

  private final int partitions;

  ForeignKeys(int partitions) {
    this.partitions = partitions;
  }

  /** Whether the record lies where its key belongs; a record without a key belongs nowhere else. */
  boolean isOwn(SourceRecord source) {
    return source.key() == null
        || source.key().length == 0
        || ownerOf(source.key()) == source.partition();
  }

  /** The partition that owns a record key. */
  int ownerOf(byte[] key) {
    return KeyPartitioner.partition(key, partitions);
  }

  /** Whether it may be forwarded once more. */
  boolean mayForward(SourceRecord source) {
    return hops(source.headers()) < HOPS_MAX;
  }

  /** The same record, to be written to the same topic and the right partition. */
  Record<byte[], byte[]> forwarded(SourceRecord source) {
    return forwarded(source, source.key());
  }

  /** A record without a usable key, for the owner of that key, who says what was wrong with it. */
  Record<byte[], byte[]> forwarded(SourceRecord source, String ownerKey, String wrong) {
    Record<byte[], byte[]> forwarded = forwarded(source, ownerKey.getBytes(StandardCharsets.UTF_8));
    forwarded.headers().remove(WRONG_KEY).add(WRONG_KEY, wrong.getBytes(StandardCharsets.UTF_8));
    return forwarded;
  }

  /** What was wrong with the key that a forwarded record came with, or null. */
  static String wrongKeyOf(Headers headers) {
    Header header = headers.lastHeader(WRONG_KEY);
    return header == null || header.value() == null || header.value().length > WRONG_KEY_BYTES_MAX
        ? null
        : new String(header.value(), StandardCharsets.UTF_8);
  }

  /** Whether a record was set aside where it came from, and is here for its agent's answer only. */
  boolean isAnswerOnly(SourceRecord source) {
    return wrongKeyOf(source.headers()) != null;
  }

  private static Record<byte[], byte[]> forwarded(SourceRecord source, byte[] key) {
    Headers headers = new RecordHeaders(source.headers());
    int hops = hops(headers) + 1;
    headers.remove(HOPS);
    headers.add(HOPS, Integer.toString(hops).getBytes(StandardCharsets.UTF_8));
    return new Record<>(key, source.value(), source.appendedAtMs(), headers);
  }

  /** Unreadable counts as the most: whoever plays with the header gains no loop. */
  private static int hops(Headers headers) {
    Header header = headers.lastHeader(HOPS);
    if (header == null) {
      return 0;
    }
    try {
      int hops = Integer.parseInt(new String(header.value(), StandardCharsets.UTF_8));
      return hops < 0 ? HOPS_MAX : Math.min(hops, HOPS_MAX);
    } catch (NumberFormatException | NullPointerException e) {
      return HOPS_MAX;
    }
  }
}
