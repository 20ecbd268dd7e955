package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Event.QuotaDefined;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A quota that is paused, drained, defined anew or removed, and what it held. */
class RedefinitionTest {

  @Test
  void shouldGrantNothingWhilePausedAndTakeNothingNewWhileDraining() {
    // given
    EngineContext context = EngineContext.with(tokens(600), tokens(500));
    context.submit(new Command.DefineQuota(in(State.PAUSED), EngineContext.SALT));
    List<Event> paused = context.ask("r1", "a1", 10);

    // when
    List<Event> resumed =
        context.submit(new Command.DefineQuota(in(State.DRAINING), EngineContext.SALT));
    List<Event> next = context.ask("r2", "a1", 10);

    // then
    only(paused, LeaseQueued.class);
    only(resumed, QuotaDefined.class);
    assertThat(only(resumed, LeaseGranted.class).requestId()).isEqualTo("r1");
    assertThat(only(next, LeaseRejected.class).reason()).isEqualTo(RejectReason.QUOTA_DRAINING);
  }

  @Test
  void shouldSettleALeaseThatHoldsADimensionWhichIsNoLongerLimited() {
    // given
    Amounts both = Amounts.of(Dimension.INPUT_TOKENS, 6000).with(Dimension.OUTPUT_TOKENS, 3000);
    EngineContext context = EngineContext.with(both, null);
    String lease = granted(context.ask(EngineContext.request("r1", "a1", 10, 5)));
    context.submit(
        new Command.DefineQuota(
            EngineContext.quota(Amounts.of(Dimension.INPUT_TOKENS, 6000), null),
            EngineContext.SALT));

    // when
    List<Event> settled = context.settle(lease, "a1", Outcome.SUCCEEDED, 1L, 0L);

    // then
    assertThat(only(settled, LeaseSettled.class).adjusted().get(Dimension.INPUT_TOKENS))
        .isEqualTo(9);
  }

  @Test
  void shouldCountTheSlotsOfOpenLeasesWhereConcurrencyIsLimitedAgain() {
    // given
    Amounts slots = tokens(6000).with(Dimension.CONCURRENT_REQUESTS, 1);
    EngineContext context = EngineContext.with(slots, null);
    String lease = granted(context.ask("r1", "a1", 10));
    context.submit(
        new Command.DefineQuota(EngineContext.quota(tokens(6000), null), EngineContext.SALT));

    // when
    context.submit(new Command.DefineQuota(EngineContext.quota(slots, null), EngineContext.SALT));
    long whileOpen = context.level(Dimension.CONCURRENT_REQUESTS);
    context.settle(lease, "a1", Outcome.SUCCEEDED, 10L, 0L);

    // then
    assertThat(whileOpen).isZero();
    assertThat(context.level(Dimension.CONCURRENT_REQUESTS)).isEqualTo(1);
  }

  @Test
  void shouldCountLeasesThatWereGrantedBeforeConcurrencyWasLimited() {
    // given
    EngineContext context = EngineContext.with(tokens(6000), null);
    String lease = granted(context.ask("r1", "a1", 10));

    // when
    context.submit(
        new Command.DefineQuota(
            EngineContext.quota(tokens(6000).with(Dimension.CONCURRENT_REQUESTS, 1), null),
            EngineContext.SALT));
    List<Event> second = context.ask("r2", "a1", 10);
    List<Event> settled = context.settle(lease, "a1", Outcome.SUCCEEDED, 10L, 0L);

    // then
    only(second, LeaseQueued.class);
    assertThat(only(settled, LeaseGranted.class).requestId()).isEqualTo("r2");
  }

  @Test
  void shouldNotTakeAnEmptyBucketForAFullOneWhereItsCapIsBelowOne() {
    // given
    EngineContext context = EngineContext.with(Amounts.of(Dimension.REQUESTS, 1), null);
    String lease = granted(context.ask("r1", "a1", 1));
    context.ask("r2", "a2", 1);

    // when
    List<Event> refused = context.settle(lease, "a1", Outcome.RATE_LIMITED, null, null);
    List<Event> soon = context.sleep(60_000);

    // then
    assertThat(refused).noneMatch(LeaseGranted.class::isInstance);
    assertThat(soon).noneMatch(LeaseGranted.class::isInstance);
    only(context.sleep(5_000), LeaseGranted.class);
  }

