package dev.fairway.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.fairway.cli.demo.fleet.FleetPlan;
import org.junit.jupiter.api.Test;

class FleetLimitsTest {

  @Test
  void shouldSetTheInputLimitByTheRatioAndLeaveRoomElsewhere() {
    // given
    FleetPlan plan = FleetPlan.draw(1, 20, 60);

    // when
    FleetLimits limits = FleetLimits.of(plan, 1.3);

    // then
    assertThat(limits.demandVsLimit()).isCloseTo(1.3, within(0.001));
    assertThat(limits.limits().outputTokens().capacity(60) / plan.demand().outputTokens())
        .isGreaterThan(1.5);
    assertThat(limits.limits().requests().capacity(60) / plan.demand().calls()).isGreaterThan(1.5);
  }

  @Test
  void shouldAlwaysCoverTheLargestTurn() {
    // given: in one second nobody does more than a turn
    FleetPlan plan = FleetPlan.draw(1, 1, 1);

    // when
    FleetLimits limits = FleetLimits.of(plan, 50);

    // then: and the report tells that the ratio was not reached
    long largest =
        plan.agents().get(0).turns().stream().mapToLong(turn -> turn.inputTokens()).max().orElse(0);
    assertThat(limits.limits().inputTokens().perMinute()).isGreaterThan(largest);
    assertThat(limits.demandVsLimit()).isLessThan(50);
  }

  @Test
  void shouldKnowLessThanTheProviderHas() {
    // when
    FleetLimits limits = FleetLimits.of(FleetPlan.draw(1, 20, 60), 1.3);

    // then
    assertThat(limits.knownOpeningTokens()).isLessThan(limits.limits().inputTokens().opening());
  }
}
