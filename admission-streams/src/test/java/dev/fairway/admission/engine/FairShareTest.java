package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.OrderContext.tenant;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.fairway.admission.engine.ClosedLoop.Agent;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.Settlement.Outcome;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Who always has something in line gets its share, whatever else goes on. */
class FairShareTest {
  private static final long FOREVER_MS = 36_000_000;
  private static final double CLOSE = 0.02;

  // ---- tenants

  @Test
  void shouldServeATenantItsShareThoughItsSmallCallsPass() {
    // given: large and small calls in one tenant, small ones in the other
    ClosedLoop equal = tenants(1, 0);
    ClosedLoop heavier = tenants(2, 0);

    // when
    equal.run(5).run(30);
    heavier.run(5).run(30);

    // then
    assertThat(equal.share("a-")).isCloseTo(1 / 2.0, within(CLOSE));
    assertThat(heavier.share("a-")).isCloseTo(2 / 3.0, within(CLOSE));
  }

  @Test
  void shouldServeATenantItsShareThoughItsEstimatesAreOff() {
    for (long off : new long[] {-500, -1, 1, 500}) {
      // given: each settlement moves its tenant's tag by that much
      ClosedLoop loop =
          new ClosedLoop(FOREVER_MS, tenants(1))
              .with(
                  new Agent("a-large", 4, 15_000, 15_000 + off, 20_000),
                  new Agent("b-small", 30, 2_000, 2_000 + off, 20_000));

      // when
      loop.run(5).run(30);

      // then
      assertThat(loop.share("a-")).as("estimates %d off", off).isCloseTo(0.5, within(CLOSE));
    }
  }

  // ---- places kept after a reject

  @Test
  void shouldServeWhoComesBackToKeptPlacesItsShare() {
    // given: of one with many calls in play most are told to come back later
    for (long maxWaitMs : new long[] {20_000, 60_000}) {
      ClosedLoop loop =
          new ClosedLoop(maxWaitMs, Map.of())
              .with(
                  new Agent("many", 60, 2_000, 2_000, 500),
                  new Agent("b", 3, 2_000, 2_000, 500),
                  new Agent("c", 3, 2_000, 2_000, 500),
                  new Agent("d", 3, 2_000, 2_000, 500));

      // when
      loop.run(5).run(30);

      // then
      assertThat(loop.share("many")).as("at most %d ms", maxWaitMs).isLessThan(0.25 + CLOSE);
    }
  }

  @Test
  void shouldServeWhoCollectsKeptPlacesItsShare() {
    // given: places given up at once by short deadlines, and taken up when they are about to end
    ClosedLoop loop =
        new ClosedLoop(60_000, Map.of())
            .with(
                new Collector("tickets"),
                new Agent("b", 3, 2_000, 2_000, 4_000),
                new Agent("c", 3, 2_000, 2_000, 4_000),
                new Agent("d", 3, 2_000, 2_000, 4_000));

    // when
    loop.run(5).run(30);

    // then
    assertThat(loop.share("tickets")).isLessThan(0.25 + CLOSE);
  }

  private static final class Collector extends Agent {
    private final Set<String> given = new HashSet<>();
    private final List<String> kept = new ArrayList<>();
    private long nextMs;

    Collector(String name) {
      super(name, 3, 2_000, 2_000, 4_000);
    }

    @Override
    void fill() {
      if (loop.context.nowMs >= nextMs) {
        nextMs = loop.context.nowMs + 55_000;
        List.copyOf(kept).forEach(id -> ask(id, null));
        kept.clear();
        for (int i = 0; i < 40; i++) {
          given.add(ask(null, loop.context.nowMs + 1));
        }
        after(55_000, () -> {});
      }
      super.fill();
    }

    @Override
    void granted(LeaseGranted lease) {
      if (given.contains(lease.requestId())) {
        settle(lease, Outcome.NOT_SENT, null, null);
      } else {
        super.granted(lease);
      }
    }

    @Override
    void rejected(LeaseRejected e) {
      if (given.contains(e.requestId())) {
        kept.add(e.requestId());
      } else {
        super.rejected(e);
      }
    }
  }