  @Test
  void shouldChangeNothingWhereTheSameDefinitionComesAgain() {
    // given
    QuotaDefinition definition = EngineContext.quota(tokens(600), tokens(500));
    EngineContext context = EngineContext.with(definition);
    context.ask("r1", "a1", 400);

    // when
    List<Event> again = context.submit(new Command.DefineQuota(definition, EngineContext.SALT));

    // then
    assertThat(again).isEmpty();
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(100);
  }

  @Test
  void shouldKeepSlotsOfOpenLeasesTakenWhereALevelChanges() {
    // given: all of five slots are taken, at a level that names them
    EngineContext context = EngineContext.with(slotted(100, 5L));
    for (int i = 0; i < 5; i++) {
      granted(context.ask("r" + i, "a1", 1));
    }

    // when: a level of another limit changes, and one of slots
    context.submit(new Command.DefineQuota(slotted(200, 5L), EngineContext.SALT));
    long same = context.level(Dimension.CONCURRENT_REQUESTS);
    context.submit(new Command.DefineQuota(slotted(200, 2L), EngineContext.SALT));
    long fewer = context.level(Dimension.CONCURRENT_REQUESTS);
    context.submit(new Command.DefineQuota(slotted(200, null), EngineContext.SALT));

    // then
    assertThat(same).isZero();
    assertThat(fewer).isEqualTo(-3);
    assertThat(context.level(Dimension.CONCURRENT_REQUESTS)).isZero();
    assertThat(context.level(Dimension.REQUESTS)).isEqualTo(200);
  }

  private static QuotaDefinition slotted(long requests, Long slots) {
    Amounts level = Amounts.of(Dimension.REQUESTS, requests);
    return EngineContext.quota(
        Amounts.of(Dimension.REQUESTS, 1_000).with(Dimension.CONCURRENT_REQUESTS, 5),
        slots == null ? level : level.with(Dimension.CONCURRENT_REQUESTS, slots));
  }

  @Test
  void shouldSetALevelAnewOnlyWhereItChanges() {
    // given: a debt of tokens, and a level that names them
    EngineContext context = EngineContext.with(tokens(600), tokens(500));
    String lease = granted(context.ask("r1", "a1", 400));
    context.settle(lease, "a1", Outcome.SUCCEEDED, 900L, 0L);
    long debt = context.level(Dimension.TOKENS);
    Amounts limits = tokens(600).with(Dimension.REQUESTS, 1_000);

    // when: another limit is added, with a level of its own
    QuotaDefinition more = EngineContext.quota(limits, tokens(500).with(Dimension.REQUESTS, 10));
    context.submit(new Command.DefineQuota(more, EngineContext.SALT));

    // then
    assertThat(debt).isNegative();
    assertThat(context.level(Dimension.TOKENS)).isEqualTo(debt);
    assertThat(context.level(Dimension.REQUESTS)).isEqualTo(10);
  }

  @Test
  void shouldRejectWhoWaitsWhenTheQuotaIsRemovedAndForgetItOnceItsLeasesEnded() {
    // given
    EngineContext context = EngineContext.with(tokens(60), tokens(50));
    String lease = granted(context.ask("r1", "a1", 50));
    context.ask("r2", "a2", 40);

    // when
    context.submit(new Command.RemoveQuota(EngineContext.QUOTA));
    List<Event> removed = context.sleep(1);
    QuotaSnapshot held = context.show();
    context.settle(lease, "a1", Outcome.SUCCEEDED, 50L, 0L);
    QuotaSnapshot ended = context.show();
    context.sleep(60_000);
    List<Event> unknown = context.ask("r3", "a1", 10);

    // then
    assertThat(only(removed, LeaseRejected.class).requestId()).isEqualTo("r2");
    assertThat(only(unknown, LeaseRejected.class).reason()).isEqualTo(RejectReason.UNKNOWN_QUOTA);
    assertThat(context.engine.quotaIds(EngineContext.KEY)).isEmpty();
    assertThat(held.removed()).isTrue();
    assertThat(held.gone()).as("its lease is open").isFalse();
    assertThat(ended == null || ended.gone()).isTrue();
  }

  private static String granted(List<Event> events) {
    return only(events, LeaseGranted.class).leaseId();
  }

  private static QuotaDefinition in(State state) {
    return Redefined.like(EngineContext.quota(tokens(600), tokens(500))).state(state).definition();
  }
}
