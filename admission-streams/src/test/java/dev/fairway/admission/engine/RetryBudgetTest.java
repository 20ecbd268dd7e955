package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.OrderContext.ask;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What calls without a task may retry, in a closed loop of an hour: an agent has four calls in
 * play, 3,600 an hour, each of which fails by chance; who is rejected comes back when told.
 */
class RetryBudgetTest {
  private static final int IN_PLAY = 4;
  private static final long CALL_MS = 4_000;
  private static final long HOUR_MS = 3_600_000;

  /** Calls of an hour in which nothing is in the way. */
  private static final int ALL = 3_604;

  @ParameterizedTest
  @CsvSource({
    "1, 0.01, true, 0", "1, 0.01, false, 0", "1, 0.01, true, 2000",
    "1, 0.05, true, 0", "1, 0.05, false, 0", "1, 0.05, true, 2000",
    "1, 0.1, true, 0", "1, 0.1, false, 0", "1, 0.1, true, 2000",
    "5, 0.05, true, 2000", "5, 0.08, false, 0"
  })
  void shouldMindNoFailuresNowAndThen(int agents, double failing, boolean named, long backoffMs) {
    // when
    Loop loop = new Loop(agents, failing, named, backoffMs).run();

    // then: at most the quota's share of retries holds somebody up, for seconds
    assertThat(loop.calls).as(loop.toString()).isGreaterThan(agents * ALL * 85 / 100);
    assertThat(loop.longestWaitMs).as(loop.toString()).isLessThan(60_000);
  }

