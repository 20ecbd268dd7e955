package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.OrderContext.quota;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.fairway.admission.engine.ClosedLoop.Agent;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.OrderContext.Quota;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/** Quotas that take from one that they share: each agent gets its share of it, whatever its own. */
class SharedQuotaTest {
  private static final double CLOSE = 0.03;
  private static final Quota SHARED = limited("k/o", Amounts.of(Dimension.TOKENS, 60_000));
  private static final Amounts INPUT = Amounts.of(Dimension.INPUT_TOKENS, 600_000);
  private static final Amounts OUTPUT = Amounts.of(Dimension.OUTPUT_TOKENS, 60_000);

  @Test
  void shouldServeAnAgentItsShareWhateverItsQuotaLimits() {
    // given: one agent on a quota, three on another
    // when, then
    assertThat(ofOne(requests(1_000), INPUT)).as("requests").isCloseTo(0.25, within(CLOSE));
    assertThat(ofOne(INPUT, requests(1_000))).as("input").isCloseTo(0.25, within(CLOSE));
    assertThat(ofOne(OUTPUT, INPUT)).as("output").isCloseTo(0.25, within(CLOSE));
    assertThat(ofOne(INPUT.with(Dimension.REQUESTS, 50), INPUT.with(Dimension.REQUESTS, 1_000)))
        .as("few requests")
        .isCloseTo(0.25, within(CLOSE));
    assertThat(ofOne(requests(100), requests(2_000)))
        .as("other requests")
        .isCloseTo(0.25, within(CLOSE));
    assertThat(ofOne(INPUT, INPUT)).as("alike").isCloseTo(0.25, within(CLOSE));
  }

  /** Whatever two quotas limit, as long as what they share is what binds. */
  @Property(tries = 40)
  void shouldServeAnAgentItsShareAtAnyLimits(
      @ForAll @LongRange(min = 31, max = 100_000) long requests,
      @ForAll @LongRange(min = 64_000, max = 1_000_000_000) long input,
      @ForAll @IntRange(min = 1, max = 3) int first,
      @ForAll @IntRange(min = 1, max = 3) int second) {
    assertThat(ofOne(some(first, requests, input), some(second, 100_031 - requests, 90_000)))
        .isCloseTo(0.25, within(CLOSE));
  }

  private static Amounts some(int which, long requests, long input) {
    Amounts some = Amounts.NONE;
    some = (which & 1) == 0 ? some : some.with(Dimension.REQUESTS, requests);
    return (which & 2) == 0 ? some : some.with(Dimension.INPUT_TOKENS, input);
  }

  @Test
  void shouldServeWhoCallsTheSharedQuotaItself() {
    // given: one agent on the quota that the others' takes from
    ClosedLoop loop =
        new ClosedLoop(List.of(SHARED.definition(), taking("k/q1", requests(1_000))))
            .with(agent("a").in("k/o"))
            .with(three("k/q1"));

    // when, then
    assertThat(loop.run(5).run(20).share("a")).isCloseTo(0.25, within(CLOSE));
  }

  @Test
  void shouldServeLargeAndSmallCallsAlikeWhereOnlyRequestsAreLimited() {
    // given: ten small calls take of the shared quota what one large takes
    ClosedLoop loop =
        new ClosedLoop(List.of(SHARED.definition(), taking("k/q1", requests(1_000))))
            .with(
                new Agent("large", 3, 10_000, 10_000, 4_000).in("k/q1"),
                new Agent("small", 9, 1_000, 1_000, 4_000).in("k/q1"));

    // when, then
    assertThat(loop.run(5).run(20).share("large")).isCloseTo(0.5, within(CLOSE));
  }

  @Test
  void shouldServeAnAgentItsShareThoughItsEstimatesAreOff() {
    // given: it says that its calls take a token
    Agent cheat = new Agent("a", 3, 2_000, 1, 4_000).in("k/q1");
    ClosedLoop loop = two(requests(1_000), INPUT).with(cheat).with(three("k/q2"));

    // when, then
    assertThat(loop.run(10).run(60).share("a")).isLessThan(0.25 + CLOSE);
  }

