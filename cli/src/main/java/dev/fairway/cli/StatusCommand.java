package dev.fairway.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.cli.ops.ObservedCalls;
import dev.fairway.cli.ops.StatusClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code fairway status}: what holds for each quota now. */
@Command(
    name = "status",
    description = "What holds for each quota now: levels, margin, leases, queue.",
    footer = {"", "Example:", "  fairway status --watch"})
final class StatusCommand extends BaseCommand {

  @Mixin private ConnectionOptions connection;
  @Mixin private WatchOption watch;

  @Parameters(arity = "0..*", paramLabel = "QUOTA", description = "Quota ids (default: all).")
  private List<String> ids = List.of();

  @Override
  public Integer call() {
    StatusClient client = new StatusClient(connection.coordinators());
    watch.run(this, () -> show(client));
    return 0;
  }

  private void show(StatusClient client) {
    StatusClient.Overview overview = client.overview();
    Map<String, JsonNode> quotas = overview.quotas();
    for (String id : ids) {
      if (!quotas.containsKey(id)) {
        throw new CliException(
            "Expected a quota '"
                + id
                + "', but the coordinator knows only "
                + quotas.keySet()
                + "."
                + overview.gap().map(gap -> " But " + gap + ".").orElse(""));
      }
    }
    if (!ids.isEmpty()) {
      quotas.keySet().retainAll(ids);
    }
    Table table =
        new Table(
            "QUOTA",
            "STATE",
            "LEVELS / CAPS",
            "MARGIN",
            "LEASES",
            "RESERVED",
            "WAITING",
            "OLDEST WAIT",
            "HOLD");
    for (JsonNode quota : quotas.values()) {
      table.add(
          quota.path("id").asText(),
          quota.path("state").asText(),
          levels(quota),
          margin(quota),
          quota.path("open_leases").asText(),
          amounts(quota.path("reserved")),
          quota.path("waiting").asText(),
          length(quota.path("oldest_wait_ms")),
          pause(quota));
    }
    if (quotas.isEmpty()) {
      say("no quotas; define one with 'fairway quota apply FILE'");
    } else {
      table.lines().forEach(this::say);
    }
    Map<String, ObservedCalls> observed =
        connection.gateway().map(ObservedCalls::of).orElseGet(TreeMap::new);
    observed.keySet().retainAll(quotas.keySet());
    observed.forEach((quota, calls) -> say(quota + ": " + calls.sentence()));
    overview.gap().ifPresent(this::say);
    writeJson(Map.of("quotas", quotas.values(), "observed", observed));
  }

  private static String levels(JsonNode quota) {
    List<String> parts = new ArrayList<>();
    quota
        .path("levels")
        .properties()
        .forEach(
            level -> {
              if (!level.getValue().isNull()) {
                parts.add(
                    level.getKey()
                        + " "
                        + level.getValue().asText()
                        + "/"
                        + quota.path("caps").path(level.getKey()).asText("?"));
              }
            });
    return String.join(", ", parts);
  }

  private static String amounts(JsonNode amounts) {
    List<String> parts = new ArrayList<>();
    amounts
        .properties()
        .forEach(
            amount -> {
              if (amount.getValue().asLong() != 0) {
                parts.add(amount.getKey() + " " + amount.getValue().asText());
              }
            });
    return parts.isEmpty() ? null : String.join(", ", parts);
  }

  private static String margin(JsonNode quota) {
    return quota.path("margin").asText() + " " + quota.path("margin_mode").asText();
  }

  private static String length(JsonNode ms) {
    return ms.isNumber() ? HumanTime.length(ms.asLong()) : null;
  }

  /** What keeps grants back: a hold, an open breaker, a ramp; null if nothing does. */
  private static String pause(JsonNode quota) {
    List<String> parts = new ArrayList<>();
    String hold = hold(quota);
    if (hold != null) {
      parts.add(hold);
    }
    String breaker = quota.path("breaker").asText("CLOSED");
    if (!breaker.equals("CLOSED")) {
      parts.add("breaker " + breaker);
    } else if (quota.path("pace").asDouble(1) < 1) {
      parts.add(Math.round(100 * quota.path("pace").asDouble()) + " % pace");
    }
    return parts.isEmpty() ? null : String.join(", ", parts);
  }

  private static String hold(JsonNode quota) {
    if (!quota.hasNonNull("hold_reason")) {
      return null;
    }
    String reason = quota.path("hold_reason").asText();
    return quota.path("hold_until_ms").isNumber()
        ? reason
            + " for "
            + HumanTime.length(
                Math.max(0, quota.path("hold_until_ms").asLong() - quota.path("at_ms").asLong()))
        : reason + " until 'quota clear'";
  }
}
