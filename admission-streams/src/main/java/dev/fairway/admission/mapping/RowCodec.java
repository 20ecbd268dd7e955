package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.schemas.ProtocolData;
import dev.fairway.schemas.StateRow;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DatumReader;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/**
 * State rows as bytes of the state store.
 *
 * <p>A value is one version byte and the Avro binary of a {@code StateRow}. Each version's writer
 * schema is bundled with the program, so a store written by an older version stays readable. A
 * store key starts with its key, length first, so that the rows of a key are one contiguous range;
 * then kind, quota and name.
 *
 * <p>Not thread-safe.
 */
public final class RowCodec {
  /** Version that is written. Raise it, and bundle its schema, when the schema changes. */
  public static final int VERSION = 2;

  private static final Map<Row.Kind, Byte> KIND_CODES = new EnumMap<>(Row.Kind.class);

  static {
    // Stored: a code is never changed or used again.
    KIND_CODES.put(Row.Kind.KEY, (byte) 1);
    KIND_CODES.put(Row.Kind.DEFINITION, (byte) 2);
    KIND_CODES.put(Row.Kind.BALANCE, (byte) 3);
    KIND_CODES.put(Row.Kind.TASK, (byte) 4);
    KIND_CODES.put(Row.Kind.REMEMBERED, (byte) 5);
    KIND_CODES.put(Row.Kind.FLOW, (byte) 6);
    KIND_CODES.put(Row.Kind.LEASE, (byte) 7);
    KIND_CODES.put(Row.Kind.WAITER, (byte) 8);
    KIND_CODES.put(Row.Kind.TENANT, (byte) 9);
    KIND_CODES.put(Row.Kind.RESERVE, (byte) 10);
    KIND_CODES.put(Row.Kind.RETRIES, (byte) 11);
    KIND_CODES.put(Row.Kind.OUTPUTS, (byte) 20);
    KIND_CODES.put(Row.Kind.ROLE, (byte) 21);
    KIND_CODES.put(Row.Kind.AGENT, (byte) 22);
    KIND_CODES.put(Row.Kind.ALERT, (byte) 23);
    KIND_CODES.put(Row.Kind.BREAKER, (byte) 12);
    KIND_CODES.put(Row.Kind.SHARE, (byte) 13);
    KIND_CODES.put(Row.Kind.TRAFFIC, (byte) 14);
  }

  private final DatumWriter<StateRow> writer = ProtocolData.writer(StateRow.class);
  private final Map<Integer, DatumReader<StateRow>> readers = new HashMap<>();
  private final ByteArrayOutputStream buffer = new ByteArrayOutputStream(512);
  private BinaryEncoder encoder;

  public RowCodec() {
    for (int version = 1; version <= VERSION; version++) {
      readers.put(version, ProtocolData.reader(bundledSchema(version), StateRow.class));
    }
  }

  /** A key and one of its rows. */
  public record KeyedRow(String key, Row row) {}

  /** The store value of a row. */
  public byte[] encode(String key, Row row) {
    try {
      buffer.reset();
      buffer.write(VERSION);
      encoder = EncoderFactory.get().directBinaryEncoder(buffer, encoder);
      writer.write(RowMapper.toAvro(key, row), encoder);
      return buffer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The key and row of a store value.
   *
   * @throws IllegalArgumentException if it is not what any known version wrote
   */
  public KeyedRow decode(byte[] value) {
    int version = value.length == 0 ? -1 : value[0];
    DatumReader<StateRow> reader = readers.get(version);
    if (reader == null) {
      throw new IllegalArgumentException(
          "Expected a state row of version 1 to "
              + VERSION
              + " but found "
              + (value.length == 0 ? "no bytes" : "version " + version)
              + "; start the version of Fairway that wrote this store, or a newer one");
    }
    try {
      StateRow row =
          reader.read(null, DecoderFactory.get().binaryDecoder(value, 1, value.length - 1, null));
      return new KeyedRow(row.getKey(), RowMapper.toEngine(row));
    } catch (IOException | RuntimeException e) {
      throw new IllegalArgumentException(
          "Expected a state row of version " + version + " but it cannot be read: " + e, e);
    }
  }

  /**
   * The store key of a row.
   *
   * @throws IllegalArgumentException if key or quota id are longer than 65535 bytes
   */
  public static byte[] storeKey(String key, RowId id) {
    byte[] prefix = keyPrefix(key);
    byte[] quota = sized(id.quotaId());
    byte[] name = id.name().getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(prefix.length + 1 + quota.length + name.length)
        .put(prefix)
        .put(KIND_CODES.get(id.kind()))
        .put(quota)
        .put(name)
        .array();
  }

  /** What the store keys of all rows of this key start with, and of no other key. */
  public static byte[] keyPrefix(String key) {
    return sized(key);
  }

  static Schema bundledSchema(int version) {
    String name = "state-row-v" + version + ".avsc";
    try (InputStream in = RowCodec.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("Expected " + name + " beside " + RowCodec.class.getName());
      }
      return new Schema.Parser().parse(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] sized(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > 0xFFFF) {
      throw new IllegalArgumentException(
          "Expected an id of at most 65535 bytes but found one of " + bytes.length);
    }
    byte[] result =
        Arrays.copyOf(
            new byte[] {(byte) (bytes.length >> 8), (byte) bytes.length}, bytes.length + 2);
    System.arraycopy(bytes, 0, result, 2, bytes.length);
    return result;
  }
}
