package dev.fairway.replay.world;

import dev.fairway.replay.world.Draws.Stream;
import java.util.ArrayList;
import java.util.List;

/**
 * What the agents have to do, the same for every policy: a turn's sizes and times depend on the
 * seed, the agent, its task and the turn alone.
 */
final class Work {
  private static final double OUTPUT_SD = 0.8;
  private static final double TOOL_SD = 0.04;
  private static final double LATENCY_LEAST_MS = 1000;
  private static final double LATENCY_MOST_MS = 2000;
  private static final double OUTPUT_TOKENS_PER_MS = 0.08;
  private static final double CRASH_EARLIEST = 0.1;
  private static final double CRASH_LATEST = 0.9;
  private static final double AWAY_LEAST_MS = 30_000;
  private static final double AWAY_MOST_MS = 60_000;

  private final long seed;
  private final WorldOptions options;

  Work(long seed, WorldOptions options) {
    this.seed = seed;
    this.options = options;
  }

  /** Where a turn stands: agent, task of that agent, turn of that task, all from 0. */
  record Place(int agent, int task, int turn) {}

  /**
   * One model call and what follows.
   *
   * @param newInput input tokens that are in no cache
   * @param fresh whether it reads all anew, and builds on nothing that was cached before
   * @param output output tokens
   * @param latencyMs from the call's arrival to the first token
   * @param toolMs time of the tools after it
   * @param estimateFactor what the agent takes its input for, over what it is
   */
  record Turn(
      long newInput,
      boolean fresh,
      long output,
      long latencyMs,
      long toolMs,
      double estimateFactor) {}

  Turn turn(Role role, Place place) {
    Draws draws = Draws.of(seed, Stream.TURN, place.agent(), place.task(), place.turn(), 0);
    boolean likeFirst = place.turn() == 0 || draws.next() < role.rereadShare();
    return turn(role, role.newInput(likeFirst, draws.next()), likeFirst, draws);
  }

  private Turn turn(Role role, long newInput, boolean fresh, Draws draws) {
    double output = draws.lognormal(role.outputMean(), OUTPUT_SD);
    return new Turn(
        newInput,
        fresh,
        Math.max(1, Math.min(role.maxTokens(), Math.round(output))),
        Math.round(draws.between(LATENCY_LEAST_MS, LATENCY_MOST_MS)),
        Math.round(draws.lognormalAround(role.toolMs(), TOOL_SD)),
        draws.lognormal(1, options.fleet().estimateSd()));
  }

  /** The calls in which an agent plans again after one of that input failed. */
  List<Turn> replan(Role role, Place place, int number, long failedInput) {
    Draws draws = Draws.of(seed, Stream.REPLAN, place.agent(), place.task(), place.turn(), number);
    WorldOptions.Harness harness = options.harness();
    long left =
        Math.max(
            1,
            Math.round(failedInput * draws.between(harness.replanLeast(), harness.replanMost())));
    List<Turn> calls = new ArrayList<>();
    while (left > 0) {
      long input = Math.min(left, harness.replanCallTokens());
      calls.add(turn(role, input, true, draws));
      left -= input;
    }
    return calls;
  }

  /**
   * How a call ends before its time.
   *
   * @param share of the output produced by then
   * @param awayMs how long its agent is gone
   */
  record Crash(double share, long awayMs) {}

  /** The crash of a turn's call of that number, from 0, or null. */
  Crash crash(Place place, int call) {
    Draws draws = Draws.of(seed, Stream.CRASH, place.agent(), place.task(), place.turn(), call);
    return draws.next() < options.fleet().crashShare()
        ? new Crash(
            draws.between(CRASH_EARLIEST, CRASH_LATEST),
            Math.round(draws.between(AWAY_LEAST_MS, AWAY_MOST_MS)))
        : null;
  }

  /** Delays of one sending of a call: there, and back. */
  Draws network(int agent, long sending) {
    return Draws.of(seed, Stream.NETWORK, agent, sending);
  }

  /** One delay to or from the provider. */
  long networkMs(Draws draws) {
    WorldOptions.Network network = options.network();
    double spread = network.providerMs() * network.providerSpread();
    return Math.round(draws.between(network.providerMs() - spread, network.providerMs() + spread));
  }

  static long outputMs(long tokens) {
    return Math.round(tokens / OUTPUT_TOKENS_PER_MS);
  }

  /** When an agent begins, after the fleet or after its predecessor did. */
  long startMs(int agent, int task, double mostMs) {
    return Math.round(Draws.of(seed, Stream.START, agent, task).between(0, mostMs));
  }
}
