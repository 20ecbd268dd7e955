package dev.fairway.cli.demo.page;

import dev.fairway.cli.demo.fleet.AgentLog;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

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
    html.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    html.append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
    html.append("<title>Fairway demo: 429s on turns</title>\n");
    html.append("<style>\n").append(css()).append("</style>\n</head>\n<body>\n");
    html.append("<h1>One fleet, one limit, with and without admission</h1>\n");
    html.append("<p class=\"muted\">").append(Html.escape(subtitle)).append("</p>\n");
    table(html);
    legend(html);
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
    html.append("<h2>What the words mean</h2>\n<dl>\n");
    for (Definition definition : definitions) {
      html.append("<dt>").append(Html.escape(definition.term())).append("</dt><dd>");
      html.append(Html.escape(definition.meaning())).append("</dd>\n");
    }
    return html.append("</dl>\n</body>\n</html>\n").toString();
  }

  private void table(StringBuilder html) {
    html.append("<table>\n<thead><tr><th></th><th>without admission</th><th>with admission</th>");
    html.append("</tr></thead>\n<tbody>\n");
    for (Row row : rows) {
      html.append("<tr><td>").append(Html.escape(row.name())).append("</td>");
      cell(html, row.without(), row.headline());
      cell(html, row.with(), row.headline());
      html.append("</tr>\n");
    }
    html.append("</tbody>\n</table>\n");
  }

  private static void cell(StringBuilder html, String text, boolean headline) {
    String escaped = Html.escape(text);
    html.append("<td>")
        .append(headline ? "<strong>" + escaped + "</strong>" : escaped)
        .append("</td>");
  }

  private static void legend(StringBuilder html) {
    html.append("<ul class=\"legend\">");
    entry(html, "call", "model call");
    entry(html, "tools", "tools run");
    entry(html, "wait", "waits: in backoff, or for its lease");
    entry(html, "re_plan", "re-plan: reads everything again");
    entry(html, "refused", "429");
    html.append("</ul>\n");
  }

  private static void entry(StringBuilder html, String css, String text) {
    html.append("<li><i class=\"").append(css).append("\"></i>").append(text).append("</li>");
  }

  private void run(StringBuilder html, String title, String words, List<AgentLog> logs) {
    html.append("<h2>").append(title).append("</h2>\n<p class=\"muted\">").append(words);
    html.append("</p>\n")
        .append(RunPicture.draw(title + ": 429s and turns", logs, seconds, without));
  }

  private static String css() {
    try (InputStream in = DemoPage.class.getResourceAsStream("page.css")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("The page's style sheet could not be read", e);
    }
  }
}
