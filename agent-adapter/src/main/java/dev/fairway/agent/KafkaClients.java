package dev.fairway.agent;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.KeyPartitioner;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerializer;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Utils;

/** Settings of the Kafka clients and serdes behind an {@link AdmissionClient}. */
final class KafkaClients {
  /** A send never waits, for metadata or for room: the outbox tries again by itself. */
  private static final int MAX_BLOCK_MS = 0;

  /** Metadata of a topic that is idle must not be forgotten: the next send would be late. */
  private static final int METADATA_IDLE_MS = 24 * 60 * 60 * 1000;

  private KafkaClients() {}

  static Map<String, Object> producerProperties(AdmissionClientConfig config) {
    Map<String, Object> properties = new HashMap<>();
    properties.put(ProducerConfig.LINGER_MS_CONFIG, 0);
    properties.put(ProducerConfig.METADATA_MAX_IDLE_CONFIG, METADATA_IDLE_MS);
    properties.put(ProducerConfig.CLIENT_ID_CONFIG, "fairway-agent-" + config.agentId());
    properties.putAll(config.clientProperties());
    properties.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, config.bootstrapServers());
    properties.put(ProducerConfig.ACKS_CONFIG, "all");
    properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, MAX_BLOCK_MS);
    properties.put(ProducerConfig.PARTITIONER_CLASS_CONFIG, KeyPartitioner.class.getName());
    // The serializers are handed over as objects.
    properties.remove(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG);
    properties.remove(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG);
    return properties;
  }

  static Map<String, Object> consumerProperties(AdmissionClientConfig config) {
    Map<String, Object> properties = new HashMap<>();
    properties.put(ConsumerConfig.CLIENT_ID_CONFIG, "fairway-agent-" + config.agentId());
    properties.putAll(config.clientProperties());
    properties.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, config.bootstrapServers());
    properties.remove(ConsumerConfig.GROUP_ID_CONFIG);
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    // For a topic that was deleted and created anew: all of it is younger than this client.
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    properties.remove(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG);
    properties.remove(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);
    return properties;
  }

  /** The serializer of values: the one named in the client properties, else the project's own. */
  static Serializer<SpecificRecord> serializer(AdmissionClientConfig config)
      throws ClassNotFoundException {
    @SuppressWarnings("unchecked")
    Serializer<SpecificRecord> serializer =
        (Serializer<SpecificRecord>)
            instance(config, ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, AvroSerializer.class);
    serializer.configure(serdeProperties(config), false);
    return serializer;
  }

  /** The deserializer of decisions: the one named in the client properties, else our own. */
  static Deserializer<?> deserializer(AdmissionClientConfig config) throws ClassNotFoundException {
    Deserializer<?> deserializer =
        (Deserializer<?>)
            instance(
                config, ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, AvroDeserializer.class);
    deserializer.configure(serdeProperties(config), false);
    return deserializer;
  }

  private static Object instance(AdmissionClientConfig config, String property, Class<?> standard)
      throws ClassNotFoundException {
    Object named = config.clientProperties().get(property);
    if (named == null) {
      return Utils.newInstance(standard);
    }
    return named instanceof Class<?>
        ? Utils.newInstance((Class<?>) named)
        : Utils.newInstance(named.toString(), Object.class);
  }

  private static Map<String, Object> serdeProperties(AdmissionClientConfig config) {
    Map<String, Object> properties = new HashMap<>();
    properties.putAll(config.clientProperties());
    properties.put("schema.registry.url", config.registryUrl());
    properties.put("specific.avro.reader", true);
    properties.put("specific.avro.value.type", Decision.class.getName());
    return properties;
  }
}
