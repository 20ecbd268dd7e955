package dev.fairway.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.cli.ops.StatusClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A list that the coordinator gives, shown with the columns that it has. */
abstract class ListingCommand extends BaseCommand {

  @Mixin private ConnectionOptions connection;
  @Mixin private WatchOption watch;

  @Option(
      names = "--quota",
      paramLabel = "QUOTA",
      description = "Of this quota alone (default: all).")
  private String quota;

  @Option(
      names = "--limit",
      paramLabel = "N",
      converter = CountConverter.class,
      defaultValue = "100",
      description = "Most entries (default: ${DEFAULT-VALUE}).")
  private int limit;

  private final String path;
  private final String field;
  private final String nothing;

  ListingCommand(String path, String field, String nothing) {
    this.path = path;
    this.field = field;
    this.nothing = nothing;
  }

  @Override
  public Integer call() {
    StatusClient client = new StatusClient(connection.coordinators());
    watch.run(this, () -> show(client));
    return 0;
  }

  private void show(StatusClient client) {
    if (quota != null && !client.quotasById().containsKey(quota)) {
      throw new CliException(
          "Expected a quota that the coordinator knows, but found '"
              + quota
              + "'. 'fairway status' lists them.");
    }
    List<JsonNode> entries = client.list(path, field, quota, limit);
    if (entries.isEmpty()) {
      say(nothing);
    } else {
      List<String> columns = new ArrayList<>();
      entries.get(0).fieldNames().forEachRemaining(columns::add);
      Table table =
          new Table(
              columns.stream()
                  .map(name -> name.toUpperCase(Locale.ROOT).replace('_', ' '))
                  .toArray(String[]::new));
      for (JsonNode entry : entries) {
        table.add(columns.stream().map(name -> cell(entry.path(name))).toArray());
      }
      table.lines().forEach(this::say);
    }
    writeJson(Map.of(field, entries));
  }

  private static String cell(JsonNode value) {
    if (value.isNull() || value.isMissingNode()) {
      return null;
    }
    return value.isValueNode() ? value.asText() : value.toString().replaceAll("[{}\"]", "");
  }
}
