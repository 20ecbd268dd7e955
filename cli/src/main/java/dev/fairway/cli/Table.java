package dev.fairway.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Text in columns, each as wide as its widest cell, and lines between the rows that have none. */
final class Table {

  /** A row of one cell, which no column is as wide as. */
  private static final int LINE = 1;

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

  /** Adds a line below the rows so far, outside the columns. */
  void addLine(String text) {
    rows.add(new String[] {text});
  }

  /** The lines, headings first, without blanks at their ends. */
  List<String> lines() {
    int[] widths = new int[rows.get(0).length];
    for (String[] row : rows) {
      for (int i = 0; i < row.length && row.length > LINE; i++) {
        widths[i] = Math.max(widths[i], row[i].length());
      }
    }
    List<String> lines = new ArrayList<>();
    for (String[] row : rows) {
      if (row.length == LINE) {
        lines.add(row[0]);
        continue;
      }
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.length; i++) {
        line.append(row[i]).append(" ".repeat(widths[i] - row[i].length() + 2));
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }
}
