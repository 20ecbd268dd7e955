package dev.fairway.cli.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FleetPlanTest {

  @Test
  void shouldDrawTheSameTurnsForTheSameSeed() {
    assertThat(FleetPlan.draw(7, 23, 60)).isEqualTo(FleetPlan.draw(7, 23, 60));
    assertThat(FleetPlan.draw(7, 23, 60)).isNotEqualTo(FleetPlan.draw(8, 23, 60));
  }

  @Test
  void shouldNotChangeAnAgentsTurnsWithTheSizeOfTheFleetOrTheLengthOfTheRun() {
    // given
    AgentPlan alone = FleetPlan.draw(7, 1, 10).agents().get(0);

    // when
    AgentPlan among = FleetPlan.draw(7, 20, 60).agents().get(0);

    // then
    int common = Math.min(alone.turns().size(), among.turns().size());
    assertThat(common).isPositive();
    assertThat(among.turns().subList(0, common)).isEqualTo(alone.turns().subList(0, common));
  }

  @Test
  void shouldGiveEveryAgentMoreTurnsThanAnUnhinderedRunStarts() {
    // given
    FleetPlan plan = FleetPlan.draw(1, 20, 60);

    // then
    assertThat(plan.turns()).isGreaterThan(plan.demand().calls());
    for (AgentPlan agent : plan.agents()) {
      assertThat(agent.turns().get(agent.turns().size() - 1).place().last()).isTrue();
      assertThat(IntStream.range(0, agent.turns().size()).boxed().toList())
          .isEqualTo(agent.turns().stream().map(Turn::index).toList());
    }
  }

  @Test
  void shouldBuildGroupsOfTen() {
    // when
    List<AgentPlan> agents = FleetPlan.draw(1, 13, 10).agents();

    // then
    assertThat(agents).hasSize(13);
    assertThat(agents.subList(0, 10)).allMatch(agent -> agent.group() == 0);
    assertThat(agents.subList(10, 13)).allMatch(agent -> agent.group() == 1);
    assertThat(agents.stream().limit(10).map(AgentPlan::stage).toList())
        .containsOnlyOnce(Stage.PLAN)
        .containsOnlyOnce(Stage.REVIEW)
        .filteredOn(stage -> stage == Stage.WORK)
        .hasSize(6);
  }

  @Test
  void shouldStayWithinTheSizesOfTheRoles() {
    // when
    Set<AgentPlan> refactors =
        FleetPlan.draw(3, 40, 120).agents().stream()
            .filter(agent -> agent.kind().equals("refactor"))
            .collect(Collectors.toSet());

    // then
    assertThat(refactors).hasSize(8);
    assertThat(refactors)
        .allSatisfy(
            agent ->
                assertThat(agent.turns())
                    .allSatisfy(
                        turn -> {
                          if (turn.place().first()) {
                            assertThat(turn.inputTokens()).isBetween(60_000L, 80_000L);
                          }
                          assertThat(turn.outputTokens()).isBetween(1L, turn.maxTokens());
                          assertThat((double) turn.estimatedInputTokens() / turn.inputTokens())
                              .isBetween(0.7, 1.4);
                        }));
  }

  @Test
  void shouldDealATraceInOrder() {
    // given
    List<TraceReader.Row> rows =
        IntStream.range(1, 8).mapToObj(i -> new TraceReader.Row(i * 100L, i)).toList();

    // when
    FleetPlan plan = FleetPlan.fromTrace(1, 3, 5, rows);

    // then: row 0, 1, 2 are the agents' first turns, 3, 4, 5 their second ones; the eighth is the
    // first
    // row again
    assertThat(plan.agents().get(0).turns())
        .extracting(Turn::inputTokens)
        .startsWith(100L, 400L, 700L, 300L);
    assertThat(plan.agents().get(1).turns())
        .extracting(Turn::inputTokens)
        .startsWith(200L, 500L, 100L);
    assertThat(plan.agents()).allMatch(agent -> agent.stage() == Stage.FREE);
  }

  @Test
  void shouldRefuseAnEmptyFleetAndAnEmptyTrace() {
    assertThatThrownBy(() -> FleetPlan.draw(1, 0, 60)).hasMessageContaining("at least 1 agent");
    assertThatThrownBy(() -> FleetPlan.fromTrace(1, 3, 60, List.of()))
        .hasMessageContaining("at least one row");
  }
}
