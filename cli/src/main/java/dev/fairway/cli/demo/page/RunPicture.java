package dev.fairway.cli.demo.page;

import dev.fairway.cli.demo.fleet.AgentLog;
import dev.fairway.cli.demo.fleet.Span;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * One run as SVG: 429s by the second, by the tenth of a second, and a row an agent with what it
 * did. All three share the time axis.
 */
final class RunPicture {
  private static final int WIDTH = 1160;
  private static final int LEFT = 118;
  private static final int RIGHT = 12;
  private static final int SECONDS_TOP = 18;
  private static final int SECONDS_HEIGHT = 84;
  private static final int TENTHS_TOP = SECONDS_TOP + SECONDS_HEIGHT + 24;
  private static final int TENTHS_HEIGHT = 40;
  private static final int ROWS_TOP = TENTHS_TOP + TENTHS_HEIGHT + 12;
  private static final int AXIS_HEIGHT = 22;

  /** Rows shrink for large fleets, down to a pixel's legible minimum. */
  private static final int ROWS_HEIGHT_WANTED = 360;

  private static final int ROW_HEIGHT_MAX = 18;
  private static final int ROW_HEIGHT_MIN = 4;
  private static final int GROUP_GAP = 6;

  /** 429s cover the upper part of a row only, so that what the agent did stays visible below. */
  private static final double REFUSAL_SHARE = 0.5;

  private static final int LABELLED_ROW_HEIGHT_MIN = 10;

  private final List<AgentLog> logs;
  private final double seconds;
  private final int peakPerSecond;
  private final int peakPerTenth;
  private final StringBuilder svg = new StringBuilder();

  private RunPicture(List<AgentLog> logs, double seconds, int peakPerSecond, int peakPerTenth) {
    this.logs = logs;
    this.seconds = seconds;
    this.peakPerSecond = peakPerSecond;
    this.peakPerTenth = peakPerTenth;
  }

  /**
   * Draws a run.
   *
   * @param title read out in place of the picture
   * @param logs what its agents did
   * @param seconds its length
   * @param scaleOf the run whose peaks set the scale of the histograms, so that two pictures
   *     compare
   */
  static String draw(String title, List<AgentLog> logs, double seconds, List<AgentLog> scaleOf) {
    return new RunPicture(
            logs, seconds, peak(bins(scaleOf, seconds, 1000)), peak(bins(scaleOf, seconds, 100)))
        .draw(title);
  }

  private String draw(String title) {
    int rowHeight =
        Math.max(
            ROW_HEIGHT_MIN,
            Math.min(ROW_HEIGHT_MAX, ROWS_HEIGHT_WANTED / Math.max(1, logs.size())));
    int rowsHeight = rowHeight * logs.size() + GROUP_GAP * lastGroup();
    int height = ROWS_TOP + rowsHeight + AXIS_HEIGHT;
    svg.append(
        String.format(
            Locale.ROOT,
            "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">%n",
            WIDTH,
            height,
            Html.escape(title)));
    grid(height);
    histogram(1000, SECONDS_TOP, SECONDS_HEIGHT, peakPerSecond, "429s a second");
    histogram(100, TENTHS_TOP, TENTHS_HEIGHT, peakPerTenth, "429s in 100 ms");
    rows(rowHeight);
    axis(height);
    return svg.append("</svg>\n").toString();
  }

  private void grid(int height) {
    StringBuilder path = new StringBuilder();
    for (double second = 0; second <= seconds; second += tick()) {
      path.append(
          String.format(
              Locale.ROOT, "M%.1f %dV%d", x(second * 1000), SECONDS_TOP, height - AXIS_HEIGHT));
    }
    svg.append("<path class=\"rule\" d=\"").append(path).append("\"/>\n");
  }

  private void axis(int height) {
    for (double second = 0; second <= seconds; second += tick()) {
      text("middle", x(second * 1000), height - 6, String.format(Locale.ROOT, "%.0f s", second));
    }
  }

  private double tick() {
    double tick = 1;
    for (double next : new double[] {2, 5, 10, 30, 60, 300, 600}) {
      if (seconds / tick > 14) {
        tick = next;
      }
    }
    return tick;
  }

