package dev.fairway.schemas.serde;

import dev.fairway.schemas.ProtocolData;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serializer;

/**
 * Writes generated records in the Confluent wire format under subject {@code <topic>-value} (record
 * keys: {@code <topic>-key}). A null record is a null value, Kafka's tombstone.
 *
 * <p>The first record of a topic asks the registry for its schema's id, and waits for it; later
 * ones do not. Thread-safe.
 *
 * @param <T> what is written
 */
public final class AvroSerializer<T extends SpecificRecord> implements Serializer<T> {

  private static final byte MAGIC = 0;
  private static final int SCHEMAS_MAX = 64;

  private final BoundedCache<Schema, Schema> plainSchemas = new BoundedCache<>(SCHEMAS_MAX);
  private final BoundedCache<Schema, SpecificDatumWriter<T>> writers =
      new BoundedCache<>(SCHEMAS_MAX);
  private SchemaRegistry registry;
  private boolean autoRegister = true;
  private boolean removeJavaProperties = true;
  private boolean isKey;

  /** To be configured, as Kafka does with a serializer named by class. */
  public AvroSerializer() {}

  /** A serializer of values that registers its schemas, ready to use without configuration. */
  public AvroSerializer(SchemaRegistry registry) {
    this(registry, true);
  }

  /**
   * A serializer of values, ready to use without configuration.
   *
   * @param autoRegister whether schemas are registered; if not, their ids are looked up
   */
  public AvroSerializer(SchemaRegistry registry, boolean autoRegister) {
    this.registry = registry;
    this.autoRegister = autoRegister;
  }

  /** Takes the settings of {@link AvroSerdeConfig}; a registry given before is kept. */
  @Override
  public void configure(Map<String, ?> values, boolean isKeySerializer) {
    AvroSerdeConfig config = new AvroSerdeConfig(values);
    autoRegister = config.getBoolean(AvroSerdeConfig.AUTO_REGISTER_SCHEMAS);
    removeJavaProperties = config.getBoolean(AvroSerdeConfig.AVRO_REMOVE_JAVA_PROPERTIES);
    isKey = isKeySerializer;
    if (registry == null) {
      registry = new HttpSchemaRegistry(config.registrySettings());
    }
  }

  /**
   * The bytes of a record.
   *
   * @return null for null
   * @throws SchemaRegistryException if the registry refuses the schema or gives no answer
   * @throws SerializationException if the record lacks a value that its schema demands
   */
  @Override
  public byte[] serialize(String topic, T data) {
    if (data == null) {
      return null;
    }
    if (registry == null) {
      throw new IllegalStateException(
          "Expected configure() before serialize(), or a registry in the constructor.");
    }
    Schema schema = data.getSchema();
    String subject = topic + (isKey ? "-key" : "-value");
    Schema toRegister = removeJavaProperties ? plain(schema) : schema;
    int id =
        autoRegister ? registry.register(subject, toRegister) : registry.idOf(subject, toRegister);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    bytes.write(MAGIC);
    bytes.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(id).array());
    try {
      BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
      writer(schema).write(data, encoder);
      encoder.flush();
    } catch (IOException | AvroRuntimeException | NullPointerException | ClassCastException e) {
      throw new SerializationException(
          "Expected a complete %s for topic %s, but it cannot be written: %s. Set every field that has no default."
              .formatted(schema.getFullName(), topic, e.getMessage()),
          e);
    }
    return bytes.toByteArray();
  }

  private SpecificDatumWriter<T> writer(Schema schema) {
    SpecificDatumWriter<T> writer = writers.get(schema);
    if (writer == null) {
      writer = new SpecificDatumWriter<>(schema, ProtocolData.model());
      writers.put(schema, writer);
    }
    return writer;
  }

  private Schema plain(Schema schema) {
    Schema plain = plainSchemas.get(schema);
    if (plain == null) {
      plain = PlainSchemas.withoutJavaProperties(schema);
      plainSchemas.put(schema, plain);
    }
    return plain;
  }
}
