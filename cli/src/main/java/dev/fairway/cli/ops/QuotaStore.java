package dev.fairway.cli.ops;

import dev.fairway.schemas.Quota;
import java.util.Map;
import java.util.Optional;

/** The quotas of a pipeline: the compacted topic that operators write and the coordinator reads. */
public final class QuotaStore {

  private final Pipeline pipeline;

  /** Works over this pipeline, which stays its owner's. */
  public QuotaStore(Pipeline pipeline) {
    this.pipeline = pipeline;
  }

  /** All quotas by id, sorted. */
  public Map<String, Quota> all() {
    return CompactedTable.read(pipeline, pipeline.topics().quotas(), Quota.class);
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