  private void histogram(int binMs, int top, int height, int peak, String label) {
    int[] counts = bins(logs, seconds, binMs);
    StringBuilder path = new StringBuilder();
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        double barHeight = (double) height * counts[i] / peak;
        double gap = binMs >= 1000 ? 1 : 0.2;
        path.append(
            box(
                x((double) i * binMs) + gap / 2,
                top + height - barHeight,
                x((i + 1.0) * binMs) - x((double) i * binMs) - gap,
                barHeight));
      }
    }
    if (path.length() > 0) {
      svg.append("<path class=\"refused\" d=\"").append(path).append("\"/>\n");
    } else {
      text("middle", (LEFT + WIDTH - RIGHT) / 2.0, top + height / 2.0 + 4, "none");
    }
    svg.append(
        String.format(
            Locale.ROOT,
            "<path class=\"rule\" d=\"M%d %dH%d\"/>%n",
            LEFT,
            top + height,
            WIDTH - RIGHT));
    text("end", LEFT - 8, top + height - 2, label);
    if (peak > 0) {
      text("end", LEFT - 8, top + 9, "scale to " + peak);
    }
  }

  private void rows(int rowHeight) {
    Map<Span.Activity, StringBuilder> byActivity = new EnumMap<>(Span.Activity.class);
    StringBuilder refusals = new StringBuilder();
    StringBuilder bands = new StringBuilder();
    for (int row = 0; row < logs.size(); row++) {
      AgentLog log = logs.get(row);
      double top = ROWS_TOP + (double) row * rowHeight + GROUP_GAP * log.plan().group();
      double barHeight = rowHeight * 0.72;
      bands.append(box(LEFT, top, WIDTH - RIGHT - LEFT, barHeight));
      for (Span span : log.spans()) {
        double from = x(Math.min(span.startMs(), seconds * 1000));
        double to = x(Math.min(span.endMs(), seconds * 1000));
        if (to > from) {
          byActivity
              .computeIfAbsent(span.activity(), activity -> new StringBuilder())
              .append(box(from, top, to - from, barHeight));
        }
      }
      for (double atMs : log.refusalsMs()) {
        if (atMs <= seconds * 1000) {
          refusals.append(box(x(atMs) - 0.6, top - 1, 1.2, barHeight * REFUSAL_SHARE + 1));
        }
      }
      if (rowHeight >= LABELLED_ROW_HEIGHT_MIN) {
        text("end", LEFT - 8, top + barHeight - 2, log.plan().kind() + " " + suffix(log));
      }
    }
    svg.append("<path class=\"band\" d=\"").append(bands).append("\"/>\n");
    byActivity.forEach(
        (activity, path) ->
            svg.append("<path class=\"")
                .append(activity.name().toLowerCase(Locale.ROOT))
                .append("\" d=\"")
                .append(path)
                .append("\"/>\n"));
    if (refusals.length() > 0) {
      svg.append("<path class=\"refused\" d=\"").append(refusals).append("\"/>\n");
    }
  }

  private int lastGroup() {
    return logs.stream().mapToInt(log -> log.plan().group()).max().orElse(0);
  }

  private static String suffix(AgentLog log) {
    String agent = log.plan().agent();
    return agent.substring(agent.lastIndexOf('-') + 1);
  }

  private void text(String css, double x, double y, String text) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>%n",
            css,
            x,
            y,
            Html.escape(text)));
  }

  private static String box(double x, double y, double width, double height) {
    return String.format(Locale.ROOT, "M%.1f %.1fh%.2fv%.1fh-%.2fz", x, y, width, height, width);
  }

  private double x(double atMs) {
    return LEFT + atMs / (seconds * 1000) * (WIDTH - LEFT - RIGHT);
  }

  private static int[] bins(List<AgentLog> logs, double seconds, int binMs) {
    int[] counts = new int[(int) Math.ceil(seconds * 1000 / binMs)];
    for (AgentLog log : logs) {
      for (double atMs : log.refusalsMs()) {
        int bin = (int) (atMs / binMs);
        if (bin < counts.length) {
          counts[bin]++;
        }
      }
    }
    return counts;
  }

  private static int peak(int[] counts) {
    int peak = 0;
    for (int count : counts) {
      peak = Math.max(peak, count);
    }
    return peak;
  }
}
