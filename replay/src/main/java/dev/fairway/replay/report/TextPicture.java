package dev.fairway.replay.report;

import java.util.ArrayList;
import java.util.List;

/** Words and tables as a drawing, for a picture that stands without its page. */
final class TextPicture {
  private static final int LEFT = 16;
  private static final int LINE = 16;
  private static final int FIRST_COLUMN = 150;

  /** Fits the width with the widest of the fonts that the style names. */
  private static final int CHARACTERS_MAX = 170;

  private TextPicture() {}

  /** Each text from the start of a line, broken between words, or within one that is too long. */
  static Svg words(List<String> texts) {
    List<String> lines = new ArrayList<>();
    texts.forEach(text -> wrap(text, lines));
    Svg svg = new Svg(LINE * lines.size() + 4);
    for (int i = 0; i < lines.size(); i++) {
      svg.text("start", LEFT, LINE * (i + 1.0), lines.get(i));
    }
    return svg;
  }

  /** Rows of as many cells; the first column to the left, the others to the right. */
  static Svg table(List<List<String>> rows) {
    Svg svg = new Svg(LINE * rows.size() + 4);
    int others = rows.get(0).size() - 1;
    double width = (double) (Svg.WIDTH - 2 * LEFT - FIRST_COLUMN) / Math.max(1, others);
    for (int row = 0; row < rows.size(); row++) {
      double y = LINE * (row + 1.0);
      svg.text("start", LEFT, y, rows.get(row).get(0));
      for (int column = 1; column <= others; column++) {
        svg.text("end", LEFT + FIRST_COLUMN + column * width, y, rows.get(row).get(column));
      }
    }
    return svg;
  }

  private static void wrap(String text, List<String> lines) {
    String rest = text;
    while (rest.length() > CHARACTERS_MAX) {
      int space = rest.lastIndexOf(' ', CHARACTERS_MAX);
      int end = space > 0 ? space : CHARACTERS_MAX;
      lines.add(rest.substring(0, end));
      rest = rest.substring(end).strip();
    }
    lines.add(rest);
  }
}
