package dev.fairway.cli.ops;

import dev.fairway.admission.engine.DefinitionRules;
import dev.fairway.admission.mapping.QuotaMapper;
import dev.fairway.cli.CliException;
import dev.fairway.schemas.Quota;
import java.util.List;
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

  /** What the topic holds by record key, sorted, also what the coordinator refuses. */
  Map<String, CompactedTable.Entry<Quota>> entries() {
    return CompactedTable.entries(pipeline, pipeline.topics().quotas(), Quota.class);
  }

  /** The quota of that id, if there is one. */
  public Optional<Quota> get(String id) {
    return Optional.ofNullable(all().get(id));
  }

  /**
   * Defines a quota, or defines it anew.
   *
   * @throws CliException if the coordinator would refuse it
   */
  public void put(Quota quota) {
    List<String> violations = DefinitionRules.violations(QuotaMapper.toEngine(quota));
    if (!violations.isEmpty()) {
      throw new CliException(
          "Expected a definition of "
              + quota.getId()
              + " that the coordinator takes, but: "
              + String.join("; ", violations)
              + ". Change that with 'fairway quota apply FILE'.");
    }
    pipeline.send(pipeline.topics().quotas(), quota.getId(), quota);
  }

  /** Removes a quota: who asks for it is told that there is none. */
  public void remove(String id) {
    pipeline.send(pipeline.topics().quotas(), id, null);
  }

  /**
   * The definition of a quota.
   *
   * @throws CliException if it is not defined
   */
  public Quota existing(String id) {
    Map<String, Quota> all = all();
    Quota quota = all.get(id);
    if (quota == null) {
      throw new CliException(
          "Expected a quota '"
              + id
              + "', but found "
              + (all.isEmpty() ? "none at all" : "only " + all.keySet())
              + ". Define it with 'fairway quota apply FILE'.");
    }
    return quota;
  }
}
