package dev.fairway.admission.mapping;

import dev.fairway.schemas.ProtocolData;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificRecord;

/** Plain Avro binary, so that a mapping is tested through the bytes and not only the objects. */
final class AvroBytes {
  private AvroBytes() {}

  @SuppressWarnings("unchecked")
  static <T extends SpecificRecord> byte[] write(T record) {
    try {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
      ProtocolData.writer((Class<T>) record.getClass()).write(record, encoder);
      encoder.flush();
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static <T extends SpecificRecord> T read(Class<T> type, byte[] bytes) {
    try {
      return ProtocolData.reader(ProtocolData.model().getSchema(type), type)
          .read(null, DecoderFactory.get().binaryDecoder(bytes, null));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
