package dev.fairway.schemas.serde;

import org.apache.avro.Schema;

/**
 * Gives schemas their ids and ids their schemas. Implementations are safe for use by any number of
 * threads, and remember what they learned: the same question is not asked of a server twice.
 */
public interface SchemaRegistry {

  /**
   * Registers a schema as the newest version of a subject, unless the subject has it already.
   *
   * @param subject {@code <topic>-value} or {@code <topic>-key}
   * @return the schema's id, the same for equal schemas under all subjects
   * @throws SchemaRegistryException if the registry refuses the schema or gives no answer
   */
  int register(String subject, Schema schema);

  /**
   * The id of a schema that the subject already has. Registers nothing.
   *
   * @throws SchemaRegistryException if the subject does not have it, or the registry gives no
   *     answer
   */
  int idOf(String subject, Schema schema);

  /**
   * The schema behind an id.
   *
   * @throws SchemaRegistryException if no schema has this id, or the registry gives no answer
   */
  Schema byId(int id);
}
