package dev.fairway.replay.simulate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** A study's result as lines for people: means with the standard deviation over the seeds. */
public final class StudyTable {
  private StudyTable() {}

  private record Column(Metric metric, int decimals) {}

  private static final List<Column> COLUMNS =
      List.of(
          new Column(Metric.REJECTIONS_PER_1000_CALLS, 2),
          new Column(Metric.USEFUL_VS_CLAIRVOYANT, 3),
          new Column(Metric.TOKENS_VS_USEFUL, 3),
          new Column(Metric.FINISHED_PRS, 1),
          new Column(Metric.FINISHED_VS_CLAIRVOYANT, 3),
          new Column(Metric.CRITICAL_WAIT_S, 0),
          new Column(Metric.CRITICAL_WAIT_VS_CLAIRVOYANT, 2),
          new Column(Metric.LEAF_P50_VS_CLAIRVOYANT, 3),
          new Column(Metric.TASK_P50_S, 0),
          new Column(Metric.TASK_P95_S, 0),
          new Column(Metric.REPLANS, 1),
          new Column(Metric.REPLANS_FROM_WAITS, 1));

  /** The lines. */
  public static List<String> lines(StudyResult result) {
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "fleet of %d agents, rho %s, seeds %s; mean ± standard deviation; c: the clairvoyant",
            result.options().fleet().agents(),
            result.options().provider().rho(),
            result.seeds()));
    lines.addAll(aligned(rows(result)));
    lines.addAll(beaten(result));
    result.silent().forEach(silent -> lines.add(line(silent)));
    lines.add(parameters(result));
    return lines;
  }

  /** Where the reference was beaten: a line for each policy and metric, with all its seeds. */
  public static List<String> beaten(StudyResult result) {
    Map<String, List<String>> seeds = new LinkedHashMap<>();
    for (StudyResult.Beaten beaten : result.beaten()) {
      String what =
          beaten.policy().wireName() + " beats the clairvoyant, " + beaten.metric().title();
      seeds
          .computeIfAbsent(what, unused -> new ArrayList<>())
          .add(beaten.words() + " on seed " + beaten.seed());
    }
    List<String> lines = new ArrayList<>();
    seeds.forEach((what, each) -> lines.add(what + ": " + String.join(", ", each)));
    return lines;
  }

  /** The table's cells: a row of heads, then one of each policy. */
  public static List<List<String>> rows(StudyResult result) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(head());
    result.policies().forEach(policy -> rows.add(row(result, policy)));
    return rows;
  }

  /** All parameters of a result in a line. */
  public static String parameters(StudyResult result) {
    return result.parameters().entrySet().stream()
        .map(p -> p.getKey() + "=" + p.getValue())
        .collect(Collectors.joining(" ", "parameters: ", ""));
  }

  private static String line(StudyResult.Silent silent) {
    String why =
        silent
            .run()
            .mostRejected()
            .map(r -> r.times() + " times it rejected as " + r.reason() + ": " + r.detail())
            .orElse("it rejected none either");
    return "seed " + silent.seed() + ": " + silent.policy().wireName() + " sent no call; " + why;
  }

  private static List<String> head() {
    List<String> row = new ArrayList<>(List.of("policy"));
    COLUMNS.forEach(column -> row.add(column.metric().title()));
    return row;
  }

  private static List<String> row(StudyResult result, Policy policy) {
    List<String> row = new ArrayList<>(List.of(policy.wireName()));
    for (Column column : COLUMNS) {
      Spread spread = result.spread(policy, column.metric());
      String format = "%." + column.decimals() + "f";
      row.add(
          Double.isNaN(spread.mean())
              ? "-"
              : String.format(Locale.ROOT, format, spread.mean())
                  + (result.seeds().size() == 1
                      ? ""
                      : " ±" + String.format(Locale.ROOT, format, spread.sd())));
    }
    return row;
  }

  private static List<String> aligned(List<List<String>> rows) {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int c = 0; c < columns; c++) {
        widths[c] = Math.max(widths[c], row.get(c).length());
      }
    }
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder(padded(row.get(0), -widths[0]));
      for (int c = 1; c < columns; c++) {
        line.append("  ").append(padded(row.get(c), widths[c]));
      }
      lines.add(line.toString());
    }
    return lines;
  }

  private static String padded(String text, int width) {
    return String.format(Locale.ROOT, "%" + width + "s", text);
  }
}