  // ---- what is told late, or never

  @Test
  void shouldCountWhatIsToldOnTheWay() {
    assertThat(ofFour(Tells.INPUT_THEN_NOTHING)).isLessThan(0.25 + CLOSE);
    assertThat(ofFour(Tells.INPUT_THEN_OUTPUT)).isLessThan(0.25 + CLOSE);
    assertThat(ofFour(Tells.INPUT_AND_NO_END)).isLessThan(0.25 + CLOSE);
  }

  @Test
  void shouldGiveNothingBackOfACallThatIsKnownToHaveBeenSent() {
    assertThat(ofFour(Tells.INPUT_THEN_CANCELLED)).isLessThan(0.25 + CLOSE);
    assertThat(ofFour(Tells.INPUT_THEN_NOT_SENT)).isLessThan(0.25 + CLOSE);
  }

  @Test
  void shouldCountTheMostThatIsToldOnTheWay() {
    assertThat(ofFour(Tells.LITTLE_THEN_INPUT)).isLessThan(0.25 + CLOSE);
    assertThat(ofFour(Tells.INPUT_THEN_LITTLE)).isLessThan(0.25 + CLOSE);
  }

  @Test
  void shouldTakeCallsOfARoleOfItsOwnForAsLargeAsOthers() {
    // given: one teaches a role of its own that calls take next to nothing, and says nothing then
    ClosedLoop loop = four(new OwnRole("cheat"));

    // when, then
    assertThat(loop.run(10).run(60).share("cheat")).isLessThan(0.25 + CLOSE);
  }

  private static final class OwnRole extends Agent {
    private int calls;

    OwnRole(String name) {
      super(name, 3, 2_000, 1, 4_000);
    }

    @Override
    String role() {
      return "mine";
    }

    @Override
    void ended(LeaseGranted lease) {
      boolean teaches = calls++ < 30;
      settle(lease, Outcome.SUCCEEDED, teaches ? 1L : null, teaches ? 0L : null);
      done();
    }
  }

  @Test
  void shouldNotBelieveACacheOfCallsThatNobodyTellsOf() {
    // given: claims that all of its input is cached, and that the cache ends soon, each time
    ClosedLoop loop = four(new CacheClaimer("cheat"));

    // when, then
    assertThat(loop.run(10).run(60).share("cheat")).isLessThan(0.25 + CLOSE);
  }

  private static final class CacheClaimer extends Agent {
    CacheClaimer(String name) {
      super(name, 3, 2_000, 2_000, 4_000);
    }

    @Override
    Estimate estimate() {
      return new Estimate(estimate, 2_001, loop.context.nowMs + 59_000, 0L, "");
    }

    @Override
    void ended(LeaseGranted lease) {
      done();
    }
  }

  @Test
  void shouldCountCallsThatNobodyTellsOf() {
    assertThat(ofFour(Tells.NOTHING)).isLessThan(0.25 + CLOSE);
    assertThat(ofFour(Tells.NO_END)).isLessThan(0.25 + CLOSE);
  }

  @Test
  void shouldCountCallsWithoutALease() {
    assertThat(ofFour(Tells.UNLEASED)).isLessThan(0.25 + CLOSE);
    assertThat(ofFour(Tells.UNLEASED_BY_ITS_REQUEST)).isLessThan(0.25 + CLOSE);
  }

  @Test
  void shouldTakeNothingForCallsWithoutALeaseThatNobodyWaitedFor() {
    // given: five minutes of the limit, used while nobody else was there
    Agent alone = new Agent("alone", 3, 2_000, 2_000, 4_000);
    ClosedLoop loop =
        new ClosedLoop(FOREVER_MS, Map.of())
            .with(
                new Agent("b", 3, 2_000, 2_000, 4_000),
                new Agent("c", 3, 2_000, 2_000, 4_000),
                new Agent("d", 3, 2_000, 2_000, 4_000),
                alone);
    for (int i = 0; i < 150; i++) {
      alone.tellUnleased("u-" + i, 2_000);
    }

    // when, then
    assertThat(loop.run(20).share("alone")).isBetween(0.25 - CLOSE, 0.25 + CLOSE);
  }

