package dev.fairway.cli.demo.page;

import dev.fairway.cli.demo.fleet.AgentLog;
import dev.fairway.replay.report.AgentLine;
import dev.fairway.replay.report.AgentLine.Activity;
import dev.fairway.replay.report.AgentLine.Stretch;
import dev.fairway.replay.report.Html;
import dev.fairway.replay.report.TurnPicture;
import dev.fairway.replay.report.Window;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The page.
 *
 * @param subtitle what was run
 * @param seconds length of each run
 * @param rows the numbers, side by side
 * @param definitions what the words mean
 * @param without what the agents did without admission
 * @param with what they did with it
 */
public record DemoPage(
    String subtitle,
    double seconds,
    List<Row> rows,
    List<Definition> definitions,
    List<AgentLog> without,
    List<AgentLog> with) {

  /**
   * One number of both runs.
   *
   * @param name what it is
   * @param without as text
   * @param with as text
   * @param headline whether it is one of those to look at first
   */
  public record Row(String name, String without, String with, boolean headline) {}

  /** A word and what it means. */
  public record Definition(String term, String meaning) {}

  /** The whole file; well-formed XML as well as HTML. */
  public String render() {
    StringBuilder html = new StringBuilder(1 << 17);
    html.append(
        Html.start(
            "Fairway demo: 429s on turns",
            "One fleet, one limit, with and without admission",
            subtitle));
    table(html);
    html.append(Html.legend());
    run(
        html,
        "Without admission",
        "Every agent learns the limit from its own 429s, and tries again by itself.",
        without);
    run(
        html,
        "With admission",
        "The same turns. Every agent asks for a lease before it calls, and waits for it.",
        with);
    Map<String, String> meanings = new LinkedHashMap<>();
    definitions.forEach(definition -> meanings.put(definition.term(), definition.meaning()));
    return html.append("<h2>What the words mean</h2>\n")
        .append(Html.definitions(meanings))
        .append(Html.end())
        .toString();
  }

  private void table(StringBuilder html) {
    html.append(
        "<div class=\"scroll\"><table>\n<thead><tr><th></th><th>without admission</th><th>with admission</th>");
    html.append("</tr></thead>\n<tbody>\n");
    for (Row row : rows) {
      html.append("<tr><td>").append(Html.escape(row.name())).append("</td>");
      cell(html, row.without(), row.headline());
      cell(html, row.with(), row.headline());
      html.append("</tr>\n");
    }
    html.append("</tbody>\n</table></div>\n");
  }

  private static void cell(StringBuilder html, String text, boolean headline) {
    String escaped = Html.escape(text);
    html.append("<td>")
        .append(headline ? "<strong>" + escaped + "</strong>" : escaped)
        .append("</td>");
  }

  private void run(StringBuilder html, String title, String words, List<AgentLog> logs) {
    html.append("<h2>").append(title).append("</h2>\n<p class=\"muted\">").append(words);
    html.append("</p>\n")
        .append(
            TurnPicture.draw(
                title + ": 429s and turns",
                lines(logs),
                new Window(0, seconds * 1000),
                lines(without)));
  }

  private static List<AgentLine> lines(List<AgentLog> logs) {
    return logs.stream().map(DemoPage::line).toList();
  }

  private static AgentLine line(AgentLog log) {
    String agent = log.plan().agent();
    List<Stretch> stretches =
        log.spans().stream()
            .map(s -> new Stretch(Activity.valueOf(s.activity().name()), s.startMs(), s.endMs()))
            .toList();
    String name = log.plan().kind() + " " + agent.substring(agent.lastIndexOf('-') + 1);
    return new AgentLine(name, log.plan().group(), stretches, log.refusalsMs());
  }
}
