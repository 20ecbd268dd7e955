package dev.fairway.cli;

import dev.fairway.schemas.service.ShownText;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code fairway} command. Exit codes: 0 success, 1 failure, 2 wrong usage. */
@Command(
    name = "fairway",
    mixinStandardHelpOptions = true,
    versionProvider = FairwayVersion.class,
    description = "Admission control for the LLM provider quota of an agent fleet.",
    subcommands = {
      UpCommand.class,
      DemoCommand.class,
      QuotaCommand.class,
      AgentCommand.class,
      StatusCommand.class,
      LeasesCommand.class,
      QueueCommand.class,
      WhyCommand.class,
      DeadLettersCommand.class,
      DryRunCommand.class,
      ExplainCommand.class,
      SimulateCommand.class,
      ReplayCommand.class
    },
    footer = {"", "Example:", "  fairway demo", "  fairway up", "  fairway status --help"})
public final class Fairway implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(Fairway.class);

  @Spec private CommandSpec spec;

  /** Runs the command and ends the process with its exit code. */
  public static void main(String[] args) {
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    int code;
    try {
      code = run(out, err, args);
    } catch (Error e) {
      // Threads of Kafka may still run: without an end from here the process would stay.
      log.error("{}", String.join(" ", args), e);
      err.println("fairway: failed for good: " + e);
      code = CommandLine.ExitCode.SOFTWARE;
    }
    out.flush();
    err.flush();
    System.exit(code);
  }

  /**
   * Runs the command.
   *
   * @return the exit code
   */
  public static int run(PrintWriter out, PrintWriter err, String... args) {
    return commandLine().setOut(out).setErr(err).execute(args);
  }

  static CommandLine commandLine() {
    return new CommandLine(new Fairway())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(UsageErrors::tell)
        .setExecutionExceptionHandler((error, command, parsed) -> failed(error, command));
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "Expected one of the commands " + spec.subcommands().keySet() + ", but found none.");
  }

  private static int failed(Exception error, CommandLine command) {
    log.debug("{} failed", command.getCommandSpec().qualifiedName(), error);
    command.getErr().println("fairway: " + messageOf(error));
    return command.getCommandSpec().exitCodeOnExecutionException();
  }

  /** Kafka's own errors about a setting quote its value, wherever that came from. */
  static String messageOf(Exception error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof ConfigException) {
        return ShownText.of(describe(error));
      }
    }
    return describe(error);
  }

  private static String describe(Exception error) {
    if (error instanceof CliException || error.getClass().getName().startsWith("dev.fairway.")) {
      return error.getMessage();
    }
    if (error instanceof KafkaException) {
      return "Kafka refused: " + error.getMessage();
    }
    return "failed unexpectedly: "
        + error.toString().replaceAll("\\.$", "")
        + ". Run again with FAIRWAY_LOG=DEBUG for the whole story.";
  }
}
