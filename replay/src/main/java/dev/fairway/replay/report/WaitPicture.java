package dev.fairway.replay.report;

import dev.fairway.replay.world.Role;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * How long turns waited, a bar a role and policy: the median solid, the 95th percentile behind it;
 * a dash where the role had no turn.
 */
final class WaitPicture {
  private static final int BAR = 14;
  private static final int GAP = 10;
  private static final int TOP = 12;
  private static final int LABEL_WIDTH = 150;
  private static final int NUMBERS = 170;

  private WaitPicture() {}

  static Svg drawing(Map<String, RunWatch> runs) {
    int block = BAR * runs.size() + GAP;
    Svg svg = new Svg(TOP + block * Role.values().length);
    double most = 1;
    for (RunWatch run : runs.values()) {
      for (Role role : Role.values()) {
        most = Math.max(most, quantile(run.waitsMs(role), 0.95));
      }
    }
    double scale = (Svg.WIDTH - TimeAxis.LEFT - LABEL_WIDTH - NUMBERS) / most;
    int top = TOP;
    for (Role role : Role.values()) {
      svg.text("end", TimeAxis.LEFT - 8, top + BAR, role.wireName());
      int row = top;
      for (Map.Entry<String, RunWatch> run : runs.entrySet()) {
        List<Double> waits = run.getValue().waitsMs(role);
        double p50 = quantile(waits, 0.5);
        double p95 = quantile(waits, 0.95);
        double left = TimeAxis.LEFT + LABEL_WIDTH;
        svg.text("end", left - 6, row + BAR - 4.0, run.getKey());
        svg.path("wait_tail", Svg.box(left, row, p95 * scale, BAR - 4));
        svg.path("wait", Svg.box(left, row, p50 * scale, BAR - 4));
        svg.text(
            "start",
            left + p95 * scale + 6,
            row + BAR - 4.0,
            waits.isEmpty()
                ? "-"
                : String.format(Locale.ROOT, "%.1f / %.1f s", p50 / 1000, p95 / 1000));
        row += BAR;
      }
      top += block;
    }
    return svg;
  }

  /** The value that so many are not above; 0 where there are none. */
  static double quantile(List<Double> values, double share) {
    if (values.isEmpty()) {
      return 0;
    }
    List<Double> sorted = values.stream().sorted().toList();
    return sorted.get(Math.max(0, (int) Math.ceil(share * sorted.size()) - 1));
  }
}
