package dev.fairway.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.cli.ops.StatusClient;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A list that the coordinator gives. */
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
  private final List<Column> columns;

  /** How a value is shown to people. */
  enum Shown {
    /** As it is. */
    AS_IS {
      @Override
      String text(JsonNode value, long nowMs, JsonNode quota) {
        return value.asText();
      }
    },

    /** Amounts by dimension. */
    AMOUNTS {
      @Override
      String text(JsonNode value, long nowMs, JsonNode quota) {
        return value.toString().replaceAll("[{}\"]", "").replace(":", " ").replace(",", ", ");
      }
    },

    /** Milliseconds as a length of time. */
    LENGTH {
      @Override
      String text(JsonNode value, long nowMs, JsonNode quota) {
        return HumanTime.length(value.asLong());
      }
    },

    /** A wait that was told; 0 is not now, but a wait for others alone, which nobody knows. */
    WAIT {
      @Override
      String text(JsonNode value, long nowMs, JsonNode quota) {
        return value.asLong() == 0 ? awaited(quota) : HumanTime.length(value.asLong());
      }
    },

    /** Epoch milliseconds as seen from now. */
    TIME {
      @Override
      String text(JsonNode value, long nowMs, JsonNode quota) {
        return HumanTime.relative(value.asLong(), nowMs);
      }
    };

    /**
     * The cell of a value.
     *
     * @param quota the status of the entry's quota; a missing node if that is not known
     */
    abstract String text(JsonNode value, long nowMs, JsonNode quota);

    private static String awaited(JsonNode quota) {
      if (quota.path("state").asText().equals("PAUSED")) {
        return "resume";
      }
      return quota.path("caps").has(Dimension.CONCURRENT_REQUESTS.wireName())
          ? "slot"
          : "slot or resume";
    }
  }

  /**
   * A column of the table.
   *
   * @param field field of an entry
   */
  record Column(String heading, String field, Shown shown) {
    Column(String heading, String field) {
      this(heading, field, Shown.AS_IS);
    }
  }

  ListingCommand(String path, String field, String nothing, List<Column> columns) {
    this.path = path;
    this.field = field;
    this.nothing = nothing;
    this.columns = columns;
  }

  @Override
  public Integer call() {
    StatusClient client = new StatusClient(connection.coordinators());
    watch.run(this, () -> show(client));
    return 0;
  }

  private void show(StatusClient client) {
    StatusClient.Overview overview = client.overview();
    if (quota != null && !overview.quotas().containsKey(quota)) {
      throw new CliException(
          "Expected a quota that the coordinator knows, but found '"
              + quota
              + "'. 'fairway status' lists them."
              + overview.gap().map(gap -> " But " + gap + ".").orElse(""));
    }
    List<StatusClient.Entry> entries = client.list(path, field, quota, limit);
    if (entries.isEmpty()) {
      say(nothing);
    } else {
      table(columns, entries, overview.quotas()).lines().forEach(this::say);
    }
    if (quota == null) {
      overview.gap().ifPresent(this::say);
    }
    writeJson(Map.of(field, entries.stream().map(StatusClient.Entry::value).toList()));
  }

  /**
   * The entries as a table.
   *
   * @param quotas their status by id
   */
  static Table table(
      List<Column> columns, List<StatusClient.Entry> entries, Map<String, JsonNode> quotas) {
    Table table = new Table(columns.stream().map(Column::heading).toArray(String[]::new));
    for (StatusClient.Entry entry : entries) {
      JsonNode quota =
          quotas.getOrDefault(entry.value().path("quota").asText(), MissingNode.getInstance());
      table.add(columns.stream().map(column -> cell(column, entry, quota)).toArray());
    }
    return table;
  }

  private static String cell(Column column, StatusClient.Entry entry, JsonNode quota) {
    JsonNode value = entry.value().path(column.field());
    return value.isNull() || value.isMissingNode()
        ? null
        : column.shown().text(value, entry.atMs(), quota);
  }
}
