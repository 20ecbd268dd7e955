package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.OrderContext.ask;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.Settlement.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Retry budgets of one agent that works on many tasks. */
class ManyTasksTest {
  private static final long HOUR_MS = 3_600_000;
  private static final long GAP_MS = 3_000;
  private static final int RETRIES = 12;

  /** A task is over before its own twelve retries of a life are. */
  private static final long TASK_MS = 120_000;

  /** What a failed call is remembered for: after that a task may have a first attempt once more. */
  private static final int FORGETS_IN_AN_HOUR = 6;

  @ParameterizedTest
  @CsvSource({
    "1, true",
    "2, true",
    "16, true",
    "17, true",
    "18, true",
    "300, true",
    "1000, true",
    "17, false",
    "1200, false"
  })
  void shouldBoundFailuresHoweverManyTasksTheyAreOf(int tasks, boolean warm) {
    // given: each task has made a call that succeeded, or none
    EngineContext context = started();
    for (int i = 0; warm && i < tasks; i++) {
      end(context, granted(ask("w" + i, "a", 1).task("t" + i).of(context)), Outcome.SUCCEEDED);
    }
    long untilMs = context.nowMs + HOUR_MS;
    int failures = 0;

    // when: each call fails, and the next is of the next task
    for (int i = 0; context.nowMs < untilMs; i++) {
      LeaseGranted lease = granted(ask("f" + i, "a", 2_000).task("t" + i % tasks).of(context));
      context.sleep(GAP_MS);
      if (lease != null) {
        end(context, lease, Outcome.FAILED_AFTER_SEND);
        failures++;
      }
    }

    // then: two tasks at a time, each with its retries, and the agent's of an hour
    int chains = Math.min(tasks, 2) * FORGETS_IN_AN_HOUR;
    assertThat(failures).isLessThanOrEqualTo(chains * (1 + RETRIES) + RETRIES);
  }

  @Test
  void shouldBoundRetriesThatAreNamedByTheirTasks() {
    // given
    EngineContext context = started();
    int tasks = 17;
    List<String> last = new ArrayList<>();
    int failures = 0;

    // when: each names the call of its task that failed, or was rejected, last
    for (int i = 0; i < 600; i++) {
      String before = i < tasks ? null : last.get(i - tasks);
      String task = "t" + i % tasks;
      last.add("f" + i);
      LeaseGranted lease = granted(ask("f" + i, "a", 2_000).task(task).retryOf(before).of(context));
      context.sleep(GAP_MS);
      if (lease != null) {
        end(context, lease, Outcome.FAILED_AFTER_SEND);
        failures++;
      }
    }

    // then: and what is forgotten after ten minutes
    assertThat(failures).isLessThanOrEqualTo(tasks * (1 + RETRIES) + 3 * RETRIES);
  }

  @ParameterizedTest
  @CsvSource({
    "4, 0.01, true, 0",
    "4, 0.05, true, 2000",
    "4, 0.1, false, 2000",
    "4, 0.1, false, 0",
    "20, 0.05, true, 2000",
    "20, 0.05, false, 2000",
    "20, 0.08, false, 0",
    "20, 0.05, false, 30000"
  })
  void shouldMindNoFailuresNowAndThenOfManyTasks(
      int tasks, double failing, boolean named, long backoffMs) {
    // given: each task makes a call of 4 s after the other, and its retries after a while
    EngineContext context = started();
    Random random = new Random(7);
    PriorityQueue<Step> steps =
        new PriorityQueue<>(Comparator.comparingLong(Step::atMs).thenComparing(Step::task));
    for (int i = 0; i < tasks; i++) {
      steps.add(new Step(context.nowMs, "t" + i, null, null));
    }
    long untilMs = context.nowMs + HOUR_MS;
    int calls = 0;
    int failures = 0;
    int rejected = 0;

    // when
    for (int i = 0; steps.peek().atMs <= untilMs; i++) {
      Step step = steps.poll();
      context.sleep(step.atMs - context.nowMs);
      if (step.lease != null) {
        boolean fails = random.nextDouble() < failing;
        end(context, step.lease, fails ? Outcome.FAILED_AFTER_SEND : Outcome.SUCCEEDED);
        failures += fails ? 1 : 0;
        String retryOf = fails && named ? step.lease.requestId() : null;
        long nextMs = context.nowMs + (fails ? backoffMs : 0);
        steps.add(new Step(nextMs, step.task, null, retryOf));
        continue;
      }
      String task = step.task + "-" + context.nowMs / TASK_MS;
      List<Event> events = ask("r" + i, "a", 10).task(task).retryOf(step.retryOf).of(context);
      LeaseGranted lease = granted(events);
      if (lease != null) {
        calls++;
        steps.add(new Step(context.nowMs + 4_000, step.task, lease, null));
      } else {
        rejected++;
        Long retryAtMs = EngineContext.only(events, LeaseRejected.class).retryAtMs();
        assertThat(retryAtMs).as("told when to come back").isNotNull();
        steps.add(new Step(retryAtMs, step.task, null, "r" + i));
      }
    }

    // then
    assertThat(calls + failures * backoffMs / 4_000)
        .as("%d calls, %d failures, %d rejected", calls, failures, rejected)
        .isGreaterThan(tasks * 900 * 95 / 100);
  }

  @Test
  void shouldLetOtherTasksGoOnWhileOneFailureWaits() {
    // given: a task whose call failed, and another that has made a call
    EngineContext context = started();
    end(context, granted(ask("b1", "a", 10).task("b").of(context)), Outcome.SUCCEEDED);
    end(context, granted(ask("a1", "a", 10).task("a").of(context)), Outcome.FAILED_AFTER_SEND);

    // when, then: the other goes on, and the failed call is retried by its own task
    assertThat(granted(ask("b2", "a", 10).task("b").of(context)).attempt()).isEqualTo(1);
    assertThat(granted(ask("a2", "a", 10).task("a").of(context)).attempt()).isEqualTo(2);
  }

  private record Step(long atMs, String task, LeaseGranted lease, String retryOf) {}

  private static EngineContext started() {
    EngineContext context = OrderContext.quota().full().start();
    context.restoring = false;
    return context;
  }

  private static LeaseGranted granted(List<Event> events) {
    for (Event event : events) {
      if (event instanceof LeaseGranted lease) {
        return lease;
      }
    }
    return null;
  }

  private static void end(EngineContext context, LeaseGranted lease, Outcome outcome) {
    context.settle(lease.leaseId(), lease.agentId(), outcome, 10L, 0L);
  }
}
