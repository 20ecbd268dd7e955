package dev.fairway.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.replay.report.SimulateReport;
import dev.fairway.replay.simulate.Knobs;
import dev.fairway.replay.simulate.Policy;
import dev.fairway.replay.simulate.Study;
import dev.fairway.replay.simulate.StudyResult;
import dev.fairway.replay.simulate.StudyTable;
import dev.fairway.replay.simulate.Sweep;
import dev.fairway.replay.simulate.Verdict;
import dev.fairway.replay.world.Parameter;
import dev.fairway.replay.world.WorldOptions;
import dev.fairway.schemas.service.FileTrouble;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code fairway simulate}: policies over the same fleets, in virtual time. */
@Command(
    name = "simulate",
    description = {
      "Runs policies of admission over the same fleet in virtual time, each seed the same work for"
          + " every policy, and prints what came of it beside a clairvoyant reference.",
      "",
      "Columns: 429s per 1000 calls; input of completed turns, merged pull requests, admission wait"
          + " along a pull request's chain (planner, last worker, reviewer) and median time of a lint"
          + " leaf's turn, each over the clairvoyant's; all tokens over those of completed turns;"
          + " turns given up, and how many of them no refusal had part in.",
      "",
      "With --sweep, backoff alone would do where one does at least 97 %% of the work, merges at"
          + " least 97 %% of the pull requests, lets none wait more than 60 s longer on the mean, and"
          + " pays at most 3 %% more tokens for useful ones than fairway (fairway+knobs or the"
          + " clairvoyant where that did not run). What that one has no number of is not asked for,"
          + " such as a wait where it merged nothing. A no names what falls short."
    },
    footer = {
      "",
      "Example:",
      "  fairway simulate --agents 20 --rho 1.0 --seeds 1-10 --policies all",
      "  fairway simulate --sweep replan-cost=0,1,5 --sweep patience-s=60,600 --seeds 1-3",
      "  fairway simulate --policies fairway --knobs '{\"margin\":{\"start\":0.7}}' --headers=false"
    },
    modelTransformer = SimulateCommand.ParameterOptions.class)
final class SimulateCommand extends BaseCommand {
  private static final int SEEDS_MAX = 1000;
  private static final String REPLAN_COST = "--replan-cost";

  @Spec private CommandSpec spec;

  @Option(
      names = "--scenario",
      paramLabel = "NAME",
      defaultValue = "fleet",
      description = "What runs; fleet is the one there is (default: ${DEFAULT-VALUE}).")
  private String scenario;

  @Option(
      names = "--seeds",
      defaultValue = "1-3",
      paramLabel = "N-M|N,N",
      description = "Seeds of the runs, at most 1000 (default: ${DEFAULT-VALUE}).")
  private String seeds;

  @Option(
      names = "--policies",
      defaultValue = "all",
      paramLabel = "NAME,NAME",
      description =
          "Which to run: all, or some of backoff-no-jitter, full-jitter-30, full-jitter-120,"
              + " full-jitter-retry-after, shared-rpm, fifo-bucket, seed, fairway, clairvoyant"
              + " (default: ${DEFAULT-VALUE}). With --knobs also seed+knobs and fairway+knobs.")
  private String policies;

  @Option(
      names = REPLAN_COST,
      paramLabel = "N|N-M",
      description =
          "Cost of planning again, in inputs of the failed call: sets both --replan-cost-least and"
              + " --replan-cost-most.")
  private String replanCost;

  @Option(
      names = "--sweep",
      paramLabel = "NAME:VALUES",
      description =
          "Run once for each value of this option of the world (NAME=V,V), such as patience-s, or"
              + " of replan-cost; several make every combination. Says where backoff alone would do.")
  private List<String> sweep = new ArrayList<>();

