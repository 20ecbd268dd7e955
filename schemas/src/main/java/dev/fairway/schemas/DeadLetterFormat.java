package dev.fairway.schemas;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * How a record that could not be handled is put aside: as it was read, with its reason and source
 * in headers. Thread-safe.
 *
 * <p>A dead letter must never be refused for its size: its writer would fail on it, read the record
 * again, and so for ever. So what is too long is cut, and a header says so.
 */
public final class DeadLetterFormat {
  /** Fairway's own headers begin with this; the others are the sender's. */
  public static final String OWN_PREFIX = "fairway.";

  /** Header with the name of a {@link DeadLetterReason}. */
  public static final String REASON = "fairway.reason";

  /** Header that says for people what was expected and what was found. */
  public static final String DETAIL = "fairway.detail";

  /** Header with the topic it was read from. */
  public static final String TOPIC = "fairway.topic";

  /** Header with the partition it was read from. */
  public static final String PARTITION = "fairway.partition";

  /** Header with the offset it was read from. */
  public static final String OFFSET = "fairway.offset";

  /** Header with the time it was put aside, epoch milliseconds. */
  public static final String AT_MS = "fairway.at_ms";

  /** Header with the length of the value before it was cut, bytes; left out if it is whole. */
  public static final String TRUNCATED_FROM = "fairway.truncated_from";

  /** Header with the length of the key before it was cut, bytes; left out if it is whole. */
  public static final String KEY_TRUNCATED_FROM = "fairway.key_truncated_from";

  /** Header with how many of the sender's headers were left out; left out if none was. */
  public static final String HEADERS_DROPPED = "fairway.headers_dropped";

  /** Length to which a longer value is cut, bytes. */
  public static final int TRUNCATED_BYTES = 65_536;

  private static final int KEY_BYTES_MAX = 1_024;
  private static final int HEADER_BYTES_MAX = 32_768;
  private static final int DETAIL_CHARS_MAX = 1_000;

  private final int valueBytesMax;

  /** Keeps values of up to that many bytes whole. */
  public DeadLetterFormat(int valueBytesMax) {
    this.valueBytesMax = valueBytesMax;
  }

  /**
   * A record as it was read.
   *
   * @param key null if it has none
   * @param value null for a tombstone
   */
  public record Source(
      String topic, int partition, long offset, byte[] key, byte[] value, Headers headers) {}

  /**
   * What goes to the dead-letter topic.
   *
   * @param key null if the source has none
   * @param value null if the source has none
   */
  public record Letter(byte[] key, byte[] value, Headers headers) {}

  /**
   * The dead letter of a record.
   *
   * @param detail for people; null for none
   * @param atMs now, epoch milliseconds
   */
  public Letter of(Source source, DeadLetterReason reason, String detail, long atMs) {
    Headers headers = new RecordHeaders();
    copyHeaders(source.headers(), headers);
    put(headers, REASON, reason.name());
    put(headers, DETAIL, shortened(detail));
    put(headers, TOPIC, source.topic());
    put(headers, PARTITION, Integer.toString(source.partition()));
    put(headers, OFFSET, Long.toString(source.offset()));
    put(headers, AT_MS, Long.toString(atMs));
    byte[] key = source.key();
    if (key != null && key.length > KEY_BYTES_MAX) {
      put(headers, KEY_TRUNCATED_FROM, Integer.toString(key.length));
      key = Arrays.copyOf(key, KEY_BYTES_MAX);
    }
    byte[] value = source.value();
    if (value != null && value.length > valueBytesMax) {
      put(headers, TRUNCATED_FROM, Integer.toString(value.length));
      value = Arrays.copyOf(value, Math.min(TRUNCATED_BYTES, valueBytesMax));
    }
    return new Letter(key, value, headers);
  }

  /** Without Fairway's own: a record that is sent in again must not bring its first reason. */
  private static void copyHeaders(Headers from, Headers to) {
    int bytes = 0;
    int dropped = 0;
    for (Header header : from) {
      int size = header.key().length() + (header.value() == null ? 0 : header.value().length);
      if (bytes + size > HEADER_BYTES_MAX) {
        dropped++;
      } else if (!header.key().startsWith(OWN_PREFIX)) {
        to.add(header);
        bytes += size;
      }
    }
    if (dropped > 0) {
      put(to, HEADERS_DROPPED, Integer.toString(dropped));
    }
  }

  private static String shortened(String detail) {
    String text = detail == null ? "" : detail;
    return text.length() <= DETAIL_CHARS_MAX ? text : text.substring(0, DETAIL_CHARS_MAX) + "...";
  }

  private static void put(Headers headers, String name, String value) {
    headers.add(name, value.getBytes(StandardCharsets.UTF_8));
  }
}
