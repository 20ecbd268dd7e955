package dev.fairway.cli.ops;

import dev.fairway.cli.config.FairwayConfig;
import java.util.ArrayList;
import java.util.List;

/** What of a file that was applied a running {@code fairway up} does not follow. */
public final class UntilRestart {
  private UntilRestart() {}

  /**
   * A line for people about each.
   *
   * @param config the file
   * @param changes what applying its quotas changes
   */
  public static List<String> of(FairwayConfig config, List<QuotaChange> changes) {
    List<String> sections = new ArrayList<>();
    if (!config.admission().isEmpty()) {
      sections.add("admission");
    }
    if (config.gateway() != null) {
      sections.add("gateway");
    }
    if (!config.kafka().isEmpty()) {
      sections.add("kafka");
    }
    List<String> lines = new ArrayList<>();
    if (!sections.isEmpty()) {
      lines.add(
          "the file's "
              + String.join(", ", sections)
              + " is not applied: 'fairway up --config' reads that when it starts");
    }
    List<String> routed =
        changes.stream()
            .filter(UntilRestart::changesModels)
            .map(change -> change.quota().getId())
            .toList();
    if (!routed.isEmpty()) {
      lines.add(
          "a gateway that runs goes on routing by the models that it started with, not by those of "
              + String.join(", ", routed)
              + ": stop its 'up', and start it again with a --config that has them");
    }
    return lines;
  }

  private static boolean changesModels(QuotaChange change) {
    return change.fields().stream().anyMatch(field -> field.field().equals("models"));
  }
}
