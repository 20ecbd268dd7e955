package dev.fairway.replay.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** What every page has in common. Pages are well-formed XML as well as HTML. */
public final class Html {
  private Html() {}

  /** Text as it stands between tags and in attributes. */
  public static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  /** From the doctype to the first heading. */
  public static String start(String title, String heading, String subtitle) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>"
        + escape(title)
        + "</title>\n<style>\n"
        + css()
        + "</style>\n</head>\n<body>\n<h1>"
        + escape(heading)
        + "</h1>\n<p class=\"muted\">"
        + escape(subtitle)
        + "</p>\n";
  }

  /** The rest. */
  public static String end() {
    return "</body>\n</html>\n";
  }

  /** What the colours of {@link TurnPicture} mean. */
  public static String legend() {
    return Legend.TURNS.html();
  }

  /** Terms and what they mean, in their order. */
  public static String definitions(Map<String, String> meanings) {
    StringBuilder html = new StringBuilder("<dl>\n");
    meanings.forEach(
        (term, meaning) ->
            html.append("<dt>")
                .append(escape(term))
                .append("</dt><dd>")
                .append(escape(meaning))
                .append("</dd>\n"));
    return html.append("</dl>\n").toString();
  }

  static String css() {
    try (InputStream in = Html.class.getResourceAsStream("report.css")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("The style sheet of reports could not be read", e);
    }
  }
}
