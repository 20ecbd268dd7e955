package dev.fairway.replay.simulate;

import dev.fairway.replay.world.Call;
import dev.fairway.replay.world.Dimension;
import dev.fairway.replay.world.Observer;
import dev.fairway.replay.world.Role;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What happened when, for pictures of a run: refusals, turns, charges and merges, each in order of
 * time. Times are virtual milliseconds. Keeps at most {@value #ENTRIES_MAX} entries of each kind
 * and counts the rest. Not thread-safe; read it when the run is over.
 */
public final class Timeline implements Observer {
  /** Most entries of one kind. */
  public static final int ENTRIES_MAX = 1_000_000;

  /**
   * The provider answered 429.
   *
   * @param agent index of the agent, from 0
   * @param binding the limit that refused the call; null in an outage
   */
  public record Refused(long atMs, int agent, Role role, boolean replan, Dimension binding) {}

  /**
   * A turn's call, from the wish to the last token.
   *
   * @param agent index of the agent, from 0
   * @param waitingSinceMs when its agent wanted it, or was back from a crash
   * @param sentAtMs when the call that was admitted was sent
   * @param endedAtMs when the provider had ended it
   * @param input new input, without its prefix
   */
  public record Turn(
      int agent, Role role, long waitingSinceMs, long sentAtMs, long endedAtMs, long input) {}

  /**
   * Input was charged.
   *
   * @param kind whose it was
   */
  public record Charge(long atMs, ChargeKind kind, long input) {}

  /** Whose input was charged. */
  public enum ChargeKind {
    TURN,
    REPLAN,
    OUTSIDE
  }

  /** A turn was given up. */
  public record Replan(long atMs, int agent, Role role, boolean fromWaits) {}

  /** A pull request was merged. */
  public record Merge(long atMs, int group, long criticalWaitMs) {}

  private final List<Refused> refused = new ArrayList<>();
  private final List<Turn> turns = new ArrayList<>();
  private final List<Charge> charges = new ArrayList<>();
  private final List<Replan> replans = new ArrayList<>();
  private final List<Merge> merges = new ArrayList<>();
  private long dropped;

  @Override
  public void admitted(long atMs, Call call, long input) {
    ChargeKind kind = call.isReplan() ? ChargeKind.REPLAN : ChargeKind.TURN;
    keep(charges, new Charge(atMs, kind, input));
  }

  @Override
  public void refused(long atMs, Call call, Dimension binding) {
    keep(refused, new Refused(atMs, call.agentIndex(), call.role(), call.isReplan(), binding));
  }

  @Override
  public void outside(long atMs, long input) {
    keep(charges, new Charge(atMs, ChargeKind.OUTSIDE, input));
  }

  @Override
  public void turnEnded(long atMs, Call call, long waitingSinceMs, long sentAtMs) {
    keep(
        turns,
        new Turn(call.agentIndex(), call.role(), waitingSinceMs, sentAtMs, atMs, call.newInput()));
  }

  @Override
  public void replanned(long atMs, Call call, boolean fromWaits) {
    keep(replans, new Replan(atMs, call.agentIndex(), call.role(), fromWaits));
  }

  @Override
  public void merged(long atMs, int group, long criticalWaitMs) {
    keep(merges, new Merge(atMs, group, criticalWaitMs));
  }

  private <T> void keep(List<T> entries, T entry) {
    if (entries.size() < ENTRIES_MAX) {
      entries.add(entry);
    } else {
      dropped++;
    }
  }

  /** Refusals. */
  public List<Refused> refused() {
    return Collections.unmodifiableList(refused);
  }

  /** Turns, by their ends; who waits at the end of the run is not among them. */
  public List<Turn> turns() {
    return Collections.unmodifiableList(turns);
  }

  /** Input charged, by the fleet and by others. */
  public List<Charge> charges() {
    return Collections.unmodifiableList(charges);
  }

  /** Turns given up. */
  public List<Replan> replans() {
    return Collections.unmodifiableList(replans);
  }

  /** Merged pull requests. */
  public List<Merge> merges() {
    return Collections.unmodifiableList(merges);
  }

  /** Entries beyond the most that is kept. */
  public long dropped() {
    return dropped;
  }
}
