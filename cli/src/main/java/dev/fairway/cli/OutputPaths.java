package dev.fairway.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Checks, before a command begins its work, that the files it will write its result to can be
 * written: a result that took minutes must not be lost to a wrong path.
 */
final class OutputPaths {

  /** Options of any command that name a file to write; all are checked by their name. */
  static final Set<String> OPTIONS = Set.of("--json", "--html", "--png", "--export", "--ledger");

  private OutputPaths() {}

  /**
   * Checks the files that were named on the command line.
   *
   * @throws ParameterException if one of them cannot be written
   */
  static void check(ParseResult parsed) {
    for (ParseResult command :
        parsed.asCommandLineList().stream().map(c -> c.getParseResult()).toList()) {
      for (OptionSpec option : command.matchedOptions()) {
        if (OPTIONS.contains(option.longestName()) && option.getValue() != null) {
          check(command, option.longestName(), option.getValue().toString());
        }
      }
    }
  }

  private static void check(ParseResult command, String option, String value) {
    String trouble = value.equals("-") ? null : trouble(Path.of(value).toAbsolutePath());
    if (trouble != null) {
      throw new ParameterException(
          command.commandSpec().commandLine(),
          "Expected a file that can be written for "
              + option
              + ", but found "
              + value
              + ": "
              + trouble
              + ". Name another file.");
    }
  }

  private static String trouble(Path file) {
    if (Files.isDirectory(file)) {
      return "it is a folder";
    }
    if (Files.exists(file)) {
      return Files.isWritable(file) ? null : "permission is denied";
    }
    Path folder = file.getParent();
    if (folder == null || !Files.exists(folder)) {
      return "there is no folder " + folder;
    }
    if (!Files.isDirectory(folder)) {
      return folder + " is no folder";
    }
    return Files.isWritable(folder) ? null : "permission is denied in " + folder;
  }
}
