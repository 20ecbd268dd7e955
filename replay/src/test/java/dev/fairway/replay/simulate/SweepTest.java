package dev.fairway.replay.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.replay.world.Parameter;
import dev.fairway.replay.world.WorldOptions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SweepTest {

  @Test
  void shouldMakeEveryCombination() {
    // when
    List<Sweep.Point> points =
        Sweep.points(WorldOptions.defaults(), List.of("replan-cost=5,5-20", "patience-s=60,600"));

    // then
    assertThat(points)
        .extracting(Sweep.Point::name)
        .containsExactly(
            "replan-cost=5 patience-s=60",
            "replan-cost=5 patience-s=600",
            "replan-cost=5-20 patience-s=60",
            "replan-cost=5-20 patience-s=600");
    assertThat(points.get(0).options().harness().replanMost()).isEqualTo(5);
    assertThat(points.get(3).options().harness().replanMost()).isEqualTo(20);
    assertThat(points.get(2).options().harness().patienceMs()).isEqualTo(60_000);
  }

  @ParameterizedTest
  @CsvSource({
    "patience-s=0, a number from 1 to",
    "patience=60, the name of a parameter",
    "agents=15, a multiple of 10 from 10 to 2000 for --agents",
    "agents=7, a multiple of 10 from 10 to 2000 for --agents",
    "agents=2010, a multiple of 10 from 10 to 2000 for --agents",
    "window=leaky, 'token-bucket, fixed or rolling'",
    "headers=no, true or false",
    "replan-cost=20-5, the smaller number first",
    "rho, 'NAME=VALUE,VALUE'"
  })
  void shouldSayWhatAnAxisMustBeLike(String axis, String expected) {
    assertThatThrownBy(() -> Sweep.points(WorldOptions.defaults(), List.of(axis)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(expected);
  }

  @Test
  void shouldBoundASweep() {
    String many = "rho=1" + ",1".repeat(40);
    assertThatThrownBy(() -> Sweep.points(WorldOptions.defaults(), List.of(many, many)))
        .hasMessageContaining("at most 1000 worlds");
  }

  @Test
  void shouldNameEveryParameterInResults() {
    assertThat(WorldOptions.defaults().with(Parameter.WINDOW, "fixed").parameters())
        .hasSize(Parameter.values().length)
        .containsEntry("window", "FIXED")
        .containsEntry("patience_s", 600L)
        .containsEntry("outside", 0.05)
        .containsEntry("headers", true);
  }
}
