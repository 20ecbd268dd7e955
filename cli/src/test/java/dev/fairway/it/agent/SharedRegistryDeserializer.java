package dev.fairway.it.agent;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.serde.AvroDeserializer;
import org.apache.kafka.common.serialization.Deserializer;

/** Reads decisions with the registry of {@link SharedRegistrySerializer}. */
public final class SharedRegistryDeserializer implements Deserializer<Decision> {
  private final AvroDeserializer<Decision> deserializer =
      new AvroDeserializer<>(SharedRegistrySerializer.REGISTRY, Decision.class);

  @Override
  public Decision deserialize(String topic, byte[] bytes) {
    return deserializer.deserialize(topic, bytes);
  }
}
