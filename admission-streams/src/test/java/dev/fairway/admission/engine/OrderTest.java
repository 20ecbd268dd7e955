package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.QUOTA;
import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.OrderContext.ask;
import static dev.fairway.admission.engine.OrderContext.granted;
import static dev.fairway.admission.engine.OrderContext.quota;
import static dev.fairway.admission.engine.OrderContext.rejected;
import static dev.fairway.admission.engine.OrderContext.tenant;
import static dev.fairway.admission.engine.OrderContext.waiter;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.fairway.admission.engine.Event.Lane;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tenants, ceilings, classes, quotas that are taken from too, and backfill. */
class OrderTest {

  // ---- tenants

  @Test
  void shouldShareByTenantBeforeAgent() {
    // given: three agents of one tenant, one agent of another, all backlogged
    EngineContext context =
        quota().tenants(Map.of("a", tenant(1, null, "a*"), "b", tenant(2, null, "b*"))).start();
    for (int i = 0; i < 30; i++) {
      for (String agent : List.of("a1", "a2", "a3", "b1")) {
        ask(agent + "-" + i, agent, 1000).of(context);
      }
    }

    // when
    List<String> granted = granted(context.sleep(36_000));

    // then: two thirds go to the heavier tenant, whatever the number of agents
    assertThat(granted).hasSizeBetween(35, 36);
    assertThat(granted.stream().filter(id -> id.startsWith("b")).count()).isBetween(23L, 25L);
    assertThat(granted.stream().filter(id -> id.startsWith("a1")).count()).isBetween(3L, 5L);
  }

  @Test
  void shouldHonourAClaimedTenantOnlyWhereItsPatternsAllow() {
    // given
    EngineContext context =
        quota().tenants(Map.of("pay", tenant(5, null, "pay-*"), "open", tenant(1, null))).start();

    // when
    ask("r1", "pay-1", 100).of(context);
    ask("r2", "stranger", 100).tenant("pay").of(context);
    ask("r3", "stranger", 100).tenant("open").of(context);
    ask("r4", "pay-1", 100).tenant("no-such").of(context);

    // then
    assertThat(List.of("r1", "r2", "r3", "r4"))
        .extracting(id -> waiter(context, id).standing().tenant())
        .containsExactly("pay", "default", "open", "pay");
  }

  @Test
  void shouldKeepATenantBelowItsCeilingAndBlockNobodyElse() {
    // given: a tenant that may use a fifth, with a full ceiling bucket of 11,800
    EngineContext context = quota().full().tenants(Map.of("a", tenant(1, 0.2, "a"))).start();
    for (int i = 0; i < 20; i++) {
      ask("a" + i, "a", 5_900).of(context);
    }

    // when
    List<Event> others = ask("b", "b", 30_000).of(context);
    List<String> granted = granted(context.sleep(29_500));

    // then: two at once, then one each 29.5 s; the quota's other tokens stay free
    assertThat(granted(others)).containsExactly("b");
    assertThat(granted).hasSize(1);
    assertThat(context.engine.waiting(QUOTA, 100)).hasSize(17);
  }

  @Test
  void shouldRejectWhatExceedsATenantsShareForGoodWithItsReason() {
    // given
    EngineContext context = quota().full().tenants(Map.of("a", tenant(1, 0.2, "a"))).start();

    // when
    Event.LeaseRejected rejected = rejected(ask("r", "a", 12_001).of(context));

    // then
    assertThat(rejected.reason()).isEqualTo(RejectReason.TENANT_CEILING);
    assertThat(rejected.retryAtMs()).isNull();
    assertThat(granted(ask("s", "a", 12_000).of(context))).containsExactly("s");
  }

