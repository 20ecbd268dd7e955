package dev.fairway.admission.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.ClosedLoop.Agent;
import dev.fairway.admission.engine.Event.BreakerClosed;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a crowd does with its probes, a breaker closes soon after the provider takes calls. */
class BreakerCrowdTest {
  private static final long OUTAGE_FROM_MS = 300_000;

  /** Nothing is ever told of a call that hangs. */
  private static final long SILENT_MS = 300_000;

  /** What the provider does to calls during the outage. */
  private enum Outage {
    REFUSES(60_000),
    HANGS(180_000);

    final long lastsMs;

    Outage(long lastsMs) {
      this.lastsMs = lastsMs;
    }
  }

  private final ClosedLoop loop = new ClosedLoop(36_000_000, Map.of());
  private final long startMs = loop.context.nowMs;
  private final Map<String, Long> settledAtMs = new HashMap<>();
  private Outage outage = Outage.REFUSES;
  private long timeoutMs = SILENT_MS;
  private int read;

  @Test
  void shouldCloseSoonThoughACrowdGivesEachProbeBack() {
    for (long estimate : new long[] {1, 2_000, 60_000}) {
      assertThat(new BreakerCrowdTest().closesAfterMs(new Crowd(100, estimate, false)))
          .as("estimates of %d", estimate)
          .isLessThan(60_000);
    }
  }

  @Test
  void shouldCloseSoonThoughACrowdLosesEachProbe() {
    for (long estimate : new long[] {1, 2_000, 20_000}) {
      assertThat(new BreakerCrowdTest().closesAfterMs(new Crowd(3, estimate, true)))
          .as("estimates of %d", estimate)
          .isLessThan(180_000);
    }
  }

  @Test
  void shouldCloseOnceACrowdHadItsTurnThatLosesEachProbe() {
    // given: a hundred in line at any time, under names that nobody heard before
    Crowd crowd = new Crowd(100, 2_000, true);

    // when
    long closesAfterMs = closesAfterMs(crowd);

    // then: four times as long as it takes to serve all of them once
    assertThat(closesAfterMs).isLessThan(4 * 103 * 2_000);
  }

  @ParameterizedTest
  @ValueSource(longs = {SILENT_MS, 10_000, 14_000, 16_000})
  void shouldTrickleIntoAProviderThatHangs(long timeoutMs) {
    // given: clients that wait to the end, or give up and say so
    outage = Outage.HANGS;
    this.timeoutMs = timeoutMs;
    honest(30);

    // when
    loop.run(10);

    // then: three probes, and a quarter of the rate for the rest of three minutes: 17 calls or 19
    long sent =
        loop.context.journal.stream()
            .flatMap(handled -> handled.events().stream())
            .filter(e -> e instanceof LeaseGranted g && isDuringOutage(g.grantedAtMs() - 5_000))
            .count();
    assertThat(sent).isBetween(15L, 21L);
    assertThat(loop.context.show().breaker().isUnproven()).isFalse();
  }

  /** From the end of the outage until an answer closes the breaker for good. */
  private long closesAfterMs(Crowd crowd) {
    honest(3);
    loop.with(crowd);
    loop.run(6);
    assertThat(loop.context.show().breaker().isUnproven()).isTrue();
    for (int minutes = 0; minutes < 30 && closedAtMs() == null; minutes++) {
      loop.run(1);
    }
    Long closedMs = closedAtMs();
    return closedMs == null
        ? Long.MAX_VALUE
        : closedMs - (startMs + OUTAGE_FROM_MS + outage.lastsMs);
  }

  private Long closedAtMs() {
    for (; read < loop.context.journal.size(); read++) {
      for (Event event : loop.context.journal.get(read).events()) {
        if (event instanceof BreakerClosed e && e.leaseId() != null) {
          return settledAtMs.get(e.leaseId());
        }
      }
    }
    return null;
  }

  private void honest(int inPlay) {
    loop.with(new Honest("b", inPlay), new Honest("c", inPlay), new Honest("d", inPlay));
  }

  private boolean isDuringOutage(long atMs) {
    long fromMs = startMs + OUTAGE_FROM_MS;
    return atMs >= fromMs && atMs < fromMs + outage.lastsMs;
  }

  /** Sends its calls to a provider that is out for a while. */
  private final class Honest extends Agent {
    Honest(String name, int inPlay) {
      super(name, inPlay, 2_000, 2_000, 4_000);
    }

    @Override
    void granted(LeaseGranted lease) {
      long nowMs = loop.context.nowMs;
      boolean first = nowMs < startMs + OUTAGE_FROM_MS + 5_000;
      if (!isDuringOutage(nowMs)) {
        super.granted(lease);
      } else if (outage == Outage.REFUSES || first) {
        after(100, () -> refused(lease));
      } else {
        after(timeoutMs, () -> givesUp(lease));
      }
    }

    private void refused(LeaseGranted lease) {
      loop.context.settle(
          lease.leaseId(), name, Outcome.RATE_LIMITED, null, null, BreakerCrowdTest::refusal);
    }

    private void givesUp(LeaseGranted lease) {
      if (timeoutMs != SILENT_MS) {
        settle(lease, Outcome.FAILED_AFTER_SEND, null, null);
      }
      done();
    }

    @Override
    void ended(LeaseGranted lease) {
      settledAtMs.put(lease.leaseId(), loop.context.nowMs);
      super.ended(lease);
    }
  }

  private static Settlement refusal(Settlement s) {
    return new Settlement(
        s.leaseId(),
        s.requestId(),
        s.agentId(),
        s.quotaId(),
        s.outcome(),
        s.usage(),
        true,
        new Signal(429, Kind.RATE_LIMITED, null, null, 0L, null, Map.of()));
  }

  /** From the outage on, asks under a new name each time, and sends nothing. */
  private final class Crowd extends Agent {
    private final boolean silent;
    private int names;

    Crowd(int inPlay, long estimate, boolean silent) {
      super("x", inPlay, 0, estimate, 0);
      this.silent = silent;
    }

    @Override
    String caller() {
      return name + names++;
    }

    @Override
    void fill() {
      long fromMs = startMs + OUTAGE_FROM_MS + 5_000;
      if (loop.context.nowMs >= fromMs) {
        super.fill();
      } else if (names == 0) {
        names++;
        after(fromMs - loop.context.nowMs, () -> {});
      }
    }

    @Override
    void granted(LeaseGranted lease) {
      if (silent) {
        done();
      } else {
        after(500, () -> givenBack(lease));
      }
    }

    private void givenBack(LeaseGranted lease) {
      settle(lease, Outcome.NOT_SENT, null, null);
      done();
    }
  }
}
