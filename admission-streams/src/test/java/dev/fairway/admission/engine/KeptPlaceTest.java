package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.OrderContext.quota;
import static dev.fairway.admission.engine.OrderContext.tenant;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseEnqueued;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.state.Waiter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A place in line that is kept after a reject is one of a tenant: others have other tags. */
class KeptPlaceTest {
  private static final Map<String, Tenant> TWO =
      Map.of("old", tenant(1, null), "young", tenant(1, null));
  private static final long TEN_CALLS = 10_000_000;

  private final EngineContext context = quota().tenants(TWO).start();
  private int asked;

  @Test
  void shouldTakeUpAPlaceWhereItWasKept() {
    // given
    LeaseRejected kept = keep("old", 10);
    serve("old", 5);

    // when
    Waiter back = enqueued("c", "old", kept.requestId(), null);

    // then: before whoever comes anew
    assertThat(kept.keptTag()).isGreaterThan(TEN_CALLS);
    assertThat(back.startTag()).isEqualTo(kept.keptTag());
    assertThat(enqueued("n", "old", null, null).startTag()).isGreaterThan(kept.keptTag());
  }

  @Test
  void shouldTakeUpNoPlaceOfAnotherTenant() {
    // given: much was served in one tenant, and little in the other
    LeaseRejected old = keep("old", 10);
    LeaseRejected young = keep("young", 2);

    // when
    Waiter inYoung = enqueued("c", "young", old.requestId(), null);
    Waiter inOld = enqueued("c", "old", young.requestId(), null);

    // then: neither gains nor loses by it
    assertThat(old.keptTag()).isGreaterThan(TEN_CALLS);
    assertThat(young.keptTag()).isLessThan(TEN_CALLS);
    assertThat(inYoung.startTag()).isLessThan(TEN_CALLS);
    assertThat(inOld.startTag()).isGreaterThan(TEN_CALLS);
  }

  @Test
  void shouldTakeUpNoPlaceOfATenantThatEnded() {
    // given
    LeaseRejected kept = keep("old", 10);

    // when: another tenant of that name begins
    define(Map.of("young", tenant(1, null)));
    define(TWO);

    // then
    assertThat(enqueued("c", "old", kept.requestId(), null).startTag()).isZero();
  }

  @Test
  void shouldTakeUpNoPlaceOfBeforeThereWereTenants() {
    // given
    define(Map.of());
    LeaseRejected kept = keep(null, 10);

    // when
    define(TWO);

    // then
    assertThat(kept.keptTag()).isGreaterThan(TEN_CALLS);
    assertThat(enqueued("c", "old", kept.requestId(), null).startTag()).isZero();
  }

  @Test
  void shouldTakeUpAPlaceThroughADefinitionThatKeepsItsTenant() {
    // given
    LeaseRejected kept = keep("old", 10);

    // when
    define(Map.of("old", tenant(3, null), "third", tenant(1, null)));

    // then
    assertThat(enqueued("c", "old", kept.requestId(), null).startTag()).isEqualTo(kept.keptTag());
  }

  @Test
  void shouldComeBackAnewAfterARefusalWhereItsTenantEnded() {
    // given: a call is out while its tenant ends, and another one of that name begins
    serve("old", 10);
    context.sleep(5_000);
    LeaseGranted lease = only(ask("c", "old", null, null), LeaseGranted.class);
    define(Map.of());
    define(TWO);

    // when
    List<Event> refused =
        context.settle(
            lease.leaseId(), "c", Outcome.RATE_LIMITED, null, null, KeptPlaceTest::refusal);

    // then
    assertThat(only(refused, LeaseEnqueued.class).waiter().startTag()).isZero();
  }

  /** Serves that many calls of two seconds each. */
  private void serve(String tenant, int calls) {
    for (int i = 0; i < calls; i++) {
      ask("s", tenant, null, null);
    }
    context.sleep(calls * 2_000L);
  }

  /** The same, and keeps a place before the last of them. */
  private LeaseRejected keep(String tenant, int calls) {
    for (int i = 0; i < calls; i++) {
      ask("s", tenant, null, null);
    }
    context.sleep(calls * 2_000L - 1_000);
    ask("c", tenant, null, context.nowMs + 1);
    return only(context.sleep(1), LeaseRejected.class);
  }

  private Waiter enqueued(String agent, String tenant, String retryOf, Long deadlineMs) {
    return only(ask(agent, tenant, retryOf, deadlineMs), LeaseEnqueued.class).waiter();
  }

  private List<Event> ask(String agent, String tenant, String retryOf, Long deadlineMs) {
    return context.ask(
        new LeaseRequest(
            "r" + asked++,
            agent,
            EngineContext.QUOTA,
            null,
            "worker",
            "batch",
            retryOf,
            0,
            null,
            new Estimate(2_000L, 0, null, 0L, ""),
            tenant,
            deadlineMs,
            null,
            null));
  }

  private void define(Map<String, Tenant> tenants) {
    quota().tenants(tenants).defineIn(context);
  }

  private static Settlement refusal(Settlement s) {
    return new Settlement(
        s.leaseId(),
        null,
        s.agentId(),
        s.quotaId(),
        s.outcome(),
        null,
        true,
        new Signal(429, Kind.RATE_LIMITED, null, null, 0L, null, Map.of()));
  }
}
