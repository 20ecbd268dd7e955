package dev.fairway.agent.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class TaskGraphTest {
  private final List<String> told = new ArrayList<>();
  private final TaskGraph graph =
      new TaskGraph(
          (task, role, state, blockedOn) -> {
            told.add(task + " " + state + " " + blockedOn);
            return CompletableFuture.completedFuture(null);
          });

  @Test
  void shouldTellWhatWaitsForWhatAndWhenItIsFree() {
    // when
    graph.declare("plan", "planner", List.of());
    graph.declare("parser", "worker", List.of("plan"));
    graph.declare("tests", "worker", List.of("plan", "parser"));
    assertThat(graph.unblocks("plan")).isEqualTo(2);
    assertThat(graph.ready()).containsExactly("plan");
    graph.done("plan");
    graph.merged("parser");

    // then
    assertThat(told)
        .containsExactly(
            "plan STARTED []",
            "parser BLOCKED [plan]",
            "tests BLOCKED [plan, parser]",
            "plan DONE []",
            "parser UNBLOCKED []",
            "tests BLOCKED [parser]",
            "parser MERGED []",
            "tests UNBLOCKED []");
    assertThat(graph.ready()).containsExactly("tests");
  }

  @Test
  void shouldKeepNoMoreTasksOpenThanItMay() {
    // given
    for (int i = 0; i < TaskGraph.OPEN_MAX; i++) {
      graph.declare("task-" + i, null, List.of());
    }

    // when / then
    assertThatThrownBy(() -> graph.declare("one more", null, List.of()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("fewer than " + TaskGraph.OPEN_MAX);
    graph.done("task-0");
    graph.declare("one more", null, List.of());
    assertThat(told.get(told.size() - 1)).isEqualTo("one more STARTED []");
  }

  @Test
  void shouldForgetTheOldestOfTooManyTasksThatEnded() {
    // given
    for (int i = 0; i <= TaskGraph.ENDED_MAX; i++) {
      graph.declare("task-" + i, null, List.of());
      graph.done("task-" + i);
    }

    // when / then
    graph.declare("after the second", null, List.of("task-1"));
    assertThatThrownBy(() -> graph.declare("after the first", null, List.of("task-0")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("task-0 is none");
  }

  @Test
  void shouldKeepBlockedWhatWaitsForAFailedTaskUntilThatIsDoneAgain() {
    // given
    graph.declare("a", null, List.of());
    graph.declare("b", null, List.of("a"));

    // when
    graph.failed("a");
    assertThat(graph.ready()).isEmpty();
    graph.declare("a", null, List.of());
    graph.done("a");

    // then
    assertThat(graph.ready()).containsExactly("b");
    graph.declare("c", null, List.of("a"));
    assertThat(graph.ready()).containsExactly("b", "c");
  }

  @Test
  void shouldRefuseWhatCannotBeAndTellNothingOfIt() {
    // given
    graph.declare("a", null, List.of());

    // when / then
    assertThatThrownBy(() -> graph.declare("a", null, List.of())).hasMessageContaining("is open");
    assertThatThrownBy(() -> graph.declare("b", null, List.of("nobody")))
        .hasMessageContaining("nobody");
    assertThatThrownBy(() -> graph.declare("b", null, List.of("b"))).hasMessageContaining("b");
    assertThatThrownBy(() -> graph.done("b")).hasMessageContaining("Declare it first");
    assertThat(told).hasSize(1);
  }

  @Test
  void shouldRefuseACircleThroughATaskThatIsDeclaredAgain() {
    // given
    graph.declare("a", null, List.of());
    graph.failed("a");
    graph.declare("b", null, List.of("a"));
    graph.declare("c", null, List.of("b"));
    int before = told.size();

    // when / then
    assertThatThrownBy(() -> graph.declare("a", null, List.of("b"))).hasMessageContaining("circle");
    assertThatThrownBy(() -> graph.declare("a", null, List.of("c")))
        .hasMessageContaining("would wait for c");
    assertThat(told).hasSize(before);
    graph.declare("a", null, List.of());
    graph.done("a");
    assertThat(graph.ready()).containsExactly("b");
  }

  @Test
  void shouldCountWhoWaitsForATaskThatIsDeclaredAgain() {
    // given
    graph.declare("a", null, List.of());
    graph.declare("b", null, List.of("a"));
    graph.declare("c", null, List.of("b"));
    graph.failed("a");
    assertThat(graph.unblocks("a")).isEqualTo(2);

    // when
    graph.declare("a", null, List.of());

    // then
    assertThat(graph.unblocks("a")).isEqualTo(2);
    graph.failed("c");
    assertThat(graph.unblocks("a")).isEqualTo(1);
  }

  /** Whatever fails and is declared again, with whatever dependencies are taken. */
  @Property(tries = 200)
  void shouldNeverBeStuckInACircle(
      @ForAll @Size(max = 60) List<@IntRange(min = 0, max = 100_000) Integer> moves) {
    // given
    TaskGraph any =
        new TaskGraph((task, role, state, on) -> CompletableFuture.completedFuture(null));
    Set<String> failed = new HashSet<>();
    Set<String> open = new HashSet<>();
    for (int move : moves) {
      String task = "t" + move % 6;
      if (open.contains(task) && move % 7 == 0) {
        any.failed(task);
        open.remove(task);
        failed.add(task);
      } else if (!open.contains(task)) {
        String on = "t" + move / 6 % 6;
        boolean known = open.contains(on) || failed.contains(on);
        try {
          any.declare(task, null, known && !on.equals(task) ? List.of(on) : List.of());
        } catch (IllegalArgumentException e) {
          any.declare(task, null, List.of());
        }
        open.add(task);
        failed.remove(task);
      }
    }

    // when: what failed is done after all
    for (String task : failed) {
      any.declare(task, null, List.of());
      open.add(task);
    }
    while (!any.ready().isEmpty()) {
      String next = any.ready().get(0);
      any.done(next);
      open.remove(next);
    }

    // then
    assertThat(open).isEmpty();
  }

  @Property(tries = 200)
  void shouldFreeEveryTaskOfAnyGraphThatIsWorkedThrough(
      @ForAll @Size(max = 40) List<@IntRange(min = 0, max = 1_000) Integer> edges) {
    // given: each task depends on up to two earlier ones
    TaskGraph any =
        new TaskGraph((task, role, state, on) -> CompletableFuture.completedFuture(null));
    for (int i = 0; i < edges.size(); i++) {
      List<String> on = new ArrayList<>();
      if (i > 0 && edges.get(i) % 3 > 0) {
        on.add("t" + edges.get(i) % i);
      }
      if (i > 0 && edges.get(i) % 3 > 1) {
        on.add("t" + edges.get(i) / 7 % i);
      }
      any.declare("t" + i, null, on);
    }

    // when
    Set<String> worked = new HashSet<>();
    while (!any.ready().isEmpty()) {
      String next = any.ready().get(any.ready().size() - 1);
      assertThat(any.unblocks(next)).isBetween(0, TaskGraph.UNBLOCKS_MAX);
      any.done(next);
      worked.add(next);
    }

    // then
    assertThat(worked).hasSize(edges.size());
  }
}
