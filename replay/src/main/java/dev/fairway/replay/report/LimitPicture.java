package dev.fairway.replay.report;

import dev.fairway.replay.report.RunWatch.Amount;
import java.util.List;
import java.util.Locale;

/** A whole run: how much of the input limit was used, minute by minute, and 429s over time. */
final class LimitPicture {
  private static final int SHARE_TOP = 12;
  private static final int SHARE_HEIGHT = 90;
  private static final int REFUSALS_TOP = SHARE_TOP + SHARE_HEIGHT + 14;
  private static final int REFUSALS_HEIGHT = 50;
  private static final int LINE = 14;
  private static final double MINUTE_MS = 60_000;

  /** A full bucket and its refill can be used up in a minute; what debt adds to that is cut off. */
  private static final double SHARE_MAX = 2.1;

  private LimitPicture() {}

  /**
   * Draws it.
   *
   * @param inputPerMinute the provider's limit
   * @param refusalsPeak 429s a minute at the top of the scale, so that pictures compare
   */
  static Svg drawing(RunWatch run, Window window, double inputPerMinute, int refusalsPeak) {
    Svg svg = new Svg(REFUSALS_TOP + REFUSALS_HEIGHT + TimeAxis.HEIGHT);
    TimeAxis axis = new TimeAxis(window);
    axis.draw(svg, SHARE_TOP);
    double[] fleet = perMinute(run.fleet(), window);
    double[] outside = perMinute(run.outside(), window);
    StringBuilder fleetBars = new StringBuilder();
    StringBuilder outsideBars = new StringBuilder();
    StringBuilder refusalBars = new StringBuilder();
    Bins refusals = Bins.ofRefusals(run.agents(), window, (int) MINUTE_MS);
    for (int i = 0; i < fleet.length; i++) {
      double left = axis.x(window.fromMs() + i * MINUTE_MS);
      double width = Math.max(0.5, axis.x(window.fromMs() + (i + 1) * MINUTE_MS) - left - 0.6);
      double own = Math.min(SHARE_MAX, fleet[i] / inputPerMinute);
      double others = Math.min(SHARE_MAX - own, outside[i] / inputPerMinute);
      fleetBars.append(Svg.box(left, y(own), width, y(0) - y(own)));
      outsideBars.append(Svg.box(left, y(own + others), width, y(own) - y(own + others)));
      if (i < refusals.size() && refusals.at(i) > 0) {
        double high = (double) REFUSALS_HEIGHT * refusals.at(i) / Math.max(1, refusalsPeak);
        refusalBars.append(Svg.box(left, REFUSALS_TOP + REFUSALS_HEIGHT - high, width, high));
      }
    }
    svg.path("call", fleetBars);
    svg.path("tools", outsideBars);
    svg.path(
        "limit",
        String.format(Locale.ROOT, "M%d %.1fH%d", TimeAxis.LEFT, y(1), Svg.WIDTH - TimeAxis.RIGHT));
    svg.text("end", TimeAxis.LEFT - 8, y(1) + 4, "the limit");
    svg.text(
        "end",
        TimeAxis.LEFT - 8,
        y(1) + 4 + LINE,
        String.format(Locale.ROOT, "%,.0f tokens", inputPerMinute));
    svg.text("end", TimeAxis.LEFT - 8, y(0) - 2, "input a minute");
    TimeAxis.base(svg, SHARE_TOP + SHARE_HEIGHT);
    svg.path("refused", refusalBars);
    TimeAxis.base(svg, REFUSALS_TOP + REFUSALS_HEIGHT);
    svg.text("end", TimeAxis.LEFT - 8, REFUSALS_TOP + REFUSALS_HEIGHT - 2, "429s a minute");
    svg.text("end", TimeAxis.LEFT - 8, REFUSALS_TOP + 9, "scale to " + refusalsPeak);
    return svg;
  }

  private static double y(double share) {
    return SHARE_TOP + SHARE_HEIGHT * (1 - share / SHARE_MAX);
  }

  private static double[] perMinute(List<Amount> amounts, Window window) {
    double[] sums = new double[(int) Math.ceil(window.lengthMs() / MINUTE_MS)];
    for (Amount amount : amounts) {
      int minute = (int) Math.floor((amount.atMs() - window.fromMs()) / MINUTE_MS);
      if (minute >= 0 && minute < sums.length) {
        sums[minute] += amount.tokens();
      }
    }
    return sums;
  }
}