  @Test
  void shouldCarryTenantsThroughARedefinition() {
    // given
    EngineContext context =
        quota().tenants(Map.of("a", tenant(1, 0.5, "a"), "b", tenant(1, null, "b"))).start();
    ask("a1", "a", 2000).of(context);
    ask("b1", "b", 2000).of(context);

    // when: one tenant goes, then both
    quota().tenants(Map.of("b", tenant(3, 0.5, "b"))).defineIn(context);
    String afterOne = waiter(context, "a1").standing().tenant();
    quota().defineIn(context);

    // then
    assertThat(afterOne).isEqualTo("default");
    assertThat(waiter(context, "b1").standing().tenant()).isEqualTo("default");
    assertThat(granted(context.sleep(4_000))).containsExactlyInAnyOrder("a1", "b1");
  }

  @Test
  void shouldKeepEqualBackloggedAgentsWithinOneLargestRequest() {
    // given: three agents of equal weight, calls of 4,000 to 8,000
    EngineContext context = quota().start();
    Random random = new Random(11);
    for (int i = 0; i < 60; i++) {
      for (String agent : List.of("a", "b", "c")) {
        ask(agent + i, agent, 4_000 + random.nextInt(4_001)).of(context);
      }
    }

    // when
    Map<String, Long> served = new HashMap<>(Map.of("a", 0L, "b", 0L, "c", 0L));
    for (int second = 0; second < 600; second++) {
      for (Event event : context.sleep(1_000)) {
        if (event instanceof LeaseGranted e) {
          served.merge(e.agentId(), e.charged().get(Dimension.INPUT_TOKENS), Long::sum);
        }
      }

      // then
      assertThat(Collections.max(served.values()) - Collections.min(served.values()))
          .isLessThanOrEqualTo(8_000);
    }
  }

  // ---- classes

  @Test
  void shouldLetInteractiveRequestsPassOutOfTheirReserve() {
    // given: 59,000 deep, a fifth of it reserved; batch has queued for much more
    EngineContext context = quota().full().reserve(0.2).start();
    for (int i = 0; i < 30; i++) {
      ask("b" + i, "b", 10_000).of(context);
    }

    // when
    List<Event> interactive = ask("i", "i", 11_000).interactive().of(context);

    // then: batch left the reserve untouched
    assertThat(context.engine.waiting(QUOTA, 100)).hasSize(26);
    LeaseGranted granted = only(interactive, LeaseGranted.class);
    assertThat(granted.order().lane()).isEqualTo(Lane.RESERVE);
    assertThat(granted.taken().reserve().get(Dimension.INPUT_TOKENS)).isEqualTo(11_000);
  }

  @Test
  void shouldKeepBatchItsShareWhileInteractiveFloods() {
    // given: one agent of each, both with more than there is
    EngineContext context = quota().reserve(0.2).start();
    for (int i = 0; i < 120; i++) {
      ask("b" + i, "b", 1_000).of(context);
      ask("i" + i, "i", 1_000).interactive().of(context);
    }

    // when
    List<String> granted = granted(context.sleep(100_000));

    // then: the reserve is no priority for all that interactive asks
    long batch = granted.stream().filter(id -> id.startsWith("b")).count();
    assertThat(granted).hasSizeBetween(98, 101);
    assertThat(batch).isBetween(48L, 52L);
  }

  @Test
  void shouldLetOverflowOfTheReserveGoToWhoeverWaits() {
    // given: nobody interactive
    EngineContext context = quota().reserve(0.5).start();
    for (int i = 0; i < 100; i++) {
      ask("b" + i, "b", 1_000).of(context);
    }

    // when: the reserve is full after 60 s, having taken half of the rate
    int first = granted(context.sleep(60_000)).size();
    int then = granted(context.sleep(30_000)).size();

    // then
    assertThat(first).isCloseTo(30, within(1));
    assertThat(then).isCloseTo(30, within(1));
  }

