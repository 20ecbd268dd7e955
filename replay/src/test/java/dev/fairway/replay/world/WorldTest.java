package dev.fairway.replay.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.TaskState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The fleet, its task graph, its harness and its prompt cache. */
class WorldTest {
  private static final Limits PLENTY = new Limits(1_000_000, 1_000_000_000, 1_000_000_000);
  private static final WorldOptions CALM =
      WorldOptions.defaults()
          .with(Parameter.AGENTS, "10")
          .with(Parameter.HOURS, "1")
          .with(Parameter.CRASH_RATE, "0")
          .with(Parameter.OUTSIDE, "0")
          .with(Parameter.OUTSIDE_BURST, "0");

  private record Told(TaskState state, String task, List<String> blockedOn) {}

  /** Lets everything through and writes down what orchestrators say. */
  private static final class Listening implements Gate {
    final List<Told> told = new ArrayList<>();
    private final Gate open;

    Listening(World world) {
      open = new OpenGate(world, Backoff.FULL_JITTER_30);
    }

    @Override
    public void ask(Call call) {
      open.ask(call);
    }

    @Override
    public void withdrawn(Call call) {}

    @Override
    public void started(Call call, Headers headers) {}

    @Override
    public void ended(Call call) {}

    @Override
    public void refused(Call call, Refusal refusal, boolean again) {
      open.refused(call, refusal, again);
    }

    @Override
    public void task(
        TaskState state, String taskId, Role role, String agentId, List<String> blockedOn) {
      told.add(new Told(state, taskId, blockedOn));
    }
  }

  @Test
  void shouldStartNoTaskBeforeThoseThatItIsBlockedOn() {
    // given
    List<Listening> gates = new ArrayList<>();
    int[] merged = {0};

    // when
    World.run(
        7,
        CALM,
        PLENTY,
        world -> {
          gates.add(new Listening(world));
          return gates.get(0);
        },
        new Observer() {
          @Override
          public void merged(long atMs, int group, long criticalWaitMs) {
            merged[0]++;
            assertThat(criticalWaitMs).isZero();
          }
        });

    // then
    Map<String, List<String>> blocked = new HashMap<>();
    Set<String> ended = new HashSet<>();
    for (Told one : gates.get(0).told) {
      if (one.state() == TaskState.BLOCKED) {
        blocked.put(one.task(), one.blockedOn());
      } else if (one.state() == TaskState.STARTED) {
        assertThat(ended).containsAll(blocked.getOrDefault(one.task(), List.of()));
      } else {
        ended.add(one.task());
      }
    }
    assertThat(blocked.get("g0.pr0.reviewer")).hasSize(6);
    assertThat(blocked.get("g0.pr1.planner")).hasSize(6);
    assertThat(blocked.get("g0.pr0.worker5")).containsExactly("g0.pr0.planner");
    assertThat(merged[0]).isEqualTo(5);
  }

  @Test
  void shouldGiveEveryAgentTheTurnsOfItsRoleAboutEveryNinetySeconds() {
    // given
    Map<String, Integer> turns = new HashMap<>();
    Map<String, List<Long>> tasks = new HashMap<>();

    // when
    World.run(
        7,
        CALM,
        PLENTY,
        world -> new OpenGate(world, Backoff.FULL_JITTER_30),
        new Observer() {
          @Override
          public void turnEnded(long atMs, Call call, long waitingSinceMs, long sentAtMs) {
            turns.merge(call.taskId(), 1, Integer::sum);
          }

          @Override
          public void taskEnded(long atMs, Role role, String agentId, long beganAtMs) {
            tasks.computeIfAbsent(role.wireName(), r -> new ArrayList<>()).add(atMs - beganAtMs);
          }
        });

    // then
    assertThat(turns)
        .containsEntry("g0.pr0.planner", 3)
        .containsEntry("g0.pr0.worker0", 5)
        .containsEntry("g0.pr0.reviewer", 3)
        .containsEntry("g0.lint0.0", 4);
    // The last call of a task asks for no tools.
    assertThat(tasks.get("refactor")).allMatch(ms -> ms > 4 * 75_000 && ms < 5 * 140_000);
    assertThat(tasks.get("lint")).allMatch(ms -> ms > 3 * 70_000 && ms < 3 * 95_000);
  }

  @Test
  void shouldEndToolsOnACommonBeatWhereToldSo() {
    // when
    World.run(
        7,
        CALM.with(Parameter.TICK, "true"),
        PLENTY,
        world -> new OpenGate(world, Backoff.FULL_JITTER_30),
        new Observer() {
          @Override
          public void toolsEnded(long atMs, Call call, long waitingSinceMs) {
            // then
            assertThat(atMs % 90_000).isZero();
          }
        });
  }

  @Test
  void shouldCountAPrefixOnlyOnceItsCacheIsCold() {
    // given: a cache that is always cold, and one that is always warm
    long[] cold = {0};
    long[] warm = {0};

    // when
    run(CALM.with(Parameter.CACHE_TTL_S, "1"), cold);
    run(CALM.with(Parameter.CACHE_TTL_S, "300"), warm);

    // then
    assertThat(warm[0]).isZero();
    assertThat(cold[0]).isGreaterThan(1_000_000);
  }