  @Option(
      names = "--knobs",
      paramLabel = "JSON",
      description =
          "Runs seed and fairway with these fields of a quota, as in a quota's JSON, beside each of"
              + " them as it is: as seed+knobs and fairway+knobs.")
  private String knobs;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      converter = OutputFileConverter.class,
      description =
          "Write a page with the table and pictures of the first seed: 429s over the agents' turns,"
              + " waits per role, the limit used.")
  private Path html;

  @Option(
      names = "--png",
      paramLabel = "FILE",
      converter = OutputFileConverter.class,
      description = "Write the pictures of that page as one PNG.")
  private Path png;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Runs at a time, 1 to 64 (default: one for each processor).")
  private int jobs = Math.min(64, Runtime.getRuntime().availableProcessors());

  /** An option for each parameter of the world. */
  static final class ParameterOptions implements IModelTransformer {
    @Override
    public CommandSpec transform(CommandSpec command) {
      for (Parameter parameter : Parameter.values()) {
        boolean flag = parameter.isFlag();
        boolean several = parameter == Parameter.RHO;
        OptionSpec.Builder option =
            OptionSpec.builder("--" + parameter.optionName())
                .type(String.class)
                .paramLabel(flag ? "BOOLEAN" : several ? "N[,N]" : "VALUE")
                .description(
                    sentence(parameter.meaning()) + " (default: " + parameter.presetText() + ").");
        if (flag) {
          option.arity("0..1").fallbackValue("true");
        }
        command.addOption(option.build());
      }
      return command;
    }

    private static String sentence(String meaning) {
      return Character.toUpperCase(meaning.charAt(0)) + meaning.substring(1);
    }
  }

  @Override
  public Integer call() throws InterruptedException {
    List<Long> seedList;
    List<Policy> policyList;
    List<Sweep.Point> points;
    ObjectNode quotaKnobs;
    try {
      if (!scenario.equals("fleet")) {
        throw new IllegalArgumentException(
            "Expected fleet for --scenario, but found '" + scenario + "'");
      }
      if (jobs < 1 || jobs > 64) {
        throw new IllegalArgumentException("Expected 1 to 64 for --jobs, but found " + jobs);
      }
      seedList = parseSeeds();
      quotaKnobs = parseKnobs();
      policyList = parsePolicies(!quotaKnobs.isEmpty());
      points = points();
      if ((html != null || png != null) && points.size() != 1) {
        throw new IllegalArgumentException(
            "Expected one world for --html and --png, but found "
                + points.size()
                + " values of --rho and --sweep");
      }
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage() + ".", e);
    }
    Consumer<String> progress = Terminal.isStandardError() ? this::note : line -> {};
    List<String> verdicts = new ArrayList<>();
    for (Sweep.Point point : points) {
      StudyResult result = run(point, seedList, policyList, quotaKnobs, progress);
      StudyTable.lines(result).forEach(this::say);
      say("");
      verdicts.add(verdict(point, result));
      Map<String, Object> json = result.json();
      json.put(
          "backoff_alone_would_do",
          Verdict.backoffAloneWouldDo(result).map(Policy::wireName).orElse(null));
      writeJson(json);
    }
    if (!sweep.isEmpty()) {
      say("Where backoff alone would do:");
      verdicts.forEach(this::say);
    }
    return 0;
  }

  private StudyResult run(
      Sweep.Point point,
      List<Long> seedList,
      List<Policy> policyList,
      ObjectNode quotaKnobs,
      Consumer<String> progress)
      throws InterruptedException {
    try {
      Study study = new Study(point.options(), seedList, policyList, quotaKnobs);
      StudyResult result = study.run(jobs, progress);
      if (html != null || png != null) {
        draw(SimulateReport.of(study, result));
      }
      return result;
    } catch (IllegalStateException e) {
      throw new CliException(e.getMessage(), e);
    }
  }

  private void draw(SimulateReport report) {
    if (html != null) {
      write(html, report.html().getBytes(StandardCharsets.UTF_8));
    }
    if (png != null) {
      write(png, report.png());
    }
  }

  private void write(Path file, byte[] bytes) {
    try {
      Files.write(file, bytes);
      note("wrote " + file);
    } catch (IOException e) {
      throw new CliException(
          "Expected to write "
              + file
              + ", but: "
              + FileTrouble.of(e)
              + ". Name a file in a folder that exists.",
          e);
    }
  }

  private static String verdict(Sweep.Point point, StudyResult result) {
    String name = point.name().isEmpty() ? "defaults" : point.name();
    return "  " + name + ": " + Verdict.line(result);
  }

  /** The worlds asked for: the options, each value of --rho, and the sweep. */
  private List<Sweep.Point> points() {
    WorldOptions options = WorldOptions.defaults();
    List<String> axes = new ArrayList<>();
    for (Parameter parameter : Parameter.values()) {
      String name = parameter.optionName();
      String text = spec.commandLine().getParseResult().matchedOptionValue("--" + name, null);
      if (text != null && parameter == Parameter.RHO) {
        axes.add(name + "=" + text);
      } else if (text != null) {
        options = options.with(parameter, text);
      }
    }
    if (replanCost != null) {
      options = Sweep.set(options, REPLAN_COST.substring(2), replanCost);
    }
    axes.addAll(sweep);
    return Sweep.points(options, axes);
  }

  private List<Long> parseSeeds() {
    List<Long> all = new ArrayList<>();
    for (String part : seeds.split(",", -1)) {
      int dash = part.indexOf('-', 1);
      try {
        long first = Long.parseLong(dash < 0 ? part : part.substring(0, dash));
        long last = dash < 0 ? first : Long.parseLong(part.substring(dash + 1));
        for (long seed = first; seed <= last && all.size() <= SEEDS_MAX; seed++) {
          all.add(seed);
        }
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(
            "Expected numbers such as 1-10 or 1,4,7 for --seeds, but found '" + seeds + "'", e);
      }
    }
    if (all.isEmpty() || all.size() > SEEDS_MAX || Set.copyOf(all).size() < all.size()) {
      throw new IllegalArgumentException(
          "Expected 1 to " + SEEDS_MAX + " different seeds for --seeds, but found '" + seeds + "'");
    }
    return all;
  }

  private List<Policy> parsePolicies(boolean hasKnobs) {
    if (policies.equals("all")) {
      return hasKnobs ? List.of(Policy.values()) : Policy.withoutKnobs();
    }
    Set<Policy> chosen = EnumSet.noneOf(Policy.class);
    for (String name : policies.split(",", -1)) {
      Policy policy =
          Policy.named(name)
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "Expected all or some of "
                              + Arrays.stream(Policy.values()).map(Policy::wireName).toList()
                              + " for --policies, but found '"
                              + name
                              + "'"));
      if (policy.hasKnobs() && !hasKnobs) {
        throw new IllegalArgumentException(
            "Expected --knobs with the fields that " + name + " has, but found none");
      }
      chosen.add(policy);
      if (hasKnobs) {
        policy.withKnobs().ifPresent(chosen::add);
      }
    }
    if (hasKnobs && chosen.stream().noneMatch(Policy::hasKnobs)) {
      throw new IllegalArgumentException(
          "Expected seed or fairway among --policies for --knobs, but found '" + policies + "'");
    }
    return List.copyOf(chosen);
  }

  private ObjectNode parseKnobs() {
    if (knobs == null) {
      return JsonNodeFactory.instance.objectNode();
    }
    try {
      JsonNode node = new ObjectMapper().readTree(knobs);
      if (node instanceof ObjectNode object) {
        Knobs.check(object);
        return object;
      }
      throw new IllegalArgumentException(
          "Expected a JSON object for --knobs, but found '" + knobs + "'");
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "Expected JSON for --knobs, but found '" + knobs + "': " + e.getOriginalMessage(), e);
    }
  }
}
