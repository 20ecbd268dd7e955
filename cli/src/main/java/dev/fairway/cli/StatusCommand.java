package dev.fairway.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.cli.ops.ObservedCalls;
import dev.fairway.cli.ops.StatusClient;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
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
                + "', but the coordinator knows "
                + (quotas.isEmpty() ? "none" : "only " + quotas.keySet())
                + "."
                + overview
                    .gap()
                    .map(gap -> " But " + gap + ".")
                    .orElse(" Define it with 'fairway quota apply FILE'."));
      }
    }
    if (!ids.isEmpty()) {
      quotas.keySet().retainAll(ids);
    }
    if (quotas.isEmpty()) {
      say("no quotas here; 'fairway quota apply FILE' defines one");
    } else {
      table(quotas.values()).lines().forEach(this::say);
    }
    Map<String, ObservedCalls> observed =
        connection
            .gateway()
            .map(gateway -> ObservedCalls.of(gateway, this::say))
            .orElseGet(TreeMap::new);
    observed.keySet().retainAll(quotas.keySet());
    observed.forEach((quota, calls) -> say(quota + ": " + calls.sentence()));
    overview.gap().ifPresent(this::say);
    writeJson(Map.of("quotas", quotas.values(), "observed", observed));
  }

  /**
   * A row for each limit of each quota, narrow enough for a terminal; what belongs to the quota as
   * a whole stands in the first of its rows, and what keeps grants back in a line below them.
   */
  static Table table(Collection<JsonNode> quotas) {
    Table table =
        new Table(
            "QUOTA",
            "STATE",
            "MARGIN",
            "LEASES",
            "WAITING",
            "OLDEST",
            "LIMIT",
            "LEVEL / CAP",
            "RESERVED");
    for (JsonNode quota : quotas) {
      Object[] whole = {
        quota.path("id").asText(),
        quota.path("state").asText(),
        margin(quota),
        quota.path("open_leases").asText(),
        quota.path("waiting").asText(),
        length(quota.path("oldest_wait_ms"))
      };
      for (String limit : limits(quota)) {
        table.add(row(whole, quota, limit));
        Arrays.fill(whole, "");
      }
      String pause = pause(quota);
      if (pause != null) {
        table.addLine("  kept back by: " + pause);
      }
    }
    return table;
  }

  private static Object[] row(Object[] whole, JsonNode quota, String limit) {
    Object[] row = Arrays.copyOf(whole, whole.length + 3);
    row[whole.length] = limit;
    row[whole.length + 1] =
        quota.path("levels").path(limit).asText("?")
            + "/"
            + quota.path("caps").path(limit).asText("?");
    JsonNode reserved = quota.path("reserved").path(limit);
    row[whole.length + 2] = reserved.asLong() == 0 ? null : reserved.asText();
    return row;
  }

  /** The dimensions that are limited; a quota has at least one. */
  private static List<String> limits(JsonNode quota) {
    List<String> names = new ArrayList<>();
    quota
        .path("levels")
        .properties()
        .forEach(
            level -> {
              if (!level.getValue().isNull()) {
                names.add(level.getKey());
              }
            });
    return names;
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