  private static void run(WorldOptions options, long[] beyondNew) {
    World.run(
        7,
        options,
        PLENTY,
        world -> new OpenGate(world, Backoff.FULL_JITTER_30),
        new Observer() {
          @Override
          public void admitted(long atMs, Call call, long input) {
            assertThat(call.prefixTokens()).isLessThanOrEqualTo(90_000);
            assertThat(call.role() != Role.LINT || call.prefixTokens() == 0).isTrue();
            assertThat(input - call.newInput()).isIn(0L, call.prefixTokens());
            beyondNew[0] += input - call.newInput();
          }
        });
  }

  @Test
  void shouldPlanAgainAfterItsRetriesAndPayForIt() {
    // given: no call is ever admitted but those of a plan
    Map<Call, Integer> refusals = new HashMap<>();
    List<Call> givenUp = new ArrayList<>();
    List<Call> plans = new ArrayList<>();
    Limits none = new Limits(50, 10_000, 1_000_000);

    // when
    World.run(
        7,
        CALM.with(Parameter.HOURS, "0.2"),
        none,
        world -> new OpenGate(world, Backoff.FULL_JITTER_30),
        new Observer() {
          @Override
          public void refused(long atMs, Call call, Dimension binding) {
            refusals.merge(call, 1, Integer::sum);
          }

          @Override
          public void replanned(long atMs, Call call, boolean fromWaits) {
            givenUp.add(call);
            assertThat(fromWaits).isFalse();
          }

          @Override
          public void admitted(long atMs, Call call, long input) {
            if (call.isReplan()) {
              plans.add(call);
            }
          }
        });

    // then
    assertThat(givenUp).isNotEmpty().allMatch(call -> refusals.get(call) == 7);
    assertThat(plans).isNotEmpty().allMatch(call -> call.newInput() <= 80_000);
  }

  @Test
  void shouldDrawTheCostOfPlanningAgainBetweenItsEnds() {
    // given
    Work work = new Work(3, CALM);

    for (int n = 0; n < 200; n++) {
      // when
      long sum =
          work.replan(Role.REFACTOR, new Work.Place(1, 2, 3), n, 70_000).stream()
              .mapToLong(Work.Turn::newInput)
              .sum();

      // then
      assertThat(sum).isBetween(5 * 70_000L, 20 * 70_000L);
    }
  }

  @Test
  void shouldLoseHeartWhereNothingIsEverLetThrough() {
    // given
    List<Long> givenUpAtMs = new ArrayList<>();
    List<Call> withdrawn = new ArrayList<>();

    // when
    World.run(
        7,
        CALM.with(Parameter.HOURS, "0.2").with(Parameter.PATIENCE_S, "100"),
        PLENTY,
        world ->
            new Gate() {
              @Override
              public void ask(Call call) {}

              @Override
              public void withdrawn(Call call) {
                withdrawn.add(call);
              }

              @Override
              public void started(Call call, Headers headers) {}

              @Override
              public void ended(Call call) {}

              @Override
              public void refused(Call call, Refusal refusal, boolean again) {}
            },
        new Observer() {
          @Override
          public void replanned(long atMs, Call call, boolean fromWaits) {
            assertThat(fromWaits).isTrue();
            givenUpAtMs.add(atMs);
          }
        });

    // then: the planner and both lint leaves, once each, for a plan waits for ever
    assertThat(givenUpAtMs).hasSize(3).allMatch(atMs -> atMs >= 100_000 && atMs <= 105_000);
    assertThat(withdrawn).hasSize(3);
  }

  @Test
  void shouldComeBackFromACrashAndDoTheTurnAgain() {
    // given
    Map<Integer, Call> crashed = new HashMap<>();
    Map<Integer, Long> crashedAtMs = new HashMap<>();

    // when
    World.run(
        7,
        CALM.with(Parameter.CRASH_RATE, "0.3"),
        PLENTY,
        world -> new OpenGate(world, Backoff.FULL_JITTER_30),
        new Observer() {
          @Override
          public void crashed(long atMs, Call call) {
            crashed.put(call.agentIndex(), call);
            crashedAtMs.put(call.agentIndex(), atMs);
          }

          @Override
          public void admitted(long atMs, Call call, long input) {
            Long sinceMs = crashedAtMs.remove(call.agentIndex());
            if (sinceMs != null) {
              // then
              assertThat(atMs - sinceMs).isBetween(30_000L, 60_200L);
              assertThat(call.newInput()).isEqualTo(crashed.get(call.agentIndex()).newInput());
            }
          }

          @Override
          public void over(long atMs, Call call, long input, long output, boolean completed) {
            assertThat(call.isLost()).isEqualTo(!completed);
            assertThat(output).isLessThanOrEqualTo(call.output());
          }
        });
    assertThat(crashed).isNotEmpty();
  }
}
