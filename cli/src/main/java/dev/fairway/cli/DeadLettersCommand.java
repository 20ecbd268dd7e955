package dev.fairway.cli;

import dev.fairway.cli.ops.DeadLetter;
import dev.fairway.cli.ops.DeadLetterStore;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.Printable;
import dev.fairway.schemas.DeadLetterReason;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code fairway dead-letters}: what could not be handled. */
@Command(
    name = "dead-letters",
    description = "Records that could not be handled: list them, or send them again.",
    subcommands = {DeadLettersCommand.ListAll.class, DeadLettersCommand.Redrive.class},
    footer = {
      "",
      "Options such as --data stand behind the command.",
      "",
      "Example:",
      "  fairway dead-letters list --data fairway-data"
    })
final class DeadLettersCommand extends GroupCommand {

  /** {@code dead-letters list}. */
  @Command(
      name = "list",
      description = "List the dead letters: why, from where, how long, how old.",
      footer = {"", "Example:", "  fairway dead-letters list"})
  static final class ListAll extends BaseCommand {

    @Mixin private ConnectionOptions connection;

    @Option(
        names = "--reason",
        paramLabel = "REASON",
        description = "Those with this reason alone: ${COMPLETION-CANDIDATES}.")
    private DeadLetterReason reason;

    @Option(
        names = "--limit",
        paramLabel = "N",
        converter = CountConverter.class,
        defaultValue = "1000",
        description = "Most that are shown, the latest (default: ${DEFAULT-VALUE}).")
    private int limit;

    @Override
    public Integer call() {
      try (Pipeline pipeline = connection.open()) {
        List<DeadLetter> letters = withReason(new DeadLetterStore(pipeline).all(), reason);
        List<DeadLetter> latest =
            letters.subList(Math.max(0, letters.size() - limit), letters.size());
        Table table =
            new Table("PLACE", "REASON", "SOURCE", "KEY", "BYTES", "AGE", "SENT AGAIN", "DETAIL");
        for (DeadLetter letter : latest) {
          table.add(
              letter.place(),
              letter.reason(),
              letter.source(),
              Printable.text(letter.record().key()),
              letter.truncatedFromBytes() == null
                  ? letter.bytes()
                  : letter.bytes() + " of " + letter.truncatedFromBytes(),
              age(letter),
              letter.redriven() ? "yes" : "no",
              letter.detail());
        }
        if (latest.isEmpty()) {
          say(reason == null ? "no dead letters" : "no dead letters have the reason " + reason);
        } else {
          table.lines().forEach(this::say);
        }
        if (latest.size() < letters.size()) {
          note(
              "fairway: the "
                  + latest.size()
                  + " latest of "
                  + letters.size()
                  + " are shown; --limit shows more");
        }
        writeJson(Map.of("dead_letters", latest.stream().map(DeadLettersCommand::result).toList()));
      }
      return 0;
    }

    private static String age(DeadLetter letter) {
      return HumanTime.length(
          Math.max(0, System.currentTimeMillis() - letter.record().timestamp()));
    }
  }

  /** {@code dead-letters redrive}. */
  @Command(
      name = "redrive",
      description = {
        "Send dead letters to their source topics again, with their own keys and bytes.",
        "Each is sent once, however often it is named; those that were sent before are passed over.",
        "What was wrong with the record itself is wrong again, and ends here again."
      },
      footer = {
        "",
        "Example:",
        "  fairway dead-letters redrive 0:17 2:5",
        "  fairway dead-letters redrive --all --reason REGISTRY_UNAVAILABLE"
      })
  static final class Redrive extends BaseCommand {

    private static final Pattern PLACE = Pattern.compile("0*([0-9]{1,9}):0*([0-9]{1,18})");

    @Mixin private ConnectionOptions connection;
    @Spec private CommandSpec spec;

