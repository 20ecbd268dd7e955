package dev.fairway.replay.simulate;

import dev.fairway.replay.world.Call;
import dev.fairway.replay.world.Dimension;
import dev.fairway.replay.world.Observer;
import dev.fairway.replay.world.Role;
import dev.fairway.schemas.RejectReason;

/** Two observers of one run. */
record ObserverPair(Observer first, Observer second) implements Observer {

  @Override
  public void joined(int agentIndex, String agentId) {
    first.joined(agentIndex, agentId);
    second.joined(agentIndex, agentId);
  }

  @Override
  public void admitted(long atMs, Call call, long input) {
    first.admitted(atMs, call, input);
    second.admitted(atMs, call, input);
  }

  @Override
  public void refused(long atMs, Call call, Dimension binding) {
    first.refused(atMs, call, binding);
    second.refused(atMs, call, binding);
  }

  @Override
  public void rejected(long atMs, Call call, RejectReason reason, String detail) {
    first.rejected(atMs, call, reason, detail);
    second.rejected(atMs, call, reason, detail);
  }

  @Override
  public void outside(long atMs, long input) {
    first.outside(atMs, input);
    second.outside(atMs, input);
  }

  @Override
  public void over(long atMs, Call call, long input, long output, boolean completed) {
    first.over(atMs, call, input, output, completed);
    second.over(atMs, call, input, output, completed);
  }

  @Override
  public void turnEnded(long atMs, Call call, long waitingSinceMs, long sentAtMs) {
    first.turnEnded(atMs, call, waitingSinceMs, sentAtMs);
    second.turnEnded(atMs, call, waitingSinceMs, sentAtMs);
  }

  @Override
  public void toolsEnded(long atMs, Call call, long waitingSinceMs) {
    first.toolsEnded(atMs, call, waitingSinceMs);
    second.toolsEnded(atMs, call, waitingSinceMs);
  }

  @Override
  public void replanned(long atMs, Call call, boolean fromWaits) {
    first.replanned(atMs, call, fromWaits);
    second.replanned(atMs, call, fromWaits);
  }

  @Override
  public void crashed(long atMs, Call call) {
    first.crashed(atMs, call);
    second.crashed(atMs, call);
  }

  @Override
  public void taskEnded(long atMs, Role role, String agentId, long beganAtMs) {
    first.taskEnded(atMs, role, agentId, beganAtMs);
    second.taskEnded(atMs, role, agentId, beganAtMs);
  }

  @Override
  public void merged(long atMs, int group, long criticalWaitMs) {
    first.merged(atMs, group, criticalWaitMs);
    second.merged(atMs, group, criticalWaitMs);
  }
}