  @Test
  void shouldBoundRetriesWhereHalfOfAllCallsFail() {
    // when
    Loop loop = new Loop(1, 0.5, true, 0).run();

    // then
    assertThat(loop.retries).isLessThanOrEqualTo(12 + loop.succeeded / 3);
    assertThat(loop.calls).isLessThan(ALL / 10);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldBoundALoopOfFailures(boolean named) {
    // when
    Loop loop = new Loop(1, 1, named, 0).run();

    // then: twelve retries, and first calls; who names none makes one as each failure is forgotten
    assertThat(loop.retries).isEqualTo(12);
    assertThat(loop.calls).isEqualTo(named ? IN_PLAY + 12 : IN_PLAY * 6 + 12);
  }

  @Test
  void shouldBoundTheRetriesOfOneCallWhateverElseSucceeds() {
    // given: one agent, one of whose four calls at a time is one that always fails
    EngineContext context = OrderContext.quota().full().start();
    context.restoring = false;
    String doomed = null;
    int made = 0;

    // when
    for (int i = 0; i < 900; i++) {
      LeaseGranted lease = granted(context, "d" + i, doomed);
      if (lease != null) {
        made++;
        doomed = lease.requestId();
      }
      for (int good = 0; good < 3; good++) {
        settle(context, granted(context, "g" + i + "-" + good, null), Outcome.SUCCEEDED);
      }
      context.sleep(CALL_MS);
      if (lease != null) {
        settle(context, lease, Outcome.FAILED_AFTER_SEND);
      }
    }

    // then: twelve retries for as long as a failed call is remembered, ten minutes
    assertThat(made).isLessThanOrEqualTo(1 + 12 * 6);
  }

  @ParameterizedTest
  @CsvSource({"3, 2000, 0", "6, 2000, 0", "6, 1, 0", "6, 1, 120000"})
  void shouldNotPayForLargeRetriesWithSmallCalls(int small, long estimate, long backoffMs) {
    // given: a call of 2,000 that always fails, estimated as it is or as next to nothing
    EngineContext context = OrderContext.quota().full().start();
    context.restoring = false;
    long untilMs = context.nowMs + HOUR_MS;
    String failed = null;
    int failures = 0;

    // when: calls of one token succeed in between
    for (int i = 0; context.nowMs < untilMs; i++) {
      LeaseGranted lease = granted(context, "f" + i, failed, estimate);
      context.sleep(1_000);
      if (lease != null) {
        context.settle(lease.leaseId(), "a", Outcome.FAILED_AFTER_SEND, 2_000L, 0L);
        failures++;
        failed = lease.requestId();
      }
      context.sleep(backoffMs);
      for (int j = 0; j < small; j++) {
        LeaseGranted one = granted(context, "s" + i + "-" + j, null, 1);
        context.sleep(1_000);
        if (one != null) {
          context.settle(one.leaseId(), "a", Outcome.SUCCEEDED, 1L, 0L);
        }
      }
    }

    // then: six are retried; the first small one after each is taken for its retry as well
    assertThat(failures).isBetween(7, 20);
  }

  @ParameterizedTest
  @CsvSource({"k/solo, k/q1, 600", "k/q1, k/solo, 600", "k/q1, k/q2, 60"})
  void shouldNotPayForLargeRetriesWithSmallCallsOfAnotherQuota(
      String failing, String succeeding, long thousandsOfLimit) {
    // given: a loop of failures of 2,000 in one quota, and calls of one token in another
    EngineContext context = several(thousandsOfLimit * 1_000);
    long untilMs = context.nowMs + HOUR_MS;
    String failed = null;
    int failures = 0;

    // when
    for (int i = 0; context.nowMs < untilMs; i++) {
      LeaseGranted lease = grantedIn(context, failing, "f" + i, failed, 2_000);
      context.sleep(1_000);
      if (lease != null) {
        end(context, lease, Outcome.FAILED_AFTER_SEND, 2_000);
        failures++;
        failed = lease.requestId();
      }
      for (int j = 0; j < 6; j++) {
        LeaseGranted one = grantedIn(context, succeeding, "s" + i + "-" + j, null, 1);
        context.sleep(1_000);
        if (one != null) {
          end(context, one, Outcome.SUCCEEDED, 1);
        }
      }
    }

    // then: as in one quota
    assertThat(failures).isBetween(7, 20);
  }

  @ParameterizedTest
  @CsvSource({"k/q1, k/solo", "k/solo, k/q1"})
  void shouldMindNoFailuresNowAndThenThatAreOfOneQuota(String failing, String succeeding) {
    // given: 2 % of the calls fail, all in one quota; most of the others are in another
    EngineContext context = several(600_000);
    long untilMs = context.nowMs + HOUR_MS;
    int calls = 0;
    int rejected = 0;

    // when
    for (int i = 0; context.nowMs < untilMs; i++) {
      boolean fails = i % 50 == 0;
      LeaseGranted lease = grantedIn(context, fails ? failing : succeeding, "r" + i, null, 1_000);
      context.sleep(2_000);
      if (lease != null) {
        end(context, lease, fails ? Outcome.FAILED_AFTER_SEND : Outcome.SUCCEEDED, 1_000);
      }
      calls++;
      rejected += lease == null ? 1 : 0;
    }

    // then
    assertThat(calls).isGreaterThan(1_700);
    assertThat(rejected).isZero();
  }

  @Test
  void shouldTellTheShareOfRetriesAsItWasGiven() {
    // given
    EngineContext context = OrderContext.quota().full().budgets(null, null, 0.07).start();
    context.restoring = false;
    LeaseRejected told = null;

    // when
    for (int i = 0; told == null && i < 30; i++) {
      LeaseGranted first = only(ask("f" + i, "a" + i, 1).of(context), LeaseGranted.class);
      context.settle(first.leaseId(), "a" + i, Outcome.FAILED_AFTER_SEND, 1L, 0L);
      for (Event event : ask("g" + i, "a" + i, 1).retryOf("f" + i).of(context)) {
        told = event instanceof LeaseRejected rejected ? rejected : told;
      }
    }

    // then
    assertThat(told).isNotNull();
    assertThat(told.detail()).contains(" 10 and 7 % are retries");
  }

  /** One on its own, and two of that limit that take from one of 60,000. */
  private static EngineContext several(long limit) {
    Amounts wide = Amounts.of(Dimension.INPUT_TOKENS, limit);
    EngineContext context = OrderContext.quota().named("k/solo").full().start();
    OrderContext.quota().named("k/s").full().defineIn(context);
    OrderContext.quota().named("k/q1").limits(wide).takingFrom("k/s").defineIn(context);
    OrderContext.quota().named("k/q2").full().takingFrom("k/s").defineIn(context);
    context.restoring = false;
    return context;
  }

  private static LeaseGranted grantedIn(
      EngineContext context, String quota, String id, String retryOf, long tokens) {
    for (Event event : ask(id, "a", tokens).in(quota).retryOf(retryOf).of(context)) {
      if (event instanceof LeaseGranted lease) {
        return lease;
      }
    }
    return null;
  }

  private static void end(EngineContext context, LeaseGranted lease, Outcome outcome, long tokens) {
    context.settle(
        lease.leaseId(),
        lease.agentId(),
        outcome,
        tokens,
        0L,
        s ->
            new Settlement(
                s.leaseId(), null, s.agentId(), lease.quotaId(), outcome, s.usage(), false, null));
  }

  private static LeaseGranted granted(EngineContext context, String id, String retryOf) {
    return granted(context, id, retryOf, 10);
  }

  private static LeaseGranted granted(
      EngineContext context, String id, String retryOf, long tokens) {
    for (Event event : ask(id, "a", tokens).retryOf(retryOf).of(context)) {
      if (event instanceof LeaseGranted lease) {
        return lease;
      }
    }
    return null;
  }

  private static void settle(EngineContext context, LeaseGranted lease, Outcome outcome) {
    context.settle(lease.leaseId(), lease.agentId(), outcome, 10L, 0L);
  }

  /** Agents and their calls. Margin 1 and plenty of tokens: nothing but budgets is in the way. */
  private static final class Loop {
    private record Due(long atMs, int number, String agent, LeaseGranted lease, String retryOf) {}

    private final EngineContext context = OrderContext.quota().full().start();
    private final PriorityQueue<Due> due =
        new PriorityQueue<>(
            (a, b) ->
                a.atMs == b.atMs
                    ? Integer.compare(a.number, b.number)
                    : Long.compare(a.atMs, b.atMs));
    private final long untilMs = context.nowMs + HOUR_MS;
    private final int agents;
    private final double failing;
    private final boolean named;
    private final long backoffMs;
    private final Random random = new Random(1);
    private int asked;
    private int calls;
    private int retries;
    private int succeeded;
    private int rejected;
    private long longestWaitMs;

    Loop(int agents, double failing, boolean named, long backoffMs) {
      this.agents = agents;
      this.failing = failing;
      this.named = named;
      this.backoffMs = backoffMs;
      context.restoring = false;
    }

    Loop run() {
      for (int i = 0; i < agents * IN_PLAY; i++) {
        request("a" + i % agents, null);
      }
      while (!due.isEmpty() && due.peek().atMs <= untilMs) {
        Due next = due.poll();
        context.sleep(Math.max(0, next.atMs - context.nowMs));
        if (next.lease == null) {
          request(next.agent, next.retryOf);
        } else {
          end(next.lease);
        }
      }
      return this;
    }

    private void end(LeaseGranted lease) {
      boolean fails = random.nextDouble() < failing;
      succeeded += fails ? 0 : 1;
      settle(context, lease, fails ? Outcome.FAILED_AFTER_SEND : Outcome.SUCCEEDED);
      String retryOf = fails && named ? lease.requestId() : null;
      if (fails && backoffMs > 0) {
        due.add(new Due(context.nowMs + backoffMs, asked, lease.agentId(), null, retryOf));
      } else {
        request(lease.agentId(), retryOf);
      }
    }

    private void request(String agent, String retryOf) {
      for (Event event : ask("r" + asked++, agent, 10).retryOf(retryOf).of(context)) {
        if (event instanceof LeaseGranted lease) {
          calls++;
          retries += lease.attempt() > 1 ? 1 : 0;
          due.add(new Due(context.nowMs + CALL_MS, asked, agent, lease, null));
        } else if (event instanceof LeaseRejected told) {
          rejected++;
          if (told.retryAtMs() != null) {
            longestWaitMs = Math.max(longestWaitMs, told.retryAtMs() - context.nowMs);
            due.add(new Due(told.retryAtMs(), asked, agent, null, retryOf));
          }
        }
      }
    }

    @Override
    public String toString() {
      return calls
          + " calls, "
          + retries
          + " retries, "
          + rejected
          + " rejected, "
          + longestWaitMs
          + " ms the longest";
    }
  }
}