    @Parameters(
        arity = "0..*",
        paramLabel = "PLACE",
        description = "Places as 'dead-letters list' shows them, partition:offset.")
    private List<String> places = List.of();

    @Option(names = "--all", description = "All with the reason of --reason.")
    private boolean all;

    @Option(
        names = "--reason",
        paramLabel = "REASON",
        description = "Goes with --all: ${COMPLETION-CANDIDATES}.")
    private DeadLetterReason reason;

    @Override
    public Integer call() {
      checkChoice();
      Set<String> wanted = new LinkedHashSet<>();
      places.forEach(place -> wanted.add(checked(place)));
      try (Pipeline pipeline = connection.open()) {
        DeadLetterStore store = new DeadLetterStore(pipeline);
        List<Object> sent = new ArrayList<>();
        List<Object> passedOver = new ArrayList<>();
        List<DeadLetter> chosen = all ? withReason(store.all(), reason) : at(store.all(), wanted);
        store.checkSources(chosen);
        for (DeadLetter letter : chosen) {
          if (letter.redriven()) {
            say(letter.place() + ": passed over, it was sent again before");
            passedOver.add(result(letter));
          } else {
            store.redrive(letter);
            say(letter.place() + ": sent again, to " + letter.sourceTopic());
            sent.add(result(letter.sentAgain()));
          }
        }
        say(
            chosen.isEmpty()
                ? "no dead letters have the reason " + reason + "; nothing was sent"
                : sent.size()
                    + " sent again"
                    + (passedOver.isEmpty() ? "" : ", " + passedOver.size() + " passed over"));
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("redriven", sent);
        result.put("passed_over", passedOver);
        writeJson(result);
      }
      return 0;
    }

    private void checkChoice() {
      String found = null;
      if (all && !places.isEmpty()) {
        found = "both";
      } else if (!all && reason != null) {
        found = "--reason without --all";
      } else if (all && reason == null) {
        found = "--all without --reason";
      } else if (!all && places.isEmpty()) {
        found = "neither";
      }
      if (found != null) {
        throw new ParameterException(
            spec.commandLine(),
            "Expected either places such as 0:17, or --all with --reason, but found "
                + found
                + ". 'fairway dead-letters list' shows both.");
      }
    }

    /** The place without leading zeros. Picocli itself would only say that it is unmatched. */
    private String checked(String place) {
      Matcher matcher = PLACE.matcher(place);
      if (!matcher.matches()) {
        throw new ParameterException(
            spec.commandLine(),
            "Expected a place such as 0:17 (partition:offset, as 'dead-letters list' shows it), but"
                + " found '"
                + place
                + "'.");
      }
      return matcher.group(1) + ":" + matcher.group(2);
    }

    private static List<DeadLetter> at(List<DeadLetter> letters, Set<String> wanted) {
      List<DeadLetter> found =
          letters.stream().filter(letter -> wanted.contains(letter.place())).toList();
      Set<String> missing = new LinkedHashSet<>(wanted);
      found.forEach(letter -> missing.remove(letter.place()));
      if (!missing.isEmpty()) {
        throw new CliException(
            "Expected dead letters at "
                + wanted
                + ", but there are none at "
                + missing
                + ". See 'fairway dead-letters list'; nothing was sent.");
      }
      return found;
    }
  }

  private static List<DeadLetter> withReason(List<DeadLetter> letters, DeadLetterReason reason) {
    return reason == null
        ? letters
        : letters.stream().filter(letter -> reason.name().equals(letter.reason())).toList();
  }

  private static Map<String, Object> result(DeadLetter letter) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("place", letter.place());
    result.put("reason", letter.reason());
    result.put("detail", letter.detail());
    result.put("source", letter.source());
    result.put("key", Printable.text(letter.record().key()));
    result.put("bytes", letter.bytes());
    result.put("truncated_from", letter.truncatedFromBytes());
    result.put("at_ms", letter.record().timestamp());
    result.put("redriven", letter.redriven());
    return result;
  }
}
