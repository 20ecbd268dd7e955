package dev.fairway.schemas;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.avro.io.DatumReader;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;

/**
 * Avro's data model for the records of this package. Avro loads generated classes by the names in a
 * schema, and refuses all that are not trusted by a system property of the whole JVM. This model
 * knows the protocol's own classes without that property, and leaves every other name to Avro.
 * Thread-safe.
 */
public final class ProtocolData extends SpecificData {

  private static final String PACKAGE = ProtocolData.class.getPackageName();
  private static final ProtocolData INSTANCE = new ProtocolData();

  /** Bounded by the classes of this package: other names do not get in. */
  private final Map<String, Class<?>> classes = new ConcurrentHashMap<>();

  private ProtocolData() {
    super(ProtocolData.class.getClassLoader());
    // The generated classes' own encode and decode: a third of the time of Avro's field-by-field
    // way. The
    // fast reader would take precedence over them.
    setCustomCoders(true);
    setFastReaderEnabled(false);
  }

  /** The one model; it has no state that a caller could change to another's harm. */
  public static SpecificData model() {
    return INSTANCE;
  }

  /** A writer of a record, by the schema of its class. */
  public static <T extends SpecificRecord> DatumWriter<T> writer(Class<T> type) {
    return new SpecificDatumWriter<>(INSTANCE.getSchema(type), INSTANCE);
  }

  /**
   * A reader of a record.
   *
   * @param writer the schema that the bytes were written with; the schema of the class, if they are
   *     the program's own
   */
  public static <T extends SpecificRecord> DatumReader<T> reader(Schema writer, Class<T> type) {
    return new SpecificDatumReader<>(writer, INSTANCE.getSchema(type), INSTANCE);
  }

  @Override
  public Class<?> getClass(Schema schema) {
    boolean named =
        schema.getType() == Schema.Type.RECORD
            || schema.getType() == Schema.Type.ENUM
            || schema.getType() == Schema.Type.FIXED;
    if (!named || !PACKAGE.equals(schema.getNamespace())) {
      return super.getClass(schema);
    }
    Class<?> known = classes.get(schema.getFullName());
    if (known == null) {
      try {
        known = Class.forName(schema.getFullName(), false, getClassLoader());
      } catch (ClassNotFoundException e) {
        return null;
      }
      if (!SpecificRecord.class.isAssignableFrom(known) && !known.isEnum()) {
        return null;
      }
      classes.put(schema.getFullName(), known);
    }
    return known;
  }
}
