package dev.fairway.replay.report;

import java.util.List;

/** What the colours of a picture mean, for pages and for drawings. */
enum Legend {
  /** Of {@link TurnPicture}. */
  TURNS(
      new Entry("call", "model call"),
      new Entry("tools", "tools run"),
      new Entry("wait", "waits: in backoff, or for its lease"),
      new Entry("re_plan", "re-plan: reads everything again"),
      new Entry("refused", "429")),

  /** Of {@link LimitPicture}. */
  LIMIT(
      new Entry("call", "input charged to the fleet, a minute"),
      new Entry("tools", "the same to everybody else"),
      new Entry("limit", "the limit"),
      new Entry("refused", "429s, a minute")),

  /** Of {@link WaitPicture}. */
  WAITS(
      new Entry("wait", "median"),
      new Entry("wait_tail", "95th percentile, of the time from the wish to the call"));

  private static final int LEFT = 16;
  private static final int SWATCH = 14;
  private static final int HEIGHT = 20;
  private static final double CHARACTER = 6;

  private final List<Entry> entries;

  Legend(Entry... entries) {
    this.entries = List.of(entries);
  }

  private record Entry(String css, String text) {}

  /** As a list in a page. */
  String html() {
    StringBuilder html = new StringBuilder("<ul class=\"legend\">");
    for (Entry entry : entries) {
      html.append("<li><i class=\"")
          .append(entry.css())
          .append("\"></i>")
          .append(Html.escape(entry.text()))
          .append("</li>");
    }
    return html.append("</ul>\n").toString();
  }

  /** As a line of a drawing. */
  Svg drawing() {
    Svg svg = new Svg(HEIGHT);
    double x = LEFT;
    for (Entry entry : entries) {
      svg.path(
          entry.css(),
          entry.css().equals("limit")
              ? String.format(java.util.Locale.ROOT, "M%.1f 9h%d", x, SWATCH)
              : Svg.box(x, 3, entry.css().equals("refused") ? 3 : SWATCH, 12));
      svg.text("start", x + SWATCH + 7, 13, entry.text());
      x += SWATCH + 7 + CHARACTER * entry.text().length() + 22;
    }
    return svg;
  }
}
