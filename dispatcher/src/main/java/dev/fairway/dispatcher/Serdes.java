package dev.fairway.dispatcher;

import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;

/**
 * How values are written and read, by the classes that the settings name. Made once for a
 * dispatcher, so that what was learned from the schema registry outlives an error.
 *
 * @param serializer writes any record of the protocol
 * @param deserializer reads what it finds, which need not be what the topic should hold
 */
record Serdes(Serializer<Object> serializer, Deserializer<Object> deserializer)
    implements AutoCloseable {

  @Override
  public void close() {
    serializer.close();
    deserializer.close();
  }
}
