package dev.fairway.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.cli.config.FairwayConfig;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.config.UnknownQuotas;
import dev.fairway.cli.ops.InForce;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.Printable;
import dev.fairway.cli.ops.QuotaChange;
import dev.fairway.cli.ops.QuotaEdits;
import dev.fairway.cli.ops.QuotaStore;
import dev.fairway.cli.ops.QuotaTable;
import dev.fairway.cli.ops.StatusClient;
import dev.fairway.cli.ops.UntilRestart;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaState;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code fairway quota}: definitions of quotas. */
@Command(
    name = "quota",
    description = "Define, show, pause, clear and remove quotas.",
    subcommands = {
      QuotaCommand.Apply.class,
      QuotaCommand.ListAll.class,
      QuotaCommand.Get.class,
      QuotaCommand.Pause.class,
      QuotaCommand.Resume.class,
      QuotaCommand.Drain.class,
      QuotaCommand.Clear.class,
      QuotaCommand.Remove.class
    },
    footer = {
      "",
      "Options such as --data stand behind the command.",
      "",
      "Example:",
      "  fairway quota apply fairway.yaml --data fairway-data"
    })
final class QuotaCommand extends GroupCommand {

  /** {@code quota apply}. */
  @Command(
      name = "apply",
      description = {
        "Define the quotas of a YAML or JSON file, or define them anew.",
        "Quotas that the file does not name stay as they are.",
        "Waits until the coordinator decides by them, at most 10 s.",
        "Other sections of the file are checked, and not applied: 'up' reads them, and the models that"
            + " a gateway routes by, when it starts."
      },
      footer = {"", "Example:", "  fairway quota apply fairway.yaml --dry-run"})
  static final class Apply extends BaseCommand {

    @Mixin private ConnectionOptions connection;

    @Parameters(index = "0", paramLabel = "FILE", description = "A file with a section 'quotas'.")
    private Path file;

    @Option(names = "--dry-run", description = "Show what would change, and change nothing.")
    private boolean dryRun;

    @Override
    public Integer call() {
      FairwayConfig config = QuotaYaml.read(file);
      if (config.quotas().isEmpty()) {
        throw new CliException(
            "Expected a section 'quotas' in "
                + file
                + ", but it has none. Write 'quotas:' and below it '- id: ...' for each; nothing was"
                + " changed.");
      }
      try (Pipeline pipeline = connection.open()) {
        QuotaStore store = new QuotaStore(pipeline);
        Map<String, Quota> live = store.all();
        UnknownQuotas.named(config, live.keySet()).forEach(line -> note("fairway: " + line));
        Optional<Map<String, JsonNode>> status = dryRun ? status() : Optional.empty();
        List<Object> results = new ArrayList<>();
        List<Quota> written = new ArrayList<>();
        List<QuotaChange> changes = new ArrayList<>();
        for (Quota wanted : config.quotas()) {
          Optional.ofNullable(QuotaYaml.notEnforced(wanted))
              .ifPresent(line -> note("fairway: " + line));
          QuotaChange change =
              QuotaChange.of(live.get(wanted.getId()), wanted, config.givesStateOf(wanted.getId()));
          if (!dryRun && !change.kind().equals("none")) {
            store.put(change.quota());
          }
          written.add(change.quota());
          changes.add(change);
          say(change);
          status
              .map(quotas -> quotas.get(wanted.getId()))
              .ifPresent(now -> say("    " + liveEffect(change, now)));
          results.add(result(change));
        }
        Boolean inForce = dryRun ? null : awaitInForce(this, connection, pipeline, written);
        UntilRestart.of(config, changes).forEach(line -> note("fairway: " + line));
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("dry_run", dryRun);
        result.put("quotas", results);
        result.put("in_force", inForce);
        writeJson(result);
        return exitCode(inForce);
      }
    }

    private Optional<Map<String, JsonNode>> status() {
      return connection.hasCoordinators()
          ? Optional.of(new StatusClient(connection.coordinators()).quotasById())
          : Optional.empty();
    }

    private void say(QuotaChange change) {
      String verb =
          change.kind().equals("none")
              ? "unchanged"
              : (dryRun ? "would " : "") + change.kind() + (dryRun ? "" : "d");
      say(change.quota().getId() + ": " + verb);
      for (QuotaChange.Field field :
          change.isNew() ? List.<QuotaChange.Field>of() : change.fields()) {
        say("    " + field.field() + ": " + shown(field.from()) + " -> " + shown(field.to()));
      }
    }

    private static String liveEffect(QuotaChange change, JsonNode now) {
      long open = now.path("open_leases").asLong();
      long waiting = now.path("waiting").asLong();
      String what =
          open + " open leases keep what they were granted; " + waiting + " waiting requests ";
      if (change.quota().getState() == QuotaState.PAUSED) {
        return what + "wait until the quota is resumed";
      }
      return what
          + (change.kind().equals("none")
              ? "are not affected"
              : "are decided by the new definition");
    }

