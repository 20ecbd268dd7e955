package dev.fairway.admission.topology;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.Record;

/**
 * Makes dead letters: the record as it was read, with its reason and source in headers.
 *
 * <p>A dead letter must never be refused for its size: a failed send aborts the transaction, and
 * the record would be read again for ever. So what is too long is cut, and a header says so.
 */
final class DeadLetters {
  static final String REASON = "fairway.reason";
  static final String DETAIL = "fairway.detail";
  static final String TOPIC = "fairway.topic";
  static final String PARTITION = "fairway.partition";
  static final String OFFSET = "fairway.offset";
  static final String AT_MS = "fairway.at_ms";
  static final String TRUNCATED_FROM = "fairway.truncated_from";
  static final String KEY_TRUNCATED_FROM = "fairway.key_truncated_from";
  static final String HEADERS_DROPPED = "fairway.headers_dropped";

  static final int TRUNCATED_BYTES = 65_536;
  private static final String OWN_PREFIX = "fairway.";
  private static final int KEY_BYTES_MAX = 1_024;
  private static final int HEADER_BYTES_MAX = 32_768;
  private static final int DETAIL_CHARS_MAX = 1_000;

  private final int valueBytesMax;

  DeadLetters(int valueBytesMax) {
    this.valueBytesMax = valueBytesMax;
  }

  Record<byte[], byte[]> of(
      SourceRecord source, DeadLetterReason reason, String detail, long atMs) {
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
    return new Record<>(key, value, Math.max(0, atMs), headers);
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
