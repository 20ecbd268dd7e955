package dev.fairway.replay.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.replay.world.clairvoyant.ClairvoyantGate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SameWorkTest {
  private static final WorldOptions OPTIONS =
      WorldOptions.defaults().with(Parameter.HOURS, "1").with(Parameter.RHO, "1.2");

  private static Map<Integer, List<Long>> turns(Gate.Maker gate, StringBuilder outside) {
    Map<Integer, List<Long>> turns = new HashMap<>();
    World.run(
        5,
        OPTIONS,
        World.limits(5, OPTIONS),
        gate,
        new Observer() {
          @Override
          public void turnEnded(long atMs, Call call, long waitingSinceMs, long sentAtMs) {
            List<Long> ofAgent =
                turns.computeIfAbsent(call.agentIndex(), agent -> new ArrayList<>());
            ofAgent.add(call.newInput());
            ofAgent.add(call.output());
          }

          @Override
          public void outside(long atMs, long input) {
            outside.append(atMs).append(' ').append(input).append('\n');
          }
        });
    return turns;
  }

  @Test
  void shouldGiveEveryGateTheSameTurnsAndTheSameOutsideTraffic() {
    // when
    StringBuilder outsideOfOpen = new StringBuilder();
    StringBuilder outsideOfOther = new StringBuilder();
    Map<Integer, List<Long>> open =
        turns(world -> new OpenGate(world, Backoff.FULL_JITTER_30), outsideOfOpen);
    Map<Integer, List<Long>> other = turns(ClairvoyantGate::new, outsideOfOther);

    // then: one gets further than the other, on the same way
    for (Map.Entry<Integer, List<Long>> agent : open.entrySet()) {
      List<Long> others = other.getOrDefault(agent.getKey(), List.of());
      int common = Math.min(agent.getValue().size(), others.size());
      assertThat(agent.getValue().subList(0, common)).isEqualTo(others.subList(0, common));
    }
    assertThat(other.values().stream().mapToInt(List::size).sum())
        .isGreaterThan(open.values().stream().mapToInt(List::size).sum());
    assertThat(outsideOfOpen.toString()).isEqualTo(outsideOfOther.toString());
  }

  @Test
  void shouldSendFiveTimesAsMuchFromOutsideInABurst() {
    // given
    WorldOptions busy = WorldOptions.defaults().with(Parameter.HOURS, "10");

    // when
    OutsideTraffic traffic = OutsideTraffic.draw(9, busy, 10_000_000);

    // then: 55 minutes at 5 % and 5 at 25 % of each hour
    double share = traffic.inputBetween(-1, 36_000_000) / (600 * 10_000_000.0);
    assertThat(share).isBetween(0.063, 0.070);
    long most = 0;
    for (int minute = 0; minute < 600; minute++) {
      most = Math.max(most, traffic.inputBetween(minute * 60_000L, (minute + 1) * 60_000L));
    }
    assertThat(most / 10_000_000.0).isBetween(0.22, 0.30);
  }
}