    private static Map<String, Object> result(QuotaChange change) {
      Map<String, Object> result = new LinkedHashMap<>();
      result.put("id", change.quota().getId());
      result.put("change", change.kind());
      result.put("fields", change.fields());
      return result;
    }

    private static String shown(JsonNode value) {
      return value == null ? "(none)" : value.isTextual() ? value.textValue() : value.toString();
    }
  }

  /** {@code quota list}. */
  @Command(
      name = "list",
      description =
          "List the quotas that are defined, and whether the coordinator decides by them.",
      footer = {"", "Example:", "  fairway quota list --json -"})
  static final class ListAll extends BaseCommand {

    @Mixin private ConnectionOptions connection;

    @Override
    public Integer call() {
      try (Pipeline pipeline = connection.open()) {
        List<QuotaTable.Line> lines =
            QuotaTable.read(pipeline, null, decidedBy(this, connection, null));
        Table table =
            new Table(
                "QUOTA",
                "STATE",
                "POLICY",
                "PROVIDER",
                "REQUESTS/MIN",
                "INPUT/MIN",
                "OUTPUT/MIN",
                "TOKENS/MIN",
                "CONCURRENT",
                "IN FORCE");
        lines.forEach(line -> table.add(cells(line)));
        table.lines().forEach(this::say);
        Map<String, Object> result = new LinkedHashMap<>();
        result.put(
            "quotas",
            lines.stream()
                .filter(line -> line.quota() != null)
                .map(line -> QuotaYaml.toTree(line.quota()))
                .toList());
        result.put("in_force", lines.stream().map(ListAll::inForce).toList());
        writeJson(result);
      }
      return 0;
    }

    private static Object[] cells(QuotaTable.Line line) {
      Object[] cells = new Object[10];
      cells[0] = Printable.text(line.id().getBytes(StandardCharsets.UTF_8));
      if (line.quota() != null) {
        Limits limits = line.quota().getLimits();
        cells[1] = line.quota().getState();
        cells[2] = line.quota().getPolicy();
        cells[3] = line.quota().getProvider();
        cells[4] = limits.getRequestsPerMinute();
        cells[5] = limits.getInputTokensPerMinute();
        cells[6] = limits.getOutputTokensPerMinute();
        cells[7] = limits.getTokensPerMinute();
        cells[8] = limits.getConcurrentRequests();
      }
      if (line.inForce() != null) {
        cells[9] = line.inForce() ? "yes" : "no, " + line.detail();
      }
      return cells;
    }

    private static Map<String, Object> inForce(QuotaTable.Line line) {
      Map<String, Object> result = new LinkedHashMap<>();
      result.put("id", line.id());
      result.put("in_force", line.inForce());
      result.put("detail", line.detail());
      return result;
    }
  }

  /** {@code quota get}. */
  @Command(
      name = "get",
      description = "Print the definition of a quota as YAML that 'quota apply' takes.",
      footer = {"", "Example:", "  fairway quota get anthropic.prod-1/sonnet > sonnet.yaml"})
  static final class Get extends BaseCommand {

    @Mixin private ConnectionOptions connection;

    @Parameters(index = "0", paramLabel = "QUOTA", description = "Quota id.")
    private String id;

    @Override
    public Integer call() {
      try (Pipeline pipeline = connection.open()) {
        Quota quota = new QuotaStore(pipeline).existing(id);
        QuotaTable.read(pipeline, id, decidedBy(this, connection, id)).stream()
            .filter(line -> Boolean.FALSE.equals(line.inForce()))
            .forEach(line -> note("fairway: " + id + " is not in force: " + line.detail()));
        say(QuotaYaml.toYaml(List.of(quota)).stripTrailing());
        writeJson(QuotaYaml.toTree(quota));
      }
      return 0;
    }
  }

  /** What pause, resume, drain and clear have in common: read, change, write. */
  abstract static class Change extends BaseCommand {

    @Mixin private ConnectionOptions connection;

    @Parameters(index = "0", paramLabel = "QUOTA", description = "Quota id.")
    private String id;

    abstract Quota changed(Quota live);

    abstract String said(Quota changed);

    @Override
    public Integer call() {
      try (Pipeline pipeline = connection.open()) {
        QuotaStore store = new QuotaStore(pipeline);
        Quota live = store.existing(id);
        Quota changed = changed(live);
        if (!changed.equals(live)) {
          store.put(changed);
        }
        say(id + ": " + (changed.equals(live) ? "already " : "") + said(changed));
        Boolean inForce = awaitInForce(this, connection, pipeline, List.of(changed));
        writeJson(QuotaYaml.toTree(changed));
        return exitCode(inForce);
      }
    }
  }

