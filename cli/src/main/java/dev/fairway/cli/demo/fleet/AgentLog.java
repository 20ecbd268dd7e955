package dev.fairway.cli.demo.fleet;

import dev.fairway.cli.demo.fleet.Span.Activity;
import java.util.ArrayList;
import java.util.List;

/**
 * What happened to one agent. Written by the agent's own thread and read by anyone: all methods are
 * synchronized.
 */
public final class AgentLog {
  private final AgentPlan plan;
  private final List<Span> spans = new ArrayList<>();
  private final List<Double> refusalsMs = new ArrayList<>();
  private final List<Double> waitsMs = new ArrayList<>();
  private long calls;
  private long failedCalls;
  private long tokens;
  private long wastedTokens;
  private long turns;
  private long tasks;
  private Activity now = Activity.IDLE;

  AgentLog(AgentPlan plan) {
    this.plan = plan;
  }

  /**
   * The counts of one agent.
   *
   * @param calls calls sent to the provider
   * @param refusals 429s it got
   * @param failedCalls calls that ended in anything but an answer or a 429
   * @param tokens input and output that the provider charged
   * @param wastedTokens those of them that went into re-plans
   * @param turns turns whose call succeeded
   * @param tasks tasks finished
   */
  public record Counts(
      long calls,
      long refusals,
      long failedCalls,
      long tokens,
      long wastedTokens,
      long turns,
      long tasks) {

    /** The sum. */
    public Counts plus(Counts other) {
      return new Counts(
          calls + other.calls,
          refusals + other.refusals,
          failedCalls + other.failedCalls,
          tokens + other.tokens,
          wastedTokens + other.wastedTokens,
          turns + other.turns,
          tasks + other.tasks);
    }

    /** Nothing yet. */
    public static Counts none() {
      return new Counts(0, 0, 0, 0, 0, 0, 0);
    }
  }

  synchronized void doing(Activity activity) {
    now = activity;
  }

  synchronized void span(Activity activity, double startMs, double endMs, int turn) {
    spans.add(new Span(activity, startMs, endMs, turn));
  }

  synchronized void answered(ProviderAnswer answer, boolean wasted, double atMs) {
    calls++;
    if (answer.refused()) {
      refusalsMs.add(atMs);
    } else if (!answer.ok()) {
      failedCalls++;
    } else {
      tokens += answer.inputTokens() + answer.outputTokens();
      if (wasted) {
        wastedTokens += answer.inputTokens() + answer.outputTokens();
      }
    }
  }

  synchronized void turnCalled(double waitedMs) {
    turns++;
    waitsMs.add(waitedMs);
  }

  /** The run ended while the turn waited: its wait counts as far as it went. */
  synchronized void turnBrokenOff(double waitedMs) {
    waitsMs.add(waitedMs);
  }

  synchronized void taskFinished() {
    tasks++;
  }

  /** The agent's plan. */
  public AgentPlan plan() {
    return plan;
  }

  /** What it is doing now. */
  public synchronized Activity now() {
    return now;
  }

  /** What it did, in order. */
  public synchronized List<Span> spans() {
    return List.copyOf(spans);
  }

  /** When it was answered 429, in milliseconds since the start. */
  public synchronized List<Double> refusalsMs() {
    return List.copyOf(refusalsMs);
  }

  /** How long each turn waited until the call that succeeded was sent, or until the run ended. */
  public synchronized List<Double> waitsMs() {
    return List.copyOf(waitsMs);
  }

  /** Its counts so far. */
  public synchronized Counts counts() {
    return new Counts(calls, refusalsMs.size(), failedCalls, tokens, wastedTokens, turns, tasks);
  }
}