  /** How a cheat tells of its calls. */
  private enum Tells {
    INPUT_THEN_NOTHING,
    INPUT_THEN_OUTPUT,
    INPUT_AND_NO_END,
    INPUT_THEN_CANCELLED,
    INPUT_THEN_NOT_SENT,
    LITTLE_THEN_INPUT,
    INPUT_THEN_LITTLE,
    NOTHING,
    NO_END,
    UNLEASED,
    UNLEASED_BY_ITS_REQUEST
  }

  /** The share of one that says its calls take a token, of four, in an hour. */
  private static double ofFour(Tells tells) {
    return four(new Cheat("cheat", tells)).run(10).run(60).share("cheat");
  }

  private static ClosedLoop four(Agent cheat) {
    return new ClosedLoop(FOREVER_MS, Map.of())
        .with(
            cheat,
            new Agent("b", 3, 2_000, 2_000, 4_000),
            new Agent("c", 3, 2_000, 2_000, 4_000),
            new Agent("d", 3, 2_000, 2_000, 4_000));
  }

  private static final class Cheat extends Agent {
    private final Tells tells;

    Cheat(String name, Tells tells) {
      super(name, 3, 2_000, 1, 4_000);
      this.tells = tells;
    }

    @Override
    void granted(LeaseGranted lease) {
      super.granted(lease);
      if (tells == Tells.UNLEASED) {
        settle(lease, Outcome.NOT_SENT, null, null);
        tellUnleased("u-" + lease.requestId(), tokens);
      } else if (tells == Tells.UNLEASED_BY_ITS_REQUEST) {
        settle(lease, Outcome.NOT_SENT, null, null);
        tellUnleased(lease.requestId(), tokens);
      }
    }

    @Override
    void ended(LeaseGranted lease) {
      switch (tells) {
        case INPUT_THEN_NOTHING:
          settle(lease, Outcome.IN_PROGRESS, tokens, null);
          settle(lease, Outcome.SUCCEEDED, null, null);
          break;
        case INPUT_THEN_OUTPUT:
          settle(lease, Outcome.IN_PROGRESS, tokens, null);
          settle(lease, Outcome.SUCCEEDED, null, 10L);
          break;
        case INPUT_AND_NO_END:
          settle(lease, Outcome.IN_PROGRESS, tokens, null);
          break;
        case INPUT_THEN_CANCELLED:
          settle(lease, Outcome.IN_PROGRESS, tokens, null);
          cancel(lease);
          break;
        case INPUT_THEN_NOT_SENT:
          settle(lease, Outcome.IN_PROGRESS, tokens, null);
          settle(lease, Outcome.NOT_SENT, null, null);
          break;
        case LITTLE_THEN_INPUT:
          settle(lease, Outcome.IN_PROGRESS, 1L, null);
          settle(lease, Outcome.IN_PROGRESS, tokens, null);
          settle(lease, Outcome.SUCCEEDED, null, null);
          break;
        case INPUT_THEN_LITTLE:
          settle(lease, Outcome.IN_PROGRESS, tokens, null);
          settle(lease, Outcome.IN_PROGRESS, 1L, null);
          settle(lease, Outcome.SUCCEEDED, null, null);
          break;
        case NOTHING:
          settle(lease, Outcome.SUCCEEDED, null, null);
          break;
        default:
          break;
      }
      done();
    }
  }

  private static ClosedLoop tenants(double weight, long off) {
    return new ClosedLoop(FOREVER_MS, tenants(weight))
        .with(
            new Agent("a-large", 4, 15_000, 15_000 + off, 1_000),
            new Agent("a-small", 30, 600, 600 + off, 1_000),
            new Agent("b-small", 30, 600, 600 + off, 1_000));
  }

  private static Map<String, Tenant> tenants(double weight) {
    return Map.of("a", tenant(weight, null, "a-*"), "b", tenant(1, null, "b-*"));
  }
}
