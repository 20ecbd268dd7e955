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

  private final int partitions;

  ForeignKeys(int partitions) {
    this.partitions = partitions;
  }

  /** Whether the record lies where its key belongs; a record without a key belongs nowhere else. */
  boolean isOwn(SourceRecord source) {
    return source.key() == null
        || source.key().length == 0
        || ownerOf(source) == source.partition();
  }

  /** The partition that owns its record key. */
  int ownerOf(SourceRecord source) {
    return KeyPartitioner.partition(source.key(), partitions);
  }

  /** Whether it may be forwarded once more. */
  boolean mayForward(SourceRecord source) {
    return hops(source.headers()) < HOPS_MAX;
  }

  /** The same record, to be written to the same topic and the right partition. */
  Record<byte[], byte[]> forwarded(SourceRecord source) {
    Headers headers = new RecordHeaders(source.headers());
    int hops = hops(headers) + 1;
    headers.remove(HOPS);
    headers.add(HOPS, Integer.toString(hops).getBytes(StandardCharsets.UTF_8));
    return new Record<>(source.key(), source.value(), source.appendedAtMs(), headers);
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
