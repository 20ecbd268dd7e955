package dev.fairway.it.agent;

import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.InMemorySchemaRegistry;
import dev.fairway.schemas.serde.SchemaRegistry;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.serialization.Serializer;

/** Named by class in a client's properties, as Confluent's would be; one registry for the JVM. */
public final class SharedRegistrySerializer implements Serializer<SpecificRecord> {
  static final SchemaRegistry REGISTRY = new InMemorySchemaRegistry();

  private final AvroSerializer<SpecificRecord> serializer = new AvroSerializer<>(REGISTRY);

  @Override
  public byte[] serialize(String topic, SpecificRecord data) {
    return serializer.serialize(topic, data);
  }
}
