package dev.fairway.cli.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class GatesTest {
  private final AgentPlan planner = agent("agent-00", Stage.PLAN);
  private final AgentPlan worker = agent("agent-01", Stage.WORK);
  private final AgentPlan otherWorker = agent("agent-02", Stage.WORK);
  private final AgentPlan reviewer = agent("agent-07", Stage.REVIEW);
  private final AgentPlan lint = agent("agent-08", Stage.FREE);
  private final Gates gates = new Gates(List.of(planner, worker, otherWorker, reviewer, lint));
  private final Clock clock = new Clock(60_000);

  private static AgentPlan agent(String id, Stage stage) {
    return new AgentPlan(id, "kind", 0, stage, 0, List.of());
  }

  private CompletableFuture<Boolean> begin(AgentPlan agent, int task) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return gates.await(agent, task, clock);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  @Test
  void shouldLetPlannersAndLintersBeginAtOnce() throws Exception {
    assertThat(begin(planner, 0).get(10, TimeUnit.SECONDS)).isTrue();
    assertThat(begin(lint, 3).get(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void shouldOpenTheReviewOnlyAfterTheLastWorker() throws Exception {
    // given
    CompletableFuture<Boolean> work = begin(worker, 0);
    CompletableFuture<Boolean> review = begin(reviewer, 0);
    CompletableFuture<Boolean> nextPlan = begin(planner, 1);
    assertThat(work).isNotDone();

    // when
    gates.done(planner, 0);

    // then
    assertThat(work.get(10, TimeUnit.SECONDS)).isTrue();

    // when
    gates.done(worker, 0);

    // then
    assertThat(review).isNotDone();

    // when
    gates.done(otherWorker, 0);

    // then
    assertThat(review.get(10, TimeUnit.SECONDS)).isTrue();
    assertThat(nextPlan.get(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void shouldLetEverybodyGoWhenTheRunIsStopped() throws Exception {
    // given
    CompletableFuture<Boolean> review = begin(reviewer, 0);

    // when
    clock.stop();
    gates.wake();

    // then
    assertThat(review.get(10, TimeUnit.SECONDS)).isFalse();
  }

  @Test
  void shouldNotWaitForAStageThatHasNoMembers() throws Exception {
    // given
    Gates alone = new Gates(List.of(planner));

    // then
    assertThat(alone.await(planner, 5, clock)).isTrue();
  }
}
