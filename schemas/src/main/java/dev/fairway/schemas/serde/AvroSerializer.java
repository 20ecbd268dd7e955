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
  private static final int TARGETS_MAX = 1_000;

  /** A small buffer: it is made anew for each record, and without one each byte takes a lock. */
  private static final EncoderFactory ENCODERS = new EncoderFactory().configureBufferSize(512);

  private record Target(String topic, Schema schema) {}

  private record Writer<T>(byte[] header, SpecificDatumWriter<T> body) {}

  private final BoundedCache<Target, Writer<T>> writers = new BoundedCache<>(TARGETS_MAX);
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
    Writer<T> writer = writer(topic, data.getSchema());
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    bytes.writeBytes(writer.header());
    try {
      BinaryEncoder encoder = ENCODERS.binaryEncoder(bytes, null);
      writer.body().write(data, encoder);
      encoder.flush();
    } catch (IOException | AvroRuntimeException | NullPointerException | ClassCastException e) {
      throw new SerializationException(
          "Expected a complete %s for topic %s, but it cannot be written: %s. Set every field that has no default."
              .formatted(data.getSchema().getFullName(), topic, e.getMessage()),
          e);
    }
    return bytes.toByteArray();
  }

  private Writer<T> writer(String topic, Schema schema) {
    Target target = new Target(topic, schema);
    Writer<T> writer = writers.get(target);
    if (writer == null) {
      String subject = topic + (isKey ? "-key" : "-value");
      Schema registered =
          removeJavaProperties ? PlainSchemas.withoutJavaProperties(schema) : schema;
      int id =
          autoRegister
              ? registry.register(subject, registered)
              : registry.idOf(subject, registered);
      writer =
          new Writer<>(
              ByteBuffer.allocate(1 + Integer.BYTES).put(MAGIC).putInt(id).array(),
              new SpecificDatumWriter<>(schema, ProtocolData.model()));
      writers.put(target, writer);
    }
    return writer;
  }
}
