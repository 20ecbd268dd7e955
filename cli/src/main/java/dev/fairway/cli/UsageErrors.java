package dev.fairway.cli;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.MaxValuesExceededException;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.MutuallyExclusiveArgsException;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Wrong usage in the words of all other messages: what was expected, what was found. Picocli has
 * words of its own for what it finds by itself.
 */
public final class UsageErrors {

  /** Picocli tells these only within its message. */
  private static final Pattern FOUND = Pattern.compile("(?:but found|without) '(.*?)'");

  private static final Pattern OPTION = Pattern.compile("option '(--?[a-z-]+)");
  private static final Pattern EXCLUSIVE = Pattern.compile("Error: (.*) are mutually exclusive.*");

  private UsageErrors() {}

  /**
   * Tells what is wrong, and where to read on; as picocli's {@code IParameterExceptionHandler}.
   *
   * @return the exit code
   */
  public static int tell(ParameterException error, String[] args) {
    CommandLine command = error.getCommandLine();
    PrintWriter err = command.getErr();
    err.println("fairway: " + message(error));
    err.println("See '" + command.getCommandSpec().qualifiedName() + " --help'.");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  /** One or more sentences; what was wrong with which argument. */
  static String message(ParameterException error) {
    if (error instanceof UnmatchedArgumentException unmatched) {
      return unmatched(unmatched);
    }
    if (error instanceof MissingParameterException missing) {
      return missing(missing);
    }
    if (error instanceof OverwrittenOptionException twice) {
      return "Expected " + name(twice.getOverwritten()) + " once, but found it again.";
    }
    if (error instanceof MutuallyExclusiveArgsException) {
      return "Expected only one of "
          + found(EXCLUSIVE, error, "the options that exclude each other")
          + ", but found more of them.";
    }
    if (error instanceof MaxValuesExceededException) {
      return found(OPTION, error, "the option")
          + ": expected no value, but found '"
          + found(FOUND, error, "one")
          + "'.";
    }
    if (error.getCause() != null && error.getArgSpec() != null) {
      return unreadable(error);
    }
    return error.getMessage();
  }

  private static String unmatched(UnmatchedArgumentException error) {
    CommandLine command = error.getCommandLine();
    String found = error.getUnmatched().get(0);
    boolean isGroup = !command.getSubcommands().isEmpty();
    String place = isGroup ? placeOf(command, found.replaceAll("=.*", "")) : null;
    if (place != null) {
      return "Expected " + found + " behind a command, as in '" + place + "', but found it before.";
    }
    String expected;
    if (found.startsWith("-")) {
      expected = "an option that '" + command.getCommandSpec().qualifiedName() + "' has";
    } else if (isGroup) {
      expected = "one of the commands " + command.getSubcommands().keySet();
    } else {
      expected =
          command.getCommandSpec().positionalParameters().isEmpty()
              ? "no arguments but options"
              : "no more arguments";
    }
    // The likeliest alone: the others that picocli offers have little in common with it.
    String meant =
        error.getSuggestions().stream()
            .findFirst()
            .map(suggestion -> " Did you mean '" + suggestion + "'?")
            .orElse("");
    return "Expected " + expected + ", but found '" + found + "'." + meant;
  }

  /** Where an option stands that a command of a group has, and not the group; null if none has. */
  private static String placeOf(CommandLine group, String option) {
    for (Map.Entry<String, CommandLine> command : group.getSubcommands().entrySet()) {
      CommandSpec spec = command.getValue().getCommandSpec();
      OptionSpec found = spec.findOption(option);
      if (found != null) {
        return spec.qualifiedName()
            + " "
            + option
            + (found.arity().max() > 0 ? " " + found.paramLabel() : "");
      }
    }
    return null;
  }

  private static String missing(MissingParameterException error) {
    List<ArgSpec> missing = error.getMissing();
    if (missing.stream().allMatch(ArgSpec::isPositional)) {
      String all =
          error.getCommandLine().getCommandSpec().positionalParameters().stream()
              .filter(ArgSpec::required)
              .map(UsageErrors::name)
              .collect(Collectors.joining(" "));
      return "Expected "
          + all
          + ", but found nothing"
          + (all.contains(" ") ? " for " + names(missing) : "")
          + ".";
    }
    if (missing.size() > 1) {
      return "Expected one of " + names(missing) + ", but found none.";
    }
    String found = found(FOUND, error, null);
    return name(missing.get(0))
        + ": expected "
        + missing.get(0).paramLabel()
        + ", but found "
        + (found == null ? "nothing" : "'" + found + "'")
        + ".";
  }

  private static String unreadable(ParameterException error) {
    ArgSpec arg = error.getArgSpec();
    // Converters of this project say what they expect and what to do.
    boolean isOwn =
        error.getCause() instanceof TypeConversionException && arg.converters().length > 0;
    String text =
        isOwn
            ? error.getCause().getMessage()
            : "expected " + kind(arg) + ", but found '" + error.getValue() + "'";
    return name(arg)
        + ": "
        + text.substring(0, 1).toLowerCase(Locale.ROOT)
        + text.substring(1)
        + (text.endsWith(".") ? "" : ".");
  }

  private static String kind(ArgSpec arg) {
    Class<?> type = arg.auxiliaryTypes().length > 0 ? arg.auxiliaryTypes()[0] : arg.type();
    if (type.isEnum()) {
      return "one of " + Arrays.toString(type.getEnumConstants());
    }
    if (type == boolean.class || type == Boolean.class) {
      return "no value";
    }
    if (type == int.class || type == Integer.class) {
      return "a whole number up to " + Integer.MAX_VALUE;
    }
    if (type == long.class || type == Long.class) {
      return "a whole number";
    }
    return type == double.class || type == Double.class ? "a number" : arg.paramLabel();
  }

  private static String names(List<ArgSpec> args) {
    return args.stream().map(UsageErrors::name).collect(Collectors.joining(", "));
  }

  private static String name(ArgSpec arg) {
    return arg instanceof OptionSpec option
        ? option.longestName()
        : ((PositionalParamSpec) arg).paramLabel();
  }

  private static String found(Pattern pattern, ParameterException error, String otherwise) {
    Matcher matcher = pattern.matcher(error.getMessage());
    return matcher.find() ? matcher.group(1) : otherwise;
  }
}
