package dev.fairway.replay.report;

import dev.fairway.replay.report.AgentLine.Activity;
import dev.fairway.replay.report.AgentLine.Stretch;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Part of one run: 429s by the second, by the tenth of a second, and a row an agent with what it
 * did. All three share the time axis, so that one sees whether the waves line up with the work.
 */
public final class TurnPicture {
  private static final int SECONDS_TOP = 18;
  private static final int SECONDS_HEIGHT = 84;
  private static final int TENTHS_TOP = SECONDS_TOP + SECONDS_HEIGHT + 24;
  private static final int TENTHS_HEIGHT = 40;
  private static final int ROWS_TOP = TENTHS_TOP + TENTHS_HEIGHT + 12;

  /** Rows shrink for large fleets, down to a pixel's legible minimum. */
  private static final int ROWS_HEIGHT_WANTED = 360;

  private static final int ROW_HEIGHT_MAX = 18;
  private static final int ROW_HEIGHT_MIN = 4;
  private static final int GROUP_GAP = 6;

  /** 429s cover the upper part of a row only, so that what the agent did stays visible below. */
  private static final double REFUSAL_SHARE = 0.5;

  private static final int LABELLED_ROW_HEIGHT_MIN = 10;

  private final List<AgentLine> agents;
  private final Window window;
  private final TimeAxis axis;
  private final int rowHeight;
  private final Svg svg;

  private TurnPicture(List<AgentLine> agents, Window window) {
    this.agents = agents;
    this.window = window;
    this.axis = new TimeAxis(window);
    this.rowHeight =
        Math.max(
            ROW_HEIGHT_MIN,
            Math.min(ROW_HEIGHT_MAX, ROWS_HEIGHT_WANTED / Math.max(1, agents.size())));
    int lastGroup = agents.stream().mapToInt(AgentLine::group).max().orElse(0);
    this.svg =
        new Svg(ROWS_TOP + rowHeight * agents.size() + GROUP_GAP * lastGroup + TimeAxis.HEIGHT);
  }

  /**
   * Draws it for a page.
   *
   * @param title read out in place of the picture
   * @param agents rows, in order of their groups
   * @param window what part of the run
   * @param scaleOf the run whose peaks set the scale of the histograms, so that two pictures
   *     compare
   */
  public static String draw(
      String title, List<AgentLine> agents, Window window, List<AgentLine> scaleOf) {
    return drawing(agents, window, scaleOf).inPage(title);
  }

  static Svg drawing(List<AgentLine> agents, Window window, List<AgentLine> scaleOf) {
    return new TurnPicture(agents, window).drawing(scaleOf);
  }

  private Svg drawing(List<AgentLine> scaleOf) {
    axis.draw(svg, SECONDS_TOP);
    histogram(1000, SECONDS_TOP, SECONDS_HEIGHT, scaleOf, "429s a second");
    histogram(100, TENTHS_TOP, TENTHS_HEIGHT, scaleOf, "429s in 100 ms");
    rows();
    return svg;
  }

  private void histogram(int binMs, int top, int height, List<AgentLine> scaleOf, String label) {
    Bins bins = Bins.ofRefusals(agents, window, binMs);
    int peak = Math.max(bins.peak(), Bins.ofRefusals(scaleOf, window, binMs).peak());
    StringBuilder path = new StringBuilder();
    double gap =
        binMs >= 1000 ? Math.min(1, axis.x(binMs + window.fromMs()) - TimeAxis.LEFT) / 2 : 0;
    for (int i = 0; i < bins.size(); i++) {
      if (bins.at(i) > 0) {
        double barHeight = (double) height * bins.at(i) / peak;
        double left = axis.x(window.fromMs() + (double) i * binMs);
        double right = axis.x(window.fromMs() + (i + 1.0) * binMs);
        path.append(
            Svg.box(
                left + gap / 2,
                top + height - barHeight,
                Math.max(0.2, right - left - gap),
                barHeight));
      }
    }
    svg.path("refused", path);
    if (path.length() == 0) {
      double middle = (TimeAxis.LEFT + Svg.WIDTH - TimeAxis.RIGHT) / 2.0;
      svg.text("middle", middle, top + height / 2.0 + 4, "none");
    }
    TimeAxis.base(svg, top + height);
    svg.text("end", TimeAxis.LEFT - 8, top + height - 2, label);
    if (peak > 0) {
      svg.text("end", TimeAxis.LEFT - 8, top + 9, "scale to " + peak);
    }
  }

  private void rows() {
    Map<Activity, StringBuilder> byActivity = new EnumMap<>(Activity.class);
    StringBuilder refusals = new StringBuilder();
    StringBuilder bands = new StringBuilder();
    double barHeight = rowHeight * 0.72;
    for (int row = 0; row < agents.size(); row++) {
      AgentLine agent = agents.get(row);
      double top = ROWS_TOP + (double) row * rowHeight + GROUP_GAP * agent.group();
      bands.append(
          Svg.box(TimeAxis.LEFT, top, Svg.WIDTH - TimeAxis.RIGHT - TimeAxis.LEFT, barHeight));
      for (Stretch stretch : agent.stretches()) {
        double from = axis.x(stretch.startMs());
        double to = axis.x(stretch.endMs());
        if (to > from) {
          byActivity
              .computeIfAbsent(stretch.activity(), activity -> new StringBuilder())
              .append(Svg.box(from, top, to - from, barHeight));
        }
      }
      for (double atMs : agent.refusalsMs()) {
        if (window.contains(atMs)) {
          refusals.append(Svg.box(axis.x(atMs) - 0.6, top - 1, 1.2, barHeight * REFUSAL_SHARE + 1));
        }
      }
      if (rowHeight >= LABELLED_ROW_HEIGHT_MIN) {
        svg.text("end", TimeAxis.LEFT - 8, top + barHeight - 2, agent.name());
      }
    }
    svg.path("band", bands);
    byActivity.forEach(
        (activity, path) -> svg.path(activity.name().toLowerCase(Locale.ROOT), path));
    svg.path("refused", refusals);
  }
}
