package dev.fairway.replay.report;

import dev.fairway.replay.report.AgentLine.Activity;
import dev.fairway.replay.report.AgentLine.Stretch;
import dev.fairway.replay.world.Call;
import dev.fairway.replay.world.Dimension;
import dev.fairway.replay.world.Observer;
import dev.fairway.replay.world.Role;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Keeps what pictures of a simulated run need. Not thread-safe. Beyond {@value #REFUSALS_MAX} 429s
 * only their number is kept, and {@link #refusalsLeftOut} tells how many are in no picture.
 */
public final class RunWatch implements Observer {
  static final int REFUSALS_MAX = 2_000_000;

  /** Agents of one pull request. */
  private static final int GROUP = 10;

  private final Map<Integer, Row> rows = new TreeMap<>();
  private final Map<Role, List<Double>> waitsMs = new EnumMap<>(Role.class);
  private final List<Double> wantedMs = new ArrayList<>();
  private final List<Amount> fleet = new ArrayList<>();
  private final List<Amount> outside = new ArrayList<>();
  private long refusals;
  private double lastMs;

  /** Input that the provider charged at a time. */
  record Amount(double atMs, long tokens) {}

  private static final class Row {
    final String name;
    final int group;
    final List<Stretch> stretches = new ArrayList<>();
    final List<Double> refusalsMs = new ArrayList<>();
    Double toolsSinceMs;
    Double waitsSinceMs;

    Row(String name, int group) {
      this.name = name;
      this.group = group;
    }

    /** A wait that a refusal began, which did not end in the turn's own call. */
    void waitsUntil(double atMs) {
      if (waitsSinceMs != null && atMs > waitsSinceMs) {
        stretches.add(new Stretch(Activity.WAIT, waitsSinceMs, atMs));
      }
      waitsSinceMs = null;
    }

    void toolsUntil(double atMs) {
      if (toolsSinceMs != null && atMs > toolsSinceMs) {
        stretches.add(new Stretch(Activity.TOOLS, toolsSinceMs, atMs));
      }
      toolsSinceMs = null;
    }
  }

  @Override
  public void joined(int agentIndex, String agentId) {
    rows.put(agentIndex, new Row(agentId, agentIndex / GROUP));
  }

  @Override
  public void admitted(long atMs, Call call, long input) {
    fleet.add(new Amount(atMs, input));
  }

  @Override
  public void outside(long atMs, long input) {
    outside.add(new Amount(atMs, input));
  }

  @Override
  public void refused(long atMs, Call call, Dimension binding) {
    Row row = row(call);
    if (row.waitsSinceMs == null) {
      row.toolsUntil(call.wantedAtMs());
      row.waitsSinceMs = (double) call.wantedAtMs();
    }
    lastMs = atMs;
    if (refusals++ < REFUSALS_MAX) {
      row.refusalsMs.add((double) atMs);
    }
  }

  @Override
  public void over(long atMs, Call call, long input, long output, boolean completed) {
    if (call.isReplan()) {
      Row row = row(call);
      row.toolsSinceMs = null;
      row.waitsUntil(call.sentAtMs());
      row.stretches.add(new Stretch(Activity.RE_PLAN, call.sentAtMs(), atMs));
    }
  }

  @Override
  public void turnEnded(long atMs, Call call, long waitingSinceMs, long sentAtMs) {
    Row row = row(call);
    row.toolsUntil(waitingSinceMs);
    row.waitsSinceMs = null;
    row.stretches.add(new Stretch(Activity.WAIT, waitingSinceMs, sentAtMs));
    row.stretches.add(new Stretch(Activity.CALL, sentAtMs, atMs));
    row.toolsSinceMs = (double) atMs;
    wantedMs.add((double) waitingSinceMs);
    waitsMs
        .computeIfAbsent(call.role(), role -> new ArrayList<>())
        .add((double) (sentAtMs - waitingSinceMs));
  }

  @Override
  public void replanned(long atMs, Call call, boolean fromWaits) {
    row(call).waitsUntil(atMs);
  }

  @Override
  public void taskEnded(long atMs, Role role, String agentId, long beganAtMs) {
    rows.values().stream()
        .filter(row -> row.name.equals(agentId))
        .findFirst()
        .ifPresent(row -> row.toolsUntil(atMs));
  }

  private Row row(Call call) {
    return rows.get(call.agentIndex());
  }

  /**
   * One row an agent of the fleet, in their order; an agent that had no turn has an empty one, so
   * that the rows of all policies compare.
   */
  public List<AgentLine> agents() {
    rows.values().forEach(row -> row.waitsUntil(lastMs));
    return rows.values().stream()
        .map(
            r ->
                new AgentLine(r.name, r.group, List.copyOf(r.stretches), List.copyOf(r.refusalsMs)))
        .toList();
  }

  /** 429s that no picture shows. */
  public long refusalsLeftOut() {
    return Math.max(0, refusals - REFUSALS_MAX);
  }

  long refusals() {
    return refusals;
  }

  /** When turns wanted their calls. */
  List<Double> wantedMs() {
    return wantedMs;
  }

  /** How long turns of a role waited for the call that went through, in no order. */
  List<Double> waitsMs(Role role) {
    return waitsMs.getOrDefault(role, List.of());
  }

  List<Amount> fleet() {
    return fleet;
  }

  List<Amount> outside() {
    return outside;
  }
}
