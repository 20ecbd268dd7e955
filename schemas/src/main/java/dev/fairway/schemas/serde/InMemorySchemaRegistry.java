package dev.fairway.schemas.serde;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.avro.Schema;

/**
 * A registry inside one JVM, for tests and for tools that write bytes nobody else reads. Ids count
 * from 1 in the order of registration. Checks no compatibility, forgets nothing. Thread-safe.
 */
public final class InMemorySchemaRegistry implements SchemaRegistry {

  private final List<Schema> schemas = new ArrayList<>();
  private final Map<Schema, Integer> ids = new HashMap<>();
  private final Map<String, Set<Integer>> subjects = new HashMap<>();

  /** An empty registry. */
  public InMemorySchemaRegistry() {}

  @Override
  public synchronized int register(String subject, Schema schema) {
    Integer id = ids.get(schema);
    if (id == null) {
      schemas.add(schema);
      id = schemas.size();
      ids.put(schema, id);
    }
    subjects.computeIfAbsent(subject, s -> new HashSet<>()).add(id);
    return id;
  }

  @Override
  public synchronized int idOf(String subject, Schema schema) {
    Integer id = ids.get(schema);
    if (id == null || !subjects.getOrDefault(subject, Set.of()).contains(id)) {
      throw new SchemaRegistryException(
          SchemaRegistryException.Kind.NOT_FOUND,
          "Expected schema %s under subject %s, but it is not registered. Register it first."
              .formatted(schema.getFullName(), subject),
          null);
    }
    return id;
  }

  @Override
  public synchronized Schema byId(int id) {
    if (id < 1 || id > schemas.size()) {
      throw new SchemaRegistryException(
          SchemaRegistryException.Kind.NOT_FOUND,
          "Expected a schema with id %d, but ids end at %d.".formatted(id, schemas.size()),
          null);
    }
    return schemas.get(id - 1);
  }
}
