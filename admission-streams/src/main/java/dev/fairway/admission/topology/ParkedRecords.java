package dev.fairway.admission.topology;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Records whose schema is not known here while the registry gives no answer. They wait in the
 * task's store, so that they survive a restart, and neither block the partition nor are thrown away
 * for a registry that was down for a moment. Later records of their key pass them.
 *
 * <p>Bounded in number and bytes; what does not fit is dead-lettered. Not thread-safe.
 */
final class ParkedRecords {
  static final int RECORDS_MAX = 1_000;
  static final long BYTES_MAX = 8L * 1024 * 1024;

  /** No key is that long, so no row's store key starts like this. */
  private static final byte[] PREFIX = {(byte) 0xFF, (byte) 0xFF};

  private final KeyValueStore<Bytes, byte[]> store;
  private int records;
  private long bytes;

  /** A record that waits since then. */
  record Parked(SourceRecord source, long sinceMs) {}

  ParkedRecords(KeyValueStore<Bytes, byte[]> store) {
    this.store = store;
    forEach(
        entry -> {
          records++;
          bytes += entry.value.length;
        });
  }

  static boolean isParked(Bytes storeKey) {
    byte[] key = storeKey.get();
    return key.length >= PREFIX.length && key[0] == PREFIX[0] && key[1] == PREFIX[1];
  }

  boolean isEmpty() {
    return records == 0;
  }

  /** Keeps a record; false if there is no room. */
  boolean park(SourceRecord source, long nowMs) {
    byte[] value = encode(source, nowMs);
    if (records == RECORDS_MAX || bytes + value.length > BYTES_MAX) {
      return false;
    }
    store.put(storeKey(source), value);
    records++;
    bytes += value.length;
    return true;
  }

  /** Everything that waits, by topic and offset. */
  List<Parked> all() {
    List<Parked> all = new ArrayList<>();
    forEach(entry -> all.add(decode(entry.value)));
    return all;
  }

  void remove(SourceRecord source) {
    byte[] old = store.delete(storeKey(source));
    if (old != null) {
      records--;
      bytes -= old.length;
    }
  }

  private void forEach(java.util.function.Consumer<KeyValue<Bytes, byte[]>> action) {
    Bytes from = Bytes.wrap(PREFIX);
    // No upper end: nothing sorts behind the prefix.
    try (KeyValueIterator<Bytes, byte[]> range = store.range(from, null)) {
      range.forEachRemaining(action);
    }
  }

  private static Bytes storeKey(SourceRecord source) {
    return Bytes.wrap(
        write(
            out -> {
              out.write(PREFIX);
              out.writeUTF(source.topic());
              out.writeInt(source.partition());
              out.writeLong(source.offset());
            }));
  }

  private static byte[] encode(SourceRecord source, long nowMs) {
    return write(
        out -> {
          out.writeByte(1);
          out.writeLong(nowMs);
          out.writeUTF(source.topic());
          out.writeInt(source.partition());
          out.writeLong(source.offset());
          out.writeLong(source.appendedAtMs());
          writeBytes(out, source.key());
          writeBytes(out, source.value());
          Header[] headers = source.headers().toArray();
          out.writeInt(headers.length);
          for (Header header : headers) {
            writeBytes(out, header.key().getBytes(StandardCharsets.UTF_8));
            writeBytes(out, header.value());
          }
        });
  }

  private static Parked decode(byte[] value) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value))) {
      int version = in.readByte();
      if (version != 1) {
        throw new IllegalArgumentException(
            "Expected a parked record of version 1 but found version "
                + version
                + "; start the version of Fairway that wrote it, or a newer one");
      }
      long sinceMs = in.readLong();
      String topic = in.readUTF();
      int partition = in.readInt();
      long offset = in.readLong();
      long appendedAtMs = in.readLong();
      byte[] key = readBytes(in);
      byte[] record = readBytes(in);
      Headers headers = new RecordHeaders();
      for (int i = in.readInt(); i > 0; i--) {
        String name = new String(readBytes(in), StandardCharsets.UTF_8);
        headers.add(name, readBytes(in));
      }
      return new Parked(
          new SourceRecord(topic, partition, offset, appendedAtMs, key, record, headers), sinceMs);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void writeBytes(DataOutputStream out, byte[] bytes) throws IOException {
    out.writeInt(bytes == null ? -1 : bytes.length);
    if (bytes != null) {
      out.write(bytes);
    }
  }

  private static byte[] readBytes(DataInputStream in) throws IOException {
    int length = in.readInt();
    return length < 0 ? null : in.readNBytes(length);
  }

  private interface Writing {
    void to(DataOutputStream out) throws IOException;
  }

  private static byte[] write(Writing writing) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      writing.to(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
