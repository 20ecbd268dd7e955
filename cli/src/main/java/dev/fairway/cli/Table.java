package dev.fairway.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Text in columns, each as wide as its widest cell. */
final class Table {

  private final List<String[]> rows = new ArrayList<>();

  Table(String... headings) {
    rows.add(headings);
  }

  /** Adds a row; null cells are shown as {@code -}. */
  void add(Object... cells) {
    rows.add(
        Arrays.stream(cells)
            .map(cell -> cell == null ? "-" : cell.toString())
            .toArray(String[]::new));
  }

  /** The lines, headings first, without blanks at their ends. */
  List<String> lines() {
    int[] widths = new int[rows.get(0).length];
    for (String[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        widths[i] = Math.max(widths[i], row[i].length());
      }
    }
    List<String> lines = new ArrayList<>();
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.length; i++) {
        line.append(row[i]).append(" ".repeat(widths[i] - row[i].length() + 2));
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }
}
