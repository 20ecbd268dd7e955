package dev.fairway.admission.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.Kind;
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.schemas.StateRow;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.common.utils.Bytes;
import org.junit.jupiter.api.Test;

class RowCodecTest {
  private final RowCodec codec = new RowCodec();

  @Provide
  Arbitrary<Row> rows() {
    return RandomValues.rows();
  }

  @Property
  void shouldReadBackARow(@ForAll("rows") Row row) {
    assertThat(codec.decode(codec.encode("k", row))).isEqualTo(new RowCodec.KeyedRow("k", row));
  }

  @Property
  void shouldWriteTheSameRowAsTheSameBytes(@ForAll("rows") Row row) {
    byte[] bytes = codec.encode("k", row);
    assertThat(codec.encode("k", codec.decode(bytes).row())).isEqualTo(bytes);
  }

  @Property
  void shouldKeepStoreKeysOfAKeyTogether(@ForAll("rows") Row row) {
    // given
    byte[] prefix = RowCodec.keyPrefix("ab");

    // then
    assertThat(startsWith(RowCodec.storeKey("ab", row.id()), prefix)).isTrue();
    for (String other : List.of("a", "abc", "ac", "", "b")) {
      assertThat(startsWith(RowCodec.storeKey(other, row.id()), prefix)).isFalse();
    }
  }

  @Test
  void shouldTellRowsApartWhereIdsRunTogether() {
    // given
    Set<Bytes> keys = new HashSet<>();

    // when
    for (Kind kind : Kind.values()) {
      for (RowId id :
          List.of(
              new RowId(kind, "", ""),
              new RowId(kind, "k/a", "b"),
              new RowId(kind, "k/ab", ""),
              new RowId(kind, "", "k/ab"))) {
        keys.add(Bytes.wrap(RowCodec.storeKey("k", id)));
      }
    }

    // then
    assertThat(keys).hasSize(Kind.values().length * 4);
  }

  @Test
  void shouldBundleTheSchemaThatItWrites() {
    // If this fails, the schema of rows changed: keep the old file, raise RowCodec.VERSION and
    // bundle
    // the new schema under that number.
    assertThat(RowCodec.bundledSchema(RowCodec.VERSION)).isEqualTo(StateRow.getClassSchema());
  }

  @Test
  void shouldReadWhatVersion1Wrote() {
    // given: a task row of key "k", as version 1 wrote it
    byte[] stored = {1, 2, 'k', 12, 4, 'T', '1', 6, 20, 2, 0, 0};

    // then
    assertThat(codec.decode(stored))
        .isEqualTo(new RowCodec.KeyedRow("k", new Row.TaskRow("T1", 3, 10, 1, null, null)));
  }

  @Property
  void shouldReadEveryRowOfVersion1(@ForAll("rows") Row row) throws IOException {
    // given: quotas of version 1 had no rules
    byte[] stored = asVersion1(codec.encode("k", row));

    // when
    RowCodec.KeyedRow read = codec.decode(stored);

    // then
    assertThat(read.row().id()).isEqualTo(row.id());
    assertThat(asVersion1(codec.encode("k", read.row()))).isEqualTo(stored);
  }

  private static byte[] asVersion1(byte[] value) throws IOException {
    Schema old = RowCodec.bundledSchema(1);
    Object row =
        new GenericDatumReader<>(StateRow.getClassSchema(), old)
            .read(null, DecoderFactory.get().binaryDecoder(value, 1, value.length - 1, null));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write(1);
    BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
    new GenericDatumWriter<>(old).write(row, encoder);
    return bytes.toByteArray();
  }

  @Test
  void shouldSayWhatItCannotRead() {
    byte[] good = codec.encode("k", new Row.FlowRow("k", "a", 5, "t", 0, 0));

    assertThatThrownBy(() -> codec.decode(new byte[] {9, 1, 2}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("found version 9");
    assertThatThrownBy(() -> codec.decode(new byte[0]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("found no bytes");
    assertThatThrownBy(() -> codec.decode(Arrays.copyOf(good, good.length - 3)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cannot be read");
    assertThatThrownBy(() -> RowCodec.storeKey("k".repeat(70_000), new RowId(Kind.KEY, "", "")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most 65535 bytes");
  }

  private static boolean startsWith(byte[] bytes, byte[] prefix) {
    return bytes.length >= prefix.length
        && Arrays.equals(bytes, 0, prefix.length, prefix, 0, prefix.length);
  }
}
