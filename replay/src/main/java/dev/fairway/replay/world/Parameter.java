package dev.fairway.replay.world;

import dev.fairway.replay.world.WorldOptions.UsageAt;
import dev.fairway.replay.world.WorldOptions.Window;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Everything that the world can be told besides its seed: name, default, range and meaning. The
 * defaults are the world that the goals of the policy are stated in.
 */
public enum Parameter {
  AGENTS(20, 10, 2000, "agents of the fleet, a multiple of 10"),
  RHO(1, 0.05, 20, "unthrottled demand of the fleet over the input limit"),
  HOURS(3, 0.01, 48, "length of a run, in hours"),
  TICK(0, Kind.FLAG, "tools end on a common beat of 90 s instead of in their own time"),
  CRASH_RATE(0.005, 0, 0.5, "share of the calls whose agent dies in the middle"),
  ESTIMATE_ERROR(0.15, 0, 2, "standard deviation of the logarithm of estimate over actual input"),
  RETRIES(6, 0, 1000, "refusals of one turn that do not make its agent plan again"),
  REPLAN_COST_LEAST(5, 0, 1000, "least cost of planning again, in inputs of the failed call"),
  REPLAN_COST_MOST(20, 0, 1000, "most cost of planning again"),
  REPLAN_CALL_TOKENS(80_000, 1, 1e9, "largest call of a new plan"),
  PATIENCE_S(600, 1, 1e6, "how long a turn waits before its agent gives it up and plans again"),
  WINDOW(Window.TOKEN_BUCKET, "how the provider counts: token-bucket, fixed or rolling"),
  OTPM_SHARE(0.2, 0.001, 100, "output limit over input limit"),
  DEPTH_S(60, 2, 600, "depth of a token bucket, in seconds of its rate"),
  MAX_TOKENS_CHARGED(
      0, Kind.FLAG, "the provider charges max_tokens at admission, and gives the rest back"),
  HEADERS(1, Kind.FLAG, "the provider tells limit, remaining and reset"),
  USAGE_AT(
      UsageAt.END,
      "when agents tell the input that a call used: end, with its output, or first-token, with the"
          + " headers"),
  CACHE_TTL_S(300, 0, 1e6, "how long a prefix stays in the prompt cache after its last use"),
  CACHE_TOKENS(90_000, 0, 1e9, "longest prefix in the prompt cache"),
  OUTAGE_S(0, 0, 1e5, "length of an outage in which every call is answered 429; 0 for none"),
  OUTAGE_AT_S(5400, 0, 1e6, "when the outage begins"),
  OUTSIDE(0.05, 0, 1, "share of the input limit that others use"),
  OUTSIDE_BURST(0.25, 0, 1, "the same in a burst, of which there is one an hour"),
  OUTSIDE_BURST_S(300, 0, 3600, "length of a burst"),
  OUTSIDE_CALL_TOKENS(2000, 1, 1e9, "mean input of a call of others"),
  PROVIDER_DELAY_MS(60, 0, 1e5, "one way to the provider"),
  PROVIDER_DELAY_SPREAD(0.5, 0, 1, "up and down of that, as a share of it"),
  COORDINATOR_DELAY_MS(20, 0, 1e5, "one way to the coordinator");

  private enum Kind {
    NUMBER,
    FLAG,
    NAME
  }

  private final double preset;
  private final Kind kind;
  private final double least;
  private final double most;
  private final String meaning;
  private final List<String> names;

  Parameter(double preset, double least, double most, String meaning) {
    this(preset, Kind.NUMBER, least, most, meaning, List.of());
  }

  Parameter(double preset, Kind kind, String meaning) {
    this(preset, kind, 0, 1, meaning, List.of());
  }

  <E extends Enum<E>> Parameter(E preset, String meaning) {
    this(preset.ordinal(), Kind.NAME, meaning, names(preset));
  }

  private Parameter(double preset, Kind kind, String meaning, List<String> names) {
    this(preset, kind, 0, names.size() - 1, meaning, names);
  }

  Parameter(
      double preset, Kind kind, double least, double most, String meaning, List<String> names) {
    this.names = names;
    this.preset = preset;
    this.kind = kind;
    this.least = least;
    this.most = most;
    this.meaning = meaning;
  }

  /** Name on the command line, such as {@code patience-s}. */
  public String optionName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Name in results, such as {@code patience_s}. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** What it is, for people. */
  public String meaning() {
    return meaning;
  }

  /** Whether it is true or false. */
  public boolean isFlag() {
    return kind == Kind.FLAG;
  }

  /** Its default, as it would be written. */
  public String presetText() {
    return kind == Kind.NAME ? names.get((int) preset) : String.valueOf(json(preset));
  }

  /** The parameter of that option name, if there is one. */
  public static Optional<Parameter> named(String optionName) {
    return Arrays.stream(values()).filter(p -> p.optionName().equals(optionName)).findFirst();
  }

  double preset() {
    return preset;
  }

  /**
   * The value that a text stands for.
   *
   * @throws IllegalArgumentException if it is none or out of range; the message is for people
   */
  double parse(String text) {
    double value;
    switch (kind) {
      case FLAG:
        value = text.equals("true") ? 1 : text.equals("false") ? 0 : Double.NaN;
        break;
      case NAME:
        value = names.contains(text) ? names.indexOf(text) : Double.NaN;
        break;
      default:
        value = number(text);
    }
    boolean wrongStep = this == AGENTS && value % Group.SIZE != 0;
    if (!(value >= least && value <= most) || wrongStep) {
      throw new IllegalArgumentException(
          "Expected " + range() + " for --" + optionName() + ", but found '" + text + "'");
    }
    return value;
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  /** The values of an option that has names, as on the command line. */
  private static <E extends Enum<E>> List<String> names(E any) {
    return Arrays.stream(any.getDeclaringClass().getEnumConstants())
        .map(each -> each.name().toLowerCase(Locale.ROOT).replace('_', '-'))
        .toList();
  }

  private String range() {
    switch (kind) {
      case FLAG:
        return "true or false";
      case NAME:
        String last = names.get(names.size() - 1);
        return String.join(", ", names.subList(0, names.size() - 1)) + " or " + last;
      default:
        String number = this == AGENTS ? "a multiple of " + Group.SIZE : "a number";
        return number + " from " + json(least) + " to " + json(most);
    }
  }

  /** A value as JSON has it: a flag, a name, a whole number or another one. */
  Object json(double value) {
    if (kind == Kind.FLAG) {
      return value != 0;
    }
    if (kind == Kind.NAME) {
      return names.get((int) value).toUpperCase(Locale.ROOT).replace('-', '_');
    }
    return value == Math.rint(value) ? (Object) (long) value : (Object) value;
  }
}
