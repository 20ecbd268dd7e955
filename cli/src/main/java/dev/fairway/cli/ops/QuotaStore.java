package dev.fairway.cli.ops;

import dev.fairway.schemas.Quota;
import dev.fairway.schemas.serde.AvroDeserializer;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The quotas of a pipeline: the compacted topic that operators write and the coordinator reads. */
public final class QuotaStore {

  private final Pipeline pipeline;

  /** Works over this pipeline, which stays its owner's. */
  public QuotaStore(Pipeline pipeline) {
    this.pipeline = pipeline;
  }

  /** All quotas by id, sorted. */
  public Map<String, Quota> all() {
    String topic = pipeline.topics().quotas();
    Map<String, Quota> quotas = new TreeMap<>();
    try (AvroDeserializer<Quota> deserializer =
        new AvroDeserializer<>(pipeline.registry(), Quota.class)) {
      pipeline
          .reader()
          .readCompacted(topic)
          .forEach((id, value) -> quotas.put(id, deserializer.deserialize(topic, value)));
    }
    return quotas;
  }

  /** The quota of that id, if there is one. */
  public Optional<Quota> get(String id) {
    return Optional.ofNullable(all().get(id));
  }

  /** Defines a quota, or defines it anew. */
  public void put(Quota quota) {
    pipeline.send(pipeline.topics().quotas(), quota.getId(), quota);
  }
}
