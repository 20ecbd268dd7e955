package dev.fairway.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.cli.ops.StatusClient;
import dev.fairway.schemas.WaitReason;
import dev.fairway.schemas.WaitWords;
import dev.fairway.schemas.WaitsFor;
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
      String text(JsonNode value, long nowMs, JsonNode entry) {
        return value.asText();
      }
    },

    /** Amounts by dimension. */
    AMOUNTS {
      @Override
      String text(JsonNode value, long nowMs, JsonNode entry) {
        return value.toString().replaceAll("[{}\"]", "").replace(":", " ").replace(",", ", ");
      }
    },

    /** Milliseconds as a length of time. */
    LENGTH {
      @Override
      String text(JsonNode value, long nowMs, JsonNode entry) {
        return HumanTime.length(value.asLong());
      }
    },

    /** A wait that was told; 0 is not now: nobody knows how long. */
    WAIT {
      @Override
      String text(JsonNode value, long nowMs, JsonNode entry) {
        return value.asLong() == 0 ? "unknown" : HumanTime.length(value.asLong());
      }
    },

    /** What an entry of a quota waits for. */
    WAITS_FOR {
      @Override
      String text(JsonNode value, long nowMs, JsonNode entry) {
        WaitsFor waitsFor =
            new WaitsFor(
                WaitReason.valueOf(value.path("reason").asText()),
                value.path("quota").asText(),
                value.path("dimension").isNull() ? null : value.path("dimension").asText());
        return WaitWords.of(waitsFor, entry.path("quota").asText());
      }
    },

    /** Epoch milliseconds as seen from now. */
    TIME {
      @Override
      String text(JsonNode value, long nowMs, JsonNode entry) {
        return HumanTime.relative(value.asLong(), nowMs);
      }
    };

    /** The cell of a value of an entry. */
    abstract String text(JsonNode value, long nowMs, JsonNode entry);
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
      table(columns, entries).lines().forEach(this::say);
    }
    if (quota == null) {
      overview.gap().ifPresent(this::say);
    }
    writeJson(Map.of(field, entries.stream().map(StatusClient.Entry::value).toList()));
  }

  /** The entries as a table. */
  static Table table(List<Column> columns, List<StatusClient.Entry> entries) {
    Table table = new Table(columns.stream().map(Column::heading).toArray(String[]::new));
    for (StatusClient.Entry entry : entries) {
      table.add(columns.stream().map(column -> cell(column, entry)).toArray());
    }
    return table;
  }

  private static String cell(Column column, StatusClient.Entry entry) {
    JsonNode value = entry.value().path(column.field());
    return value.isNull() || value.isMissingNode()
        ? null
        : column.shown().text(value, entry.atMs(), entry.value());
  }
}
