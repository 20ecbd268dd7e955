package dev.fairway.schemas.serde;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskUpdate;
import dev.fairway.schemas.Topics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;

/**
 * The records that are values of the protocol's topics, with the schemas that this build brings.
 */
public final class OwnSchemas {

  private static final Map<String, Class<? extends SpecificRecord>> CLASSES =
      List.<Class<? extends SpecificRecord>>of(
              Quota.class,
              LeaseRequest.class,
              Settlement.class,
              TaskUpdate.class,
              AgentRegistration.class,
              AdmissionEvent.class,
              Decision.class)
          .stream()
          .collect(Collectors.toUnmodifiableMap(c -> schemaOf(c).getFullName(), c -> c));

  private OwnSchemas() {}

  /** The class of a record by its full Avro name; empty if the protocol has no such record. */
  public static Optional<Class<? extends SpecificRecord>> classOf(String fullName) {
    return Optional.ofNullable(CLASSES.get(fullName));
  }

  /**
   * The protocol's subjects with their schemas, without Java-only properties. Reply topics stand in
   * it once, as {@code <prefix>replies-value}.
   */
  public static Map<String, Schema> bySubject(Topics topics) {
    Map<String, Schema> subjects = new LinkedHashMap<>();
    subjects.put(topics.quotas() + "-value", plain(Quota.class));
    subjects.put(topics.requests() + "-value", plain(LeaseRequest.class));
    subjects.put(topics.settlements() + "-value", plain(Settlement.class));
    subjects.put(topics.tasks() + "-value", plain(TaskUpdate.class));
    subjects.put(topics.agents() + "-value", plain(AgentRegistration.class));
    subjects.put(topics.journal() + "-value", plain(AdmissionEvent.class));
    subjects.put(topics.prefix() + "replies-value", plain(Decision.class));
    return subjects;
  }

  /**
   * Registers every schema of the protocol. After it, a registry client that remembers what it
   * registered answers for them from memory, so that reading what this version wrote needs no
   * look-up.
   *
   * @throws SchemaRegistryException if the registry refuses one or gives no answer
   */
  public static void registerAll(SchemaRegistry registry, Topics topics) {
    bySubject(topics).forEach(registry::register);
  }

  static Schema schemaOf(Class<? extends SpecificRecord> type) {
    return SpecificData.get().getSchema(type);
  }

  private static Schema plain(Class<? extends SpecificRecord> type) {
    return PlainSchemas.withoutJavaProperties(schemaOf(type));
  }
}