  @Test
  void shouldChargeTheReserveWhatACallUsesBeyondItsEstimate() {
    // given: a call that claims to need nothing, out of the reserve
    EngineContext context = quota().full().reserve(0.1).start();
    for (int i = 0; i < 8; i++) {
      ask("b" + i, "b", 10_000).of(context);
    }
    only(ask("i0", "i", 50_000).interactive().of(context), LeaseQueued.class);
    LeaseGranted lease = only(ask("i1", "i", 0).interactive().of(context), LeaseGranted.class);

    // when
    List<Event> settled = context.settle(lease.leaseId(), "i", Outcome.SUCCEEDED, 8_000L, 0L);

    // then: the reserve lets nobody in until it has that back
    assertThat(only(settled, LeaseSettled.class).shift().reserve().get(Dimension.INPUT_TOKENS))
        .isEqualTo(-8_000);
    assertThat(
            ask("i2", "i", 0).interactive().of(context).stream()
                .filter(LeaseGranted.class::isInstance)
                .map(e -> ((LeaseGranted) e).order().lane()))
        .doesNotContain(Lane.RESERVE);
  }

  // ---- other quotas

  @Test
  void shouldTakeFromEveryQuotaOrFromNone() {
    // given: the organisation has 2,000 left
    EngineContext context = quota().full().takingFrom("k/o").start();
    quota().named("k/o").limits(Amounts.of(Dimension.TOKENS, 60_000)).defineIn(context);
    only(ask("o1", "a", 57_000).in("k/o").of(context), LeaseGranted.class);

    // when
    LeaseGranted fits = only(ask("r1", "a", 1_500).of(context), LeaseGranted.class);
    List<Event> waits = ask("r2", "a", 1_500).of(context);

    // then
    assertThat(fits.taken().also()).containsEntry("k/o", EngineContext.tokens(1_500));
    assertThat(only(waits, LeaseQueued.class).etaMs()).isEqualTo(1_000);
    assertThat(context.level(Dimension.INPUT_TOKENS)).isEqualTo(57_500);
    assertThat(context.engine.show("k/o", context.nowMs).reserved().get(Dimension.TOKENS))
        .isEqualTo(58_500);
    assertThat(granted(context.sleep(1_000))).containsExactly("r2");
  }

  @Test
  void shouldRefundInEveryQuota() {
    // given
    EngineContext context = quota().full().takingFrom("k/o").start();
    quota().named("k/o").limits(Amounts.of(Dimension.TOKENS, 60_000)).defineIn(context);
    LeaseGranted lease = only(ask("r1", "a", 5_000).of(context), LeaseGranted.class);

    // when
    context.settle(lease.leaseId(), "a", Outcome.SUCCEEDED, 3_000L, 500L);

    // then
    assertThat(context.engine.show("k/o", context.nowMs).levels().get(Dimension.TOKENS))
        .isEqualTo(59_000 - 3_500);
  }

  @Test
  void shouldRefuseWhatAnyQuotaCanNeverHoldOrDoesNotKnow() {
    // given
    EngineContext context = quota().full().takingFrom("k/o").start();

    // when
    Event.LeaseRejected unknown = rejected(ask("r1", "a", 5).of(context));
    quota().named("k/o").limits(Amounts.of(Dimension.TOKENS, 1_000)).defineIn(context);
    Event.LeaseRejected never = rejected(ask("r2", "a", 1_001).of(context));

    // then
    assertThat(unknown.reason()).isEqualTo(RejectReason.UNKNOWN_QUOTA);
    assertThat(unknown.detail()).contains("k/o");
    assertThat(never.reason()).isEqualTo(RejectReason.NEVER_FITS);
    assertThat(never.detail()).contains("k/o");
  }

