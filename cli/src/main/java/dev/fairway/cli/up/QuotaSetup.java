package dev.fairway.cli.up;

import dev.fairway.cli.config.FairwayConfig;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.config.UnknownQuotas;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.QuotaChange;
import dev.fairway.cli.ops.QuotaStore;
import dev.fairway.schemas.Quota;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** The quotas that {@code fairway up} defines when it starts. */
final class QuotaSetup {

  /** Defined where there is no quota at all, so that a first request finds one. */
  static final Quota DEMO =
      QuotaYaml.parse(
              """
              quotas:
                - id: demo
                  provider: anthropic
                  models: ["*"]
                  limits: {requests_per_minute: 60, input_tokens_per_minute: 100000, output_tokens_per_minute: 20000}
              """,
              "demo")
          .quotas()
          .get(0);

  private final Pipeline pipeline;
  private final Consumer<String> progress;
  private List<String> ids = List.of();

  QuotaSetup(Pipeline pipeline, Consumer<String> progress) {
    this.pipeline = pipeline;
    this.progress = progress;
  }

  /**
   * Defines what the configuration says, or the demo quota if it says nothing and none is defined.
   *
   * @param config null without one
   * @return what it defines, as it stands then
   */
  List<Quota> apply(FairwayConfig config) {
    QuotaStore store = new QuotaStore(pipeline);
    Map<String, Quota> live = store.all();
    List<Quota> wanted = config == null ? List.of() : config.quotas();
    if (wanted.isEmpty() && live.isEmpty()) {
      wanted = List.of(DEMO);
    }
    List<Quota> defined = new ArrayList<>();
    for (Quota quota : wanted) {
      Optional.ofNullable(QuotaYaml.notEnforced(quota)).ifPresent(progress);
      boolean stateGiven = config != null && config.givesStateOf(quota.getId());
      QuotaChange change = QuotaChange.of(live.get(quota.getId()), quota, stateGiven);
      if (!change.kind().equals("none")) {
        store.put(change.quota());
        progress.accept("quota " + quota.getId() + " " + change.kind() + "d");
      }
      live.put(quota.getId(), change.quota());
      defined.add(change.quota());
    }
    if (config != null) {
      UnknownQuotas.named(config, live.keySet()).forEach(progress);
    }
    ids = List.copyOf(live.keySet());
    return defined;
  }

  /** Ids of all quotas that are defined since {@link #apply}, sorted. */
  List<String> ids() {
    return ids;
  }
}