  @Test
  void shouldGoOnWhereAQuotaBeginsToShareAndCeases() {
    // given: two quotas on their own, long in use, one counts tokens and the other requests
    ClosedLoop loop =
        new ClosedLoop(
                List.of(
                    SHARED.definition(),
                    limited("k/q1", requests(30)).definition(),
                    limited("k/q2", INPUT).definition()))
            .with(agent("a").in("k/q1"))
            .with(three("k/q2"));
    loop.run(60);

    // when: both take from one quota
    define(loop, taking("k/q1", requests(1_000)));
    define(loop, taking("k/q2", INPUT));

    // then
    assertThat(loop.run(1).run(10).share("a")).isCloseTo(0.25, within(CLOSE));

    // when: the one ceases to, and shares no more
    define(loop, limited("k/q1", requests(30)).definition());
    define(loop, taking("k/q2", requests(1_000)));

    // then
    assertThat(loop.run(1).run(10).share("h0")).isCloseTo(1 / 6.0, within(CLOSE));
  }

  @Test
  void shouldServeAnAgentItsShareThoughTheSharedQuotaIsDefinedAnew() {
    // given
    ClosedLoop loop = two(requests(1_000), INPUT).with(agent("a").in("k/q1")).with(three("k/q2"));
    loop.run(30);

    // when: its limit is another
    define(loop, limited("k/o", Amounts.of(Dimension.TOKENS, 30_000)).definition());

    // then
    assertThat(loop.run(2).run(20).share("a")).isCloseTo(0.25, within(CLOSE));
  }

  @Test
  void shouldCountCallsWithoutALeaseWhereOthersWaitInAnotherQuota() {
    // given: one gives each lease back, and makes the call all the same
    Agent cheat =
        new Agent("a", 2, 2_000, 2_000, 300) {
          @Override
          void granted(LeaseGranted lease) {
            super.granted(lease);
            settle(lease, Outcome.NOT_SENT, null, null);
            tellUnleased("u-" + lease.requestId(), tokens);
          }

          @Override
          void ended(LeaseGranted lease) {
            done();
          }
        };
    ClosedLoop loop = two(INPUT, INPUT).with(cheat.in("k/q1")).with(three("k/q2"));

    // when, then
    assertThat(loop.run(5).run(20).share("a")).isLessThan(0.25 + CLOSE);
  }

  /** The share of one agent on a quota of those limits, beside three on one of the others. */
  private static double ofOne(Amounts one, Amounts three) {
    ClosedLoop loop = two(one, three).with(agent("a").in("k/q1")).with(three("k/q2"));
    return loop.run(5).run(20).share("a");
  }

  private static ClosedLoop two(Amounts one, Amounts other) {
    return new ClosedLoop(List.of(SHARED.definition(), taking("k/q1", one), taking("k/q2", other)));
  }

  private static Agent agent(String name) {
    return new Agent(name, 3, 2_000, 2_000, 4_000) {
      @Override
      Estimate estimate() {
        return new Estimate(estimate, 0, null, 100L, "");
      }
    };
  }

  private static Agent[] three(String quota) {
    return Stream.of("h0", "h1", "h2").map(name -> agent(name).in(quota)).toArray(Agent[]::new);
  }

  private static Quota limited(String id, Amounts limits) {
    return quota().named(id).limits(limits);
  }

  private static QuotaDefinition taking(String id, Amounts limits) {
    return limited(id, limits).takingFrom("k/o").definition();
  }

  private static Amounts requests(long perMinute) {
    return Amounts.of(Dimension.REQUESTS, perMinute);
  }

  private static void define(ClosedLoop loop, QuotaDefinition definition) {
    loop.context.submit(new Command.DefineQuota(definition, EngineContext.SALT));
  }
}