  @Test
  void shouldServeQuotasThatShareInOrderOfTheirHeads() {
    // given: two families under one organisation that is empty
    EngineContext context = quota().full().takingFrom("k/o").start();
    quota().full().named("k/p").takingFrom("k/o").defineIn(context);
    quota().named("k/o").defineIn(context);
    for (int i = 0; i < 10; i++) {
      ask("q" + i, "a", 1_000).of(context);
    }
    for (int i = 0; i < 10; i++) {
      ask("p" + i, "b", 1_000).in("k/p").of(context);
    }

    // when
    List<String> granted = granted(context.sleep(6_000));

    // then: neither has to wait for the whole line of the other
    assertThat(granted).containsExactly("p0", "q0", "p1", "q1", "p2", "q2");
  }

  @Test
  void shouldNotHoldBackAQuotaWhoseOwnTokensSuffice() {
    // given: the first family waits for tokens of its own, the organisation has plenty
    EngineContext context = quota().takingFrom("k/o").start();
    quota().full().named("k/p").takingFrom("k/o").defineIn(context);
    quota().full().named("k/o").defineIn(context);
    only(ask("q", "a", 20_000).of(context), LeaseQueued.class);

    // when
    List<Event> other = ask("p", "b", 20_000).in("k/p").of(context);

    // then
    only(other, LeaseGranted.class);
  }

  // ---- backfill

  @Test
  void shouldLetSmallRequestsPassAWaitingHeadUpToHalfOfIt() {
    // given: 10,000 there; the head takes 50,000, small is at most 1,843
    EngineContext context = quota().full().start();
    only(ask("first", "x", 49_000).of(context), LeaseGranted.class);
    only(ask("head", "a", 50_000).of(context), LeaseQueued.class);

    // when: its own agent asks for more, behind it
    int passed = 0;
    for (int i = 0; i < 20; i++) {
      passed += granted(ask("s" + i, "a", 1_800).of(context)).size();
    }
    passed += granted(context.sleep(63_000)).size();

    // then: 13 x 1,800 is within 25,000
    assertThat(passed).isEqualTo(13);
    assertThat(granted(context.sleep(1_000))).startsWith("head");
  }

  @Test
  void shouldCountWhatAPassingCallUsesBeyondItsEstimate() {
    // given: a call that says it needs nothing, and passes
    EngineContext context = quota().full().start();
    ask("first", "x", 49_000).of(context);
    only(ask("head", "a", 50_000).of(context), LeaseQueued.class);
    LeaseGranted lease = only(ask("s1", "a", 0).of(context), LeaseGranted.class);

    // when
    context.settle(lease.leaseId(), "a", Outcome.SUCCEEDED, 9_900L, 0L);
    LeaseGranted second = only(ask("s2", "a", 0).of(context), LeaseGranted.class);
    context.settle(second.leaseId(), "a", Outcome.SUCCEEDED, 20_000L, 0L);
    context.sleep(40_000);

    // then
    only(ask("s3", "a", 0).of(context), LeaseQueued.class);
  }

  @Test
  void shouldLetOthersPassUpToATenth() {
    // given
    EngineContext context = quota().full().start();
    ask("first", "x", 49_000).of(context);
    only(ask("head", "a", 50_000).of(context), LeaseQueued.class);

    // when
    List<Event> one = ask("o1", "a", 3_000).of(context);
    List<Event> two = ask("o2", "a", 3_000).of(context);

    // then
    assertThat(only(one, LeaseGranted.class).order().lane()).isEqualTo(Lane.BACKFILL_OTHER);
    assertThat(only(one, LeaseGranted.class).order().passedRequestId()).isEqualTo("head");
    only(two, LeaseQueued.class);
  }

  @Test
  void shouldNotPassAHeadThatWaitsForASlot() {
    // given
    Amounts limits = OrderContext.LIMIT.with(Dimension.CONCURRENT_REQUESTS, 1);
    EngineContext context = quota().limits(limits).start();
    only(ask("first", "x", 100).of(context), LeaseGranted.class);
    only(ask("head", "a", 50_000).of(context), LeaseQueued.class);

    // then
    only(ask("s", "a", 10).of(context), LeaseQueued.class);
  }
}