  /** {@code quota pause}. */
  @Command(
      name = "pause",
      description = "Stop granting: requests queue until their deadlines, open leases go on.",
      footer = {"", "Example:", "  fairway quota pause anthropic.prod-1/sonnet"})
  static final class Pause extends Change {
    @Override
    Quota changed(Quota live) {
      return QuotaEdits.withState(live, QuotaState.PAUSED);
    }

    @Override
    String said(Quota changed) {
      return "paused; requests queue until 'quota resume', and at most until their deadlines";
    }
  }

  /** {@code quota resume}. */
  @Command(
      name = "resume",
      description = "Grant again after pause or drain.",
      footer = {"", "Example:", "  fairway quota resume anthropic.prod-1/sonnet"})
  static final class Resume extends Change {
    @Override
    Quota changed(Quota live) {
      return QuotaEdits.withState(live, QuotaState.ACTIVE);
    }

    @Override
    String said(Quota changed) {
      return "active";
    }
  }

  /** {@code quota drain}. */
  @Command(
      name = "drain",
      description = "Take no new requests and serve the ones that wait.",
      footer = {"", "Example:", "  fairway quota drain anthropic.prod-1/sonnet"})
  static final class Drain extends Change {
    @Override
    Quota changed(Quota live) {
      return QuotaEdits.withState(live, QuotaState.DRAINING);
    }

    @Override
    String said(Quota changed) {
      return "draining; new requests are rejected, those in line are served";
    }
  }

  /** {@code quota clear}. */
  @Command(
      name = "clear",
      description = "End a hold that waits for an operator, after a billing or daily exhaustion.",
      footer = {"", "Example:", "  fairway quota clear anthropic.prod-1/sonnet"})
  static final class Clear extends Change {
    @Override
    Quota changed(Quota live) {
      return QuotaEdits.withClearCount(live, live.getClearCount() + 1);
    }

    @Override
    String said(Quota changed) {
      return "cleared ("
          + changed.getClearCount()
          + " times so far); a hold, if there was one, ends";
    }
  }

  /** {@code quota remove}. */
  @Command(
      name = "remove",
      description =
          "Remove a quota: requests for it are rejected, also those in line, and open leases are"
              + " still settled. 'quota drain' before serves who waits.",
      footer = {"", "Example:", "  fairway quota remove anthropic.prod-1/sonnet"})
  static final class Remove extends BaseCommand {

    @Mixin private ConnectionOptions connection;

    @Parameters(index = "0", paramLabel = "QUOTA", description = "Quota id.")
    private String id;

    @Override
    public Integer call() {
      try (Pipeline pipeline = connection.open()) {
        QuotaStore store = new QuotaStore(pipeline);
        store.existing(id);
        store.remove(id);
        say(id + ": removed; requests for it are told UNKNOWN_QUOTA within seconds");
        writeJson(Map.of("removed", id));
      }
      return 0;
    }
  }

  /**
   * Waits until the coordinators decide by what was written, and says whether they do.
   *
   * @return null if they cannot be asked
   */
  private static Boolean awaitInForce(
      BaseCommand command, ConnectionOptions connection, Pipeline pipeline, List<Quota> written) {
    if (!connection.hasCoordinators()) {
      command.note("fairway: whether it is in force is not known without --coordinator URL");
      return null;
    }
    try {
      StatusClient coordinators = new StatusClient(connection.coordinators());
      if (InForce.await(coordinators, written)) {
        command.say("in force");
        return true;
      }
      Map<String, Quota> decidedBy = coordinators.definitions(null);
      for (Quota quota : written) {
        QuotaTable.read(pipeline, quota.getId(), decidedBy).stream()
            .filter(line -> Boolean.FALSE.equals(line.inForce()))
            .forEach(line -> command.note("fairway: " + late(line)));
      }
      return false;
    } catch (CliException e) {
      command.note("fairway: whether it is in force is not known: " + e.getMessage());
      return null;
    }
  }

  private static String late(QuotaTable.Line line) {
    return "Expected "
        + line.id()
        + " in force within "
        + InForce.PATIENCE.toSeconds()
        + " s, but it is "
        + line.detail()
        + ". It is written; 'fairway quota list' shows whether it is in force.";
  }

  /** What is not in force is no success, though it is written. */
  private static int exitCode(Boolean inForce) {
    return Boolean.FALSE.equals(inForce) ? 1 : 0;
  }

  /**
   * The definitions that the coordinators decide by, or null if they cannot be asked: what is in
   * the topic is shown all the same.
   */
  private static Map<String, Quota> decidedBy(
      BaseCommand command, ConnectionOptions connection, String quota) {
    if (!connection.hasCoordinators()) {
      command.note("fairway: which of it is in force is not known without --coordinator URL");
      return null;
    }
    try {
      return new StatusClient(connection.coordinators()).definitions(quota);
    } catch (CliException e) {
      command.note("fairway: which of it is in force is not known: " + e.getMessage());
      return null;
    }
  }
}
