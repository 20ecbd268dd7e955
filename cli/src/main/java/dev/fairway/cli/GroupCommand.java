package dev.fairway.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that only holds others. */
abstract class GroupCommand implements Runnable {

  @Spec private CommandSpec spec;

  // Picocli acts on it by itself.
  @SuppressWarnings("UnusedVariable")
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help and exit.")
  private boolean help;

  @Override
  public final void run() {
    throw new ParameterException(
        spec.commandLine(),
        "Expected one of the commands " + spec.subcommands().keySet() + ", but found none.");
  }
}
