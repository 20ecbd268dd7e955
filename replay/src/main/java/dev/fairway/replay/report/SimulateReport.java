package dev.fairway.replay.report;

import dev.fairway.replay.simulate.Metric;
import dev.fairway.replay.simulate.Policy;
import dev.fairway.replay.simulate.Spread;
import dev.fairway.replay.simulate.Study;
import dev.fairway.replay.simulate.StudyResult;
import dev.fairway.replay.simulate.StudyTable;
import dev.fairway.replay.world.World;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A study as a page: the table over all seeds, and pictures of its first seed, for which up to
 * {@value #PICTURED_MAX} policies run once more and are watched.
 */
public final class SimulateReport {
  /** Policies that get pictures; a page with more can't be read. */
  static final int PICTURED_MAX = 4;

  /** What rows of agents show: long enough for a few turns, short enough to see each. */
  private static final double CLOSE_MS = 420_000;

  private final StudyResult study;
  private final Map<String, RunWatch> runs = new LinkedHashMap<>();
  private final double inputPerMinute;
  private final Window whole;
  private final Window close;

  private SimulateReport(Study runner, StudyResult study) {
    this.study = study;
    long seed = study.seeds().get(0);
    for (Policy policy : pictured(study.policies())) {
      RunWatch watch = new RunWatch();
      runner.run(seed, policy, watch);
      runs.put(policy.wireName(), watch);
    }
    this.inputPerMinute = World.limits(seed, study.options()).inputTokens();
    this.whole = new Window(0, study.options().durationMs());
    this.close = closeUp();
  }

  /**
   * Runs what is to be pictured. Takes as long as a run of each of those policies.
   *
   * @param runner the study
   * @param study what it found
   */
  public static SimulateReport of(Study runner, StudyResult study) {
    return new SimulateReport(runner, study);
  }

  /** One policy that leaves agents alone, to see the storm, and the most telling of the others. */
  static List<Policy> pictured(List<Policy> asked) {
    List<Policy> wanted = new ArrayList<>();
    asked.stream()
        .filter(Policy::isBackoffAlone)
        .min((a, b) -> Boolean.compare(b == Policy.FULL_JITTER_30, a == Policy.FULL_JITTER_30))
        .ifPresent(wanted::add);
    // With knobs the pair of one preset comes first, to be compared.
    List<Policy> others =
        asked.contains(Policy.FAIRWAY_KNOBS)
            ? List.of(Policy.FAIRWAY, Policy.FAIRWAY_KNOBS, Policy.CLAIRVOYANT, Policy.SEED)
            : List.of(Policy.SEED, Policy.SEED_KNOBS, Policy.FAIRWAY, Policy.CLAIRVOYANT);
    Stream.concat(
            others.stream(), Stream.of(Policy.SEED_KNOBS, Policy.FIFO_BUCKET, Policy.SHARED_RPM))
        .distinct()
        .filter(asked::contains)
        .limit(PICTURED_MAX - wanted.size())
        .forEach(wanted::add);
    return wanted;
  }

  /** Around the worst minute of the run with the most 429s. */
  private Window closeUp() {
    RunWatch worst =
        runs.values().stream()
            .max((a, b) -> Long.compare(a.refusals(), b.refusals()))
            .orElseThrow();
    Bins minutes = Bins.ofRefusals(worst.agents(), whole, 60_000);
    double middle = (minutes.peakAt() + 0.5) * 60_000;
    double from = Math.max(0, Math.min(middle - CLOSE_MS / 2, whole.toMs() - CLOSE_MS));
    return new Window(from, Math.min(whole.toMs(), from + CLOSE_MS));
  }

  RunWatch run(String policy) {
    return runs.get(policy);
  }

  /** The page, self-contained. */
  public String html() {
    StringBuilder html = new StringBuilder(1 << 20);
    html.append(
        Html.start(
            "Fairway: a simulated fleet",
            "One fleet, one limit, " + study.policies().size() + " policies",
            subtitle()));
    table(html);
    html.append("<h2>Do the waves line up with the work?</h2>\n");
    waves(html);
    html.append("<h2>Waits for a call, by role</h2>\n")
        .append(
            "<p class=\"muted\">Median, and 95th percentile behind it, of the time from the wish")
        .append(" to the call that went through; seed ")
        .append(study.seeds().get(0))
        .append(
            ". Turns that were given up have none: where many calls are refused, short waits are")
        .append(
            " those of the few that went through, and 429s and replans say what the others had.")
        .append("</p>\n")
        .append(Legend.WAITS.html())
        .append(WaitPicture.drawing(runs).inPage("Waits by role"));
    html.append("<h2>The whole run</h2>\n")
        .append("<p class=\"muted\">Input charged each minute, the fleet's and, on top and grey,")
        .append(" everybody else's, against the limit; and 429s.</p>\n")
        .append(Legend.LIMIT.html());
    runs.forEach(
        (name, run) ->
            html.append("<h3>")
                .append(Html.escape(name))
                .append("</h3>\n")
                .append(
                    LimitPicture.drawing(run, whole, inputPerMinute, minutePeak())
                        .inPage(name + ": limit used and 429s")));
    html.append("<h2>Turns and 429s</h2>\n<p class=\"muted\">")
        .append(closeUpWords())
        .append("</p>\n")
        .append(Html.legend());
    runs.forEach(
        (name, run) ->
            html.append("<h3>")
                .append(Html.escape(name))
                .append("</h3>\n")
                .append(
                    TurnPicture.draw(
                        name + ": 429s and turns", run.agents(), close, mostRefused())));
    html.append("<h2>What the words mean</h2>\n").append(Html.definitions(meanings()));
    parameters(html);
    return html.append(Html.end()).toString();
  }

  /** The same pictures as one PNG, light, with what it takes to read them without the page. */
  public byte[] png() {
    String ofSeed = "Seed " + study.seeds().get(0) + ": ";
    List<Raster.Panel> panels = new ArrayList<>();
    panels.add(
        new Raster.Panel(
            "One fleet, one limit, " + study.policies().size() + " policies",
            TextPicture.words(
                List.of(
                    subtitle(),
                    "Mean over the seeds, and standard deviation; c: over the clairvoyant's"))));
    panels.add(new Raster.Panel("", TextPicture.table(StudyTable.rows(study))));
    List<String> answers = new ArrayList<>();
    runs.forEach((name, run) -> answers.add(name + ": " + Waves.of(run, whole).answer()));
    panels.add(
        new Raster.Panel(
            ofSeed + "do the waves line up with the work?", TextPicture.words(answers)));
    panels.add(new Raster.Panel(ofSeed + "waits by role", Legend.WAITS.drawing()));
    panels.add(new Raster.Panel("", WaitPicture.drawing(runs)));
    panels.add(
        new Raster.Panel(ofSeed + "the whole run, limit used and 429s", Legend.LIMIT.drawing()));
    runs.forEach(
        (name, run) ->
            panels.add(
                new Raster.Panel(
                    name, LimitPicture.drawing(run, whole, inputPerMinute, minutePeak()))));
    panels.add(
        new Raster.Panel(ofSeed + "429s and turns. " + closeUpWords(), Legend.TURNS.drawing()));
    runs.forEach(
        (name, run) ->
            panels.add(
                new Raster.Panel(name, TurnPicture.drawing(run.agents(), close, mostRefused()))));
    panels.add(
        new Raster.Panel("The world", TextPicture.words(List.of(StudyTable.parameters(study)))));
    return Raster.png(panels);
  }

  private String subtitle() {
    return String.format(
        Locale.ROOT,
        "%d agents for %.1f h; they want %.2f times what the limit allows; seeds %s",
        study.options().fleet().agents(),
        study.options().durationMs() / 3_600_000.0,
        study.options().provider().rho(),
        study.seeds().toString().replaceAll("[\\[\\]]", ""));
  }

  private String closeUpWords() {
    return String.format(
        Locale.ROOT,
        "Minutes %.1f to %.1f, around the worst minute of the run with the most 429s.",
        close.fromMs() / 60_000,
        close.toMs() / 60_000);
  }

  private void table(StringBuilder html) {
    html.append("<div class=\"scroll\"><table>\n<thead><tr><th></th>");
    for (Policy policy : study.policies()) {
      html.append("<th>").append(policy.wireName()).append("</th>");
    }
    html.append("</tr></thead>\n<tbody>\n");
    for (Metric metric : Metric.values()) {
      html.append("<tr><td>").append(Html.escape(metric.title())).append("</td>");
      for (Policy policy : study.policies()) {
        html.append("<td>").append(cell(study.spread(policy, metric))).append("</td>");
      }
      html.append("</tr>\n");
    }
    html.append(
            "</tbody>\n</table></div>\n<p class=\"muted\">Mean over the seeds, and its standard")
        .append(" deviation where there are several.</p>\n");
    if (runs.size() < study.policies().size()) {
      html.append("<p class=\"muted\">What follows shows ")
          .append(Html.escape(String.join(", ", runs.keySet())))
          .append(".</p>\n");
    }
    for (String line : StudyTable.beaten(study)) {
      html.append("<p class=\"muted\">").append(Html.escape(line)).append(".</p>\n");
    }
  }

  private String cell(Spread spread) {
    if (Double.isNaN(spread.mean())) {
      return "-";
    }
    String mean = number(spread.mean());
    return study.seeds().size() == 1
        ? mean
        : mean + " <span class=\"muted\">&#177; " + number(spread.sd()) + "</span>";
  }

  private static String number(double value) {
    double size = Math.abs(value);
    String pattern = size >= 1000 ? "%,.0f" : size >= 10 ? "%.1f" : "%.3f";
    return String.format(Locale.ROOT, pattern, value);
  }

  /** How bunched 429s come, how far they come when turns want their calls, and what that says. */
  private void waves(StringBuilder html) {
    runs.forEach(
        (name, run) ->
            html.append("<p><strong>")
                .append(Html.escape(name))
                .append("</strong>: ")
                .append(Html.escape(Waves.of(run, whole).answer()))
                .append("</p>\n"));
    html.append(
            "<p class=\"muted\">How bunched 429s come (the variance of their number in an interval, over")
        .append(" its mean): 1 where they come one by one, far more where they come in waves.")
        .append(" Beside it the same of the moments when turns want a call, and how far the two go")
        .append(" together (correlation of their numbers, in 10 s): 1 where they rise and fall as")
        .append(" one, 0 where they have nothing to do with each other.</p>\n")
        .append(
            "<div class=\"scroll\"><table>\n<thead><tr><th></th><th>429s</th><th>in 100 ms</th>")
        .append("<th>in 1 s</th><th>in 10 s</th><th>wishes, in 10 s</th><th>correlation</th>")
        .append("</tr></thead>\n<tbody>\n");
    runs.forEach(
        (name, run) -> {
          Waves waves = Waves.of(run, whole);
          html.append("<tr><td>").append(Html.escape(name)).append("</td><td>");
          html.append(String.format(Locale.ROOT, "%,d", waves.refusals()));
          for (double value :
              new double[] {
                waves.in100Ms(),
                waves.in1S(),
                waves.in10S(),
                waves.wishesIn10S(),
                waves.correlation()
              }) {
            html.append("</td><td>").append(Double.isNaN(value) ? "-" : number(value));
          }
          html.append("</td></tr>\n");
        });
    html.append("</tbody>\n</table></div>\n");
  }

  private Map<String, String> meanings() {
    Map<String, String> meanings = new LinkedHashMap<>();
    meanings.put(
        "turn", "One model call, then tools; a task is a fixed group of an agent's turns.");
    meanings.put(
        "wish", "The moment when a turn wants its call; its wait ends when the call is sent.");
    meanings.put(
        "re-plan",
        "What an agent does that gave a turn up: it has lost its place and reads everything again.");
    for (Policy policy : study.policies()) {
      String knobs = policy.hasKnobs() ? " They are " + study.knobs() + "." : "";
      meanings.put(policy.wireName(), policy.meaning() + knobs);
    }
    // It always runs: the others are measured against it.
    meanings.put(Policy.CLAIRVOYANT.wireName(), Policy.CLAIRVOYANT.meaning());
    for (Metric metric : Metric.values()) {
      meanings.put(metric.title(), metric.meaning() + " In JSON: " + metric.wireName() + ".");
    }
    return meanings;
  }

  private void parameters(StringBuilder html) {
    Map<String, String> values = new LinkedHashMap<>();
    study.parameters().forEach((name, value) -> values.put(name, String.valueOf(value)));
    html.append("<h2>The world</h2>\n<p class=\"muted\">Every parameter of the simulation")
        .append(study.knobs().isEmpty() ? "" : ", and the knobs of the policies named so")
        .append("; 'fairway simulate --help' says what each is.</p>\n")
        .append(Html.definitions(values));
    runs.forEach(
        (name, run) -> {
          if (run.refusalsLeftOut() > 0) {
            html.append("<p class=\"muted\">")
                .append(name)
                .append(": ")
                .append(run.refusalsLeftOut())
                .append(" 429s are in no picture.</p>\n");
          }
        });
  }

  private List<AgentLine> mostRefused() {
    return runs.values().stream()
        .max((a, b) -> Long.compare(a.refusals(), b.refusals()))
        .orElseThrow()
        .agents();
  }

  private int minutePeak() {
    return runs.values().stream()
        .mapToInt(run -> Bins.ofRefusals(run.agents(), whole, 60_000).peak())
        .max()
        .orElse(0);
  }
}
