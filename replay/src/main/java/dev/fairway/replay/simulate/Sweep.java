package dev.fairway.replay.simulate;

import dev.fairway.replay.world.Parameter;
import dev.fairway.replay.world.WorldOptions;
import java.util.ArrayList;
import java.util.List;

/** One world for each combination of some parameters' values. */
public final class Sweep {
  /** Most worlds of one sweep. */
  public static final int POINTS_MAX = 1000;

  private static final String REPLAN_COST = "replan-cost";

  private Sweep() {}

  /**
   * One world of a sweep.
   *
   * @param name what was set, such as {@code rho=0.8 patience-s=60}; empty if nothing was
   */
  public record Point(String name, WorldOptions options) {}

  /**
   * Sets one parameter by its option name.
   *
   * @param name an option name; {@code replan-cost} stands for both ends of that range
   * @param text value; for {@code replan-cost} one number, or two with a dash
   * @throws IllegalArgumentException if there is no such parameter or value; for people
   */
  public static WorldOptions set(WorldOptions options, String name, String text) {
    if (name.equals(REPLAN_COST)) {
      int dash = text.indexOf('-');
      String least = dash < 0 ? text : text.substring(0, dash);
      String most = dash < 0 ? text : text.substring(dash + 1);
      WorldOptions set =
          options.with(Parameter.REPLAN_COST_LEAST, least).with(Parameter.REPLAN_COST_MOST, most);
      if (set.harness().replanLeast() > set.harness().replanMost()) {
        throw new IllegalArgumentException(
            "Expected the smaller number first for --replan-cost, but found '" + text + "'");
      }
      return set;
    }
    Parameter parameter =
        Parameter.named(name)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "Expected the name of a parameter such as patience-s, but found '"
                            + name
                            + "'"));
    return options.with(parameter, text);
  }

  /**
   * Every combination.
   *
   * @param axes each {@code NAME=VALUE,VALUE}; the last one varies fastest
   * @throws IllegalArgumentException if an axis is none, or there are too many; for people
   */
  public static List<Point> points(WorldOptions base, List<String> axes) {
    List<Point> points = List.of(new Point("", base));
    for (String axis : axes) {
      int equals = axis.indexOf('=');
      if (equals < 1 || equals == axis.length() - 1) {
        throw new IllegalArgumentException(
            "Expected NAME=VALUE,VALUE such as patience-s=60,600 for --sweep, but found '"
                + axis
                + "'");
      }
      String name = axis.substring(0, equals);
      List<Point> next = new ArrayList<>();
      for (Point point : points) {
        for (String value : axis.substring(equals + 1).split(",", -1)) {
          String label = (point.name() + " " + name + "=" + value).strip();
          next.add(new Point(label, set(point.options(), name, value)));
        }
      }
      if (next.size() > POINTS_MAX) {
        throw new IllegalArgumentException(
            "Expected at most " + POINTS_MAX + " worlds in a sweep, but found " + next.size());
      }
      points = next;
    }
    return points;
  }
}
