package dev.fairway.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * What every command has: {@code --help}, {@code --json}, and a place for its text that leaves
 * standard output to JSON.
 */
abstract class BaseCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private JsonOption json;

  // Picocli acts on it by itself.
  @SuppressWarnings("UnusedVariable")
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help and exit.")
  private boolean help;

  /** Prints a line of the result for people; nothing if JSON goes to standard output. */
  final void say(String line) {
    if (!json.isStandardOutput()) {
      out().println(line);
      out().flush();
    }
  }

  /** Prints a line that is not part of the result, on standard error. */
  final void note(String line) {
    spec.commandLine().getErr().println(line);
    spec.commandLine().getErr().flush();
  }

  /** Writes the result, or one of its values, as JSON if that was asked for. */
  final void writeJson(Object value) {
    json.write(value, out());
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }
}
