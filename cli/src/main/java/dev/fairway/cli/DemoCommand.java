package dev.fairway.cli;

import dev.fairway.cli.demo.DemoOptions;
import dev.fairway.cli.demo.DemoOutcome;
import dev.fairway.cli.demo.DemoRunner;
import dev.fairway.cli.demo.fleet.Backoff;
import dev.fairway.schemas.service.FileTrouble;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code fairway demo}: a fleet without admission, and the same fleet with it. */
@Command(
    name = "demo",
    description = {
      "A fleet of agents against an emulated provider over the real pipeline, first without admission, then"
          + " with it: same seed, same turns. Prints both side by side and writes a page that lays the 429s"
          + " over the turns.",
      "",
      "The fleet's loops run 60 times as fast as usual; the provider is real time. Its limit is set so that"
          + " the fleet wants --demand times what it can get."
    },
    subcommands = DemoEmulatorCommand.class,
    footer = {
      "",
      "Examples:",
      "  fairway demo --agents 20 --seconds 60 --json -",
      "  fairway demo --trace AzureLLMInferenceTrace_code.csv",
      "  fairway demo emulator --help"
    })
final class DemoCommand extends BaseCommand {

  @Spec private CommandSpec spec;

  @Option(
      names = "--agents",
      paramLabel = "N",
      defaultValue = "20",
      description = "Size of the fleet, 1 to 200 (default: ${DEFAULT-VALUE}).")
  private int agents;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "60",
      description = "Length of each of the two runs, 1 to 3600 (default: ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "The same seed gives the same turns (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description =
          "Take the turns' sizes from a public trace instead: Azure's LLM inference trace of 2023 (CSV) or a"
              + " Mooncake trace (JSON lines).")
  private Path trace;

  @Option(
      names = "--demand",
      paramLabel = "FACTOR",
      defaultValue = "1.3",
      description =
          "What the fleet wants of the limit, over what the limit can give (default: ${DEFAULT-VALUE}).")
  private double demand;

  @Option(
      names = "--control",
      paramLabel = "BACKOFF",
      defaultValue = "full-jitter",
      converter = BackoffConverter.class,
      description =
          "What agents without admission do after a 429: full-jitter (anything up to 1 s, doubling to 30 s,"
              + " as fast as the fleet) or retry-after (what the official SDKs do)"
              + " (default: ${DEFAULT-VALUE}).")
  private Backoff control;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      converter = OutputFileConverter.class,
      description = "Write the page to FILE (default: fairway-demo.html in the temporary folder).")
  private Path html;

  @Override
  public Integer call() throws Exception {
    DemoOptions options;
    try {
      options = new DemoOptions(agents, seconds, seed, trace, control, demand);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage() + ".", e);
    }
    Path page =
        (html == null ? Path.of(System.getProperty("java.io.tmpdir"), "fairway-demo.html") : html)
            .toAbsolutePath();
    String trouble = OutputFileConverter.trouble(page);
    if (trouble != null) {
      throw new ParameterException(spec.commandLine(), trouble + " Name another one with --html.");
    }
    Consumer<String> progress = Terminal.isStandardError() ? this::note : line -> {};
    DemoOutcome outcome = DemoRunner.run(options, progress);
    say("");
    outcome.lines().forEach(this::say);
    say("");
    writeJson(outcome.json(page));
    writePage(page, outcome.page());
    say("page: " + page.toUri());
    if (!outcome.leasesClosed()) {
      throw new CliException(
          "Expected every lease to be settled, but the journal says otherwise: see grants, settled and"
              + " expired above.");
    }
    return 0;
  }

  private static void writePage(Path file, String text) {
    try {
      Files.writeString(file, text, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new CliException(
          "Expected to write the page to "
              + file
              + ", but: "
              + FileTrouble.of(e)
              + ". Name a file that can be written with --html.",
          e);
    }
  }
}
