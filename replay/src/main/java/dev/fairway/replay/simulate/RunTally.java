package dev.fairway.replay.simulate;

import dev.fairway.replay.world.Call;
import dev.fairway.replay.world.Dimension;
import dev.fairway.replay.world.Limits;
import dev.fairway.replay.world.Observer;
import dev.fairway.replay.world.Role;
import dev.fairway.replay.world.WorldOptions;
import dev.fairway.schemas.RejectReason;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Adds up a run. */
final class RunTally implements Observer {
  private static final double MINUTE_MS = 60_000;

  private final List<Long> taskMs = new ArrayList<>();
  private final List<Long> leafMs = new ArrayList<>();
  private final Map<RejectReason, RunResult.Rejected> rejected = new EnumMap<>(RejectReason.class);
  private long admitted;
  private long refusals;
  private long usefulInput;
  private long usefulTokens;
  private long tokens;
  private long turns;
  private long crashes;
  private long merged;
  private long criticalWaitMs;
  private long replans;
  private long replansFromWaits;
  private long outsideInput;

  @Override
  public void admitted(long atMs, Call call, long input) {
    admitted++;
  }

  @Override
  public void refused(long atMs, Call call, Dimension binding) {
    refusals++;
  }

  @Override
  public void rejected(long atMs, Call call, RejectReason reason, String detail) {
    RunResult.Rejected before = rejected.get(reason);
    long times = before == null ? 1 : before.times() + 1;
    rejected.put(reason, new RunResult.Rejected(reason, times, detail));
  }

  @Override
  public void outside(long atMs, long input) {
    outsideInput += input;
  }

  @Override
  public void over(long atMs, Call call, long input, long output, boolean completed) {
    tokens += input + output;
    if (completed && !call.isReplan()) {
      turns++;
      usefulInput += call.newInput();
      usefulTokens += call.newInput() + output;
    }
  }

  @Override
  public void crashed(long atMs, Call call) {
    crashes++;
  }

  @Override
  public void replanned(long atMs, Call call, boolean fromWaits) {
    replans++;
    replansFromWaits += fromWaits ? 1 : 0;
  }

  @Override
  public void taskEnded(long atMs, Role role, String agentId, long beganAtMs) {
    taskMs.add(atMs - beganAtMs);
  }

  @Override
  public void toolsEnded(long atMs, Call call, long waitingSinceMs) {
    if (call.role() == Role.LINT) {
      leafMs.add(atMs - waitingSinceMs);
    }
  }

  @Override
  public void merged(long atMs, int group, long waitMs) {
    merged++;
    criticalWaitMs += waitMs;
  }

  RunResult result(Limits limits, WorldOptions options) {
    double capacity = limits.inputTokens() * (options.durationMs() / MINUTE_MS) - outsideInput;
    return new RunResult(
        admitted + refusals,
        refusals,
        capacity,
        usefulInput,
        usefulTokens,
        tokens,
        turns,
        crashes,
        merged,
        merged == 0 ? Double.NaN : (double) criticalWaitMs / merged,
        quantile(leafMs, 0.5),
        quantile(taskMs, 0.5),
        quantile(taskMs, 0.95),
        replans,
        replansFromWaits,
        List.copyOf(rejected.values()));
  }

  /** The value that so many are not above. */
  private static double quantile(List<Long> values, double share) {
    if (values.isEmpty()) {
      return Double.NaN;
    }
    Collections.sort(values);
    return values.get((int) Math.ceil(share * values.size()) - 1);
  }
}
