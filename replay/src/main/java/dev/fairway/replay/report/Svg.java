package dev.fairway.replay.report;

import java.util.Locale;

/** Text of an SVG drawing. Colours come from the style sheet, by class. */
final class Svg {
  static final int WIDTH = 1160;

  private final int height;
  private final StringBuilder shapes = new StringBuilder();

  Svg(int height) {
    this.height = height;
  }

  int height() {
    return height;
  }

  void text(String css, double x, double y, String text) {
    shapes.append(
        String.format(
            Locale.ROOT,
            "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>%n",
            css,
            x,
            y,
            Html.escape(text)));
  }

  /** A path; nothing where it is empty. */
  void path(String css, CharSequence path) {
    if (path.length() > 0) {
      shapes.append("<path class=\"").append(css).append("\" d=\"").append(path).append("\"/>\n");
    }
  }

  /** The path of a rectangle. */
  static String box(double x, double y, double width, double height) {
    return String.format(Locale.ROOT, "M%.1f %.1fh%.2fv%.1fh-%.2fz", x, y, width, height, width);
  }

  /** The shapes alone, to stand in another drawing. */
  String shapes() {
    return shapes.toString();
  }

  /** The drawing as it stands in a page; {@code title} is read out in its place. */
  String inPage(String title) {
    return String.format(
            Locale.ROOT,
            "<div class=\"scroll chart\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">%n",
            WIDTH,
            height,
            Html.escape(title))
        + shapes
        + "</svg></div>\n";
  }
}
