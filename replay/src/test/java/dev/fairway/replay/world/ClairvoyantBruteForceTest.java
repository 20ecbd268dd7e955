package dev.fairway.replay.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.replay.world.Work.Turn;
import dev.fairway.replay.world.clairvoyant.ClairvoyantGate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The reference against every order there is, on tiny cases: chains of calls with tools between
 * them, before one bucket that holds little.
 */
class ClairvoyantBruteForceTest {
  private static final int LIMIT = 60_000;
  private static final long DELAY_MS = 60;
  private static final int CASES = 150;

  /** One call of a chain: it is wanted so long after the one before it ended. */
  private record Step(int chain, long input, long durationMs, long toolMs) {}

  private static List<List<Step>> chains(Random random) {
    List<List<Step>> chains = new ArrayList<>();
    int count = 2 + random.nextInt(2);
    for (int c = 0; c < count; c++) {
      List<Step> chain = new ArrayList<>();
      for (int i = 0; i < 1 + random.nextInt(3); i++) {
        long input =
            random.nextInt(3) == 0 ? 30_000 + random.nextInt(50_000) : random.nextInt(9000);
        chain.add(new Step(c, input + 1, 2000 + random.nextInt(20_000), random.nextInt(40_000)));
      }
      chains.add(chain);
    }
    return chains;
  }

  // ---- every order: granted in that order, each as soon as there is room

  private static final class Orders {
    private final List<List<Step>> chains;
    private long bestMs = Long.MAX_VALUE;

    Orders(List<List<Step>> chains) {
      this.chains = chains;
    }

    long best() {
      long[] wantedMs = new long[chains.size()];
      for (int c = 0; c < chains.size(); c++) {
        wantedMs[c] = chains.get(c).get(0).toolMs();
      }
      go(new int[chains.size()], wantedMs, 0, LIMIT, 0, 0);
      return bestMs;
    }

    /** {@code level} at {@code levelMs}, which is when the last call arrived. */
    private void go(int[] next, long[] wantedMs, long levelMs, double level, long endMs, int done) {
      boolean finished = true;
      for (int c = 0; c < next.length; c++) {
        if (next[c] == chains.get(c).size()) {
          continue;
        }
        finished = false;
        Step step = chains.get(c).get(next[c]);
        double need = Math.min(step.input(), LIMIT);
        double missing = Math.max(0, need - level);
        long arrivesMs =
            Math.max(
                Math.max(wantedMs[c] + DELAY_MS, levelMs),
                levelMs + (long) Math.ceil(missing * 60_000 / LIMIT));
        double before = Math.min(LIMIT, level + (arrivesMs - levelMs) * (double) LIMIT / 60_000);
        long overMs = arrivesMs + step.durationMs();
        int[] nextThen = next.clone();
        nextThen[c]++;
        long[] wantedThen = wantedMs.clone();
        if (nextThen[c] < chains.get(c).size()) {
          wantedThen[c] = overMs + chains.get(c).get(nextThen[c]).toolMs();
        }
        go(
            nextThen,
            wantedThen,
            arrivesMs,
            before - step.input(),
            Math.max(endMs, overMs),
            done + 1);
      }
      if (finished) {
        bestMs = Math.min(bestMs, endMs);
      }
    }
  }

  // ---- the reference, on the same chains

  private static final class Run implements Gate.Sender {
    private final List<List<Step>> chains;
    private final Agenda agenda = new Agenda();
    private final Provider provider;
    private final ClairvoyantGate gate;
    private final int[] next;
    private int refusals;
    private int left;
    private long endMs;

    Run(List<List<Step>> chains) {
      this.chains = chains;
      this.next = new int[chains.size()];
      this.left = chains.stream().mapToInt(List::size).sum();
      WorldOptions options =
          WorldOptions.defaults()
              .with(Parameter.OUTSIDE, "0")
              .with(Parameter.OUTSIDE_BURST, "0")
              .with(Parameter.PROVIDER_DELAY_SPREAD, "0");
      Limits limits = new Limits(1_000_000, LIMIT, 1_000_000_000);
      provider = new Provider(options.provider(), limits, 60_000);
      OutsideTraffic nobody = OutsideTraffic.draw(1, options, LIMIT);
      gate = new ClairvoyantGate(agenda, provider, nobody, options.network(), this);
    }

    long end() {
      for (List<Step> chain : chains) {
        want(chain.get(0));
      }
      agenda.runUntil(24 * 3_600_000);
      return endMs;
    }

    private void want(Step step) {
      agenda.in(
          step.toolMs(),
          () -> {
            Turn turn = new Turn(step.input(), true, 1, step.durationMs(), 0, 1);
            Caller caller = new Caller(step.chain(), "a" + step.chain(), Role.SMALL, 0);
            gate.ask(new Call(agenda.nowMs(), caller, "t", turn, true, null, agenda.nowMs()));
          });
    }

    @Override
    public void send(Call call) {
      agenda.in(
          DELAY_MS,
          () -> {
            Provider.Answer answer =
                provider.arrive(agenda.nowMs(), call.newInput(), call.role().maxTokens());
            refusals += answer instanceof Provider.Answer.Refused ? 1 : 0;
            gate.arrived(call);
            agenda.in(call.turn().latencyMs(), () -> over(call));
          });
    }

    private void over(Call call) {
      endMs = agenda.nowMs();
      left--;
      gate.over(call);
      int c = call.agentIndex();
      next[c]++;
      if (next[c] < chains.get(c).size()) {
        want(chains.get(c).get(next[c]));
      }
    }

    @Override
    public void giveUp(Call call) {
      throw new AssertionError("the reference never gives up");
    }
  }

  @Test
  void shouldComeCloseToTheBestOfAllOrders() {
    double[] ratios = new double[CASES];
    for (int seed = 0; seed < CASES; seed++) {
      // given
      List<List<Step>> chains = chains(new Random(seed));

      // when
      long best = new Orders(chains).best();
      Run run = new Run(chains);
      long end = run.end();

      // then: nothing is refused, nothing is left, and no order was missed
      assertThat(run.refusals).as("seed %d", seed).isZero();
      assertThat(run.left).as("seed %d", seed).isZero();
      assertThat(end).as("seed %d %s", seed, chains).isGreaterThanOrEqualTo(best - 1);
      ratios[seed] = (double) end / best;
    }
    Arrays.sort(ratios);
    assertThat(Arrays.stream(ratios).average().orElseThrow()).isLessThan(1.05);
    assertThat(ratios[CASES / 2]).isLessThan(1.002);
    assertThat(ratios[CASES - 1]).isLessThan(1.5);
  }
}
