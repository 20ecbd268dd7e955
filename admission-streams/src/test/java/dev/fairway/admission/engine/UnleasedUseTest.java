package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.Signal.Reading;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row.LeaseRow;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Calls without a lease are the provider's calls too: its headers and its last minute hold them.
 */
class UnleasedUseTest {
  private static final long LIMIT = 60_000;

  private final EngineContext context = answered(Window.TOKEN_BUCKET, null);

  // ---- headers

  @Test
  void shouldNotGiveBackByAHeaderWhatACallWithoutALeaseTookSince() {
    // given: a call is sent, and 40,000 are taken without a lease while it runs
    String lease = granted("r1", 2_000);
    context.sleep(5_000);
    report("u1", 40_000, null);
    context.sleep(5_000);
    long before = context.level(Dimension.TOKENS);

    // when: it tells what was left before
    settle(lease, 2_000, 58_000, 9_800, 9_950L);

    // then
    assertThat(before).isLessThan(30_000);
    assertThat(context.level(Dimension.TOKENS)).isLessThanOrEqualTo(before);
  }

  @Test
  void shouldTakeAHeaderThatHoldsACallWithoutALeaseAtItsWord() {
    // given: sent before the lease's call, and reported after it
    context.sleep(1_000);
    String lease = granted("r1", 2_000);
    context.sleep(5_000);
    report("u1", 40_000, 5_500L);

    // when: the provider has counted both, and something else
    settle(lease, 2_000, 10_000, 0, 4_900L);

    // then: it is not counted twice
    assertThat(context.level(Dimension.TOKENS)).isBetween(10_000L, 10_000L + 4_900);
  }

  @Test
  void shouldKeepACallWithoutALeaseThatMayBeInAHeaderOrNot() {
    // given: sent some time within the minute before its report
    String lease = granted("r1", 2_000);
    context.sleep(5_000);
    report("u1", 40_000, null);
    long before = context.level(Dimension.TOKENS);

    // when: a number that may hold it, or else others' use
    settle(lease, 2_000, 21_000, 0, 4_900L);

    // then
    assertThat(before).isBetween(18_000L, 20_000L);
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(before);
  }

  @Test
  void shouldTakeTheProvidersNumberForAllCallsThatWereReportedBeforeItsOwnWasSent() {
    // given
    report("u1", 40_000, null);
    context.sleep(1_000);
    String lease = granted("r1", 2_000);
    context.sleep(5_000);

    // when: the provider has more than is known here
    settle(lease, 2_000, 50_000, 0, 4_900L);

    // then
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(50_000);
  }

  @Test
  void shouldNotGiveBackWhatACallOfAnotherQuotaTookWithoutALease() {
    // given: k/p takes from this quota too
    context.submit(
        new Command.DefineQuota(
            Redefined.like(adaptive("k/p", Window.TOKEN_BUCKET, null))
                .takingFrom(EngineContext.QUOTA)
                .definition(),
            EngineContext.SALT));
    String lease = granted("r1", 2_000);
    context.sleep(5_000);
    report(context, "k/p", "u1", 40_000, null);
    context.sleep(5_000);
    long before = context.level(Dimension.TOKENS);

    // when
    settle(lease, 2_000, 58_000, 9_800, 9_950L);

    // then
    assertThat(before).isLessThan(30_000);
    assertThat(context.level(Dimension.TOKENS)).isLessThanOrEqualTo(before);
  }

  // ---- the last minute

  @Test
  void shouldCountCallsWithoutALeaseInTheLastMinute() {
    // given: a bucket as deep as the limit, which alone would let as much again through
    EngineContext rolling = answered(Window.ROLLING, tokens(LIMIT));
    report(rolling, EngineContext.QUOTA, "u1", 50_000, null);

    // when: others ask for as much as there is, for a minute
    long granted = 0;
    for (int i = 0; i < 60; i++) {
      List<Event> events = rolling.ask("r" + i, "a1", 1_000);
      granted += events.stream().filter(LeaseGranted.class::isInstance).count();
      granted += rolling.sleep(950).stream().filter(LeaseGranted.class::isInstance).count();
    }

    // then
    assertThat(50_000 + granted * 1_000).isLessThanOrEqualTo(LIMIT);
    assertThat(rolling.sleep(120_000)).anyMatch(LeaseGranted.class::isInstance);
  }

  // ---- bounds

  @Test
  void shouldForgetCallsWithoutALease() {
    // given
    for (int i = 0; i < 20; i++) {
      report("u" + i, 100, null);
    }
    assertThat(leases()).isEqualTo(20 + 1);

    // when
    context.sleep(80_000);
    report("last", 100, null);

    // then
    assertThat(leases()).isEqualTo(1);
  }

  // ---- helpers

  private long leases() {
    return context.engine.rows(EngineContext.KEY).stream()
        .filter(row -> row instanceof LeaseRow)
        .count();
  }

  private String granted(String id, long input) {
    return only(context.ask(id, "a1", input), LeaseGranted.class).leaseId();
  }

  private void settle(String lease, long input, long remaining, long ageMs, Long msSinceSend) {
    settle(context, lease, input, remaining, ageMs, msSinceSend);
  }

  private static void settle(
      EngineContext context,
      String lease,
      long input,
      long remaining,
      long ageMs,
      Long msSinceSend) {
    context.settle(
        lease,
        Outcome.SUCCEEDED,
        input,
        0L,
        Dimension.TOKENS,
        new Reading(LIMIT, remaining, null),
        ageMs,
        msSinceSend);
  }

  private List<Event> report(String id, long input, Long msSinceSend) {
    return report(context, EngineContext.QUOTA, id, input, msSinceSend);
  }

  private static List<Event> report(
      EngineContext context, String quota, String id, long input, Long msSinceSend) {
    Signal signal =
        msSinceSend == null
            ? null
            : new Signal(200, Kind.OK, null, null, null, msSinceSend, Map.of());
    return context.submit(
        new Command.SettleLease(
            new Settlement(
                null,
                id,
                "z",
                quota,
                Outcome.UNLEASED,
                new Usage(input, 0L, 0L, 0L, true),
                false,
                signal),
            context.nowMs));
  }

  /** A quota whose provider has told its level once. */
  private static EngineContext answered(Window window, Amounts depth) {
    EngineContext context = EngineContext.with(adaptive(EngineContext.QUOTA, window, depth));
    String lease = only(context.ask("first", "a1", 10), LeaseGranted.class).leaseId();
    context.sleep(100);
    settle(context, lease, 10, LIMIT - 10, 0, 100L);
    context.sleep(20_000);
    return context;
  }

  private static QuotaDefinition adaptive(String id, Window window, Amounts depth) {
    return Redefined.like(
            EngineContext.quota(tokens(LIMIT), null, MarginModeName.AUTO, 1.0, window))
        .id(id)
        .depth(depth)
        .definition();
  }
}
