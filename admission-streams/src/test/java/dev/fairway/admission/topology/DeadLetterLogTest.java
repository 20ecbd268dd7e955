package dev.fairway.admission.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.DeadLetterReason;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeadLetterLogTest {
  private final List<String> lines = new ArrayList<>();
  private final DeadLetterLog log = new DeadLetterLog(lines::add);

  private void put(long atMs) {
    log.put(DeadLetterReason.MALFORMED, "t/0:" + atMs, "Expected more", atMs);
  }

  @Test
  void shouldSayHowManyItHeldBack() {
    // when
    for (long atMs : new long[] {5, 6, 700, 1_004, 1_005, 3_000}) {
      put(atMs);
    }

    // then
    assertThat(lines)
        .containsExactly(
            "Dead letter MALFORMED from t/0:5: Expected more",
            "Dead letter MALFORMED from t/0:1005: Expected more (3 more since the last such line)",
            "Dead letter MALFORMED from t/0:3000: Expected more");
  }

  @Test
  void shouldTellOfTheLastOnesWhenItCloses() {
    // given
    put(0);
    put(1);
    put(2);

    // when
    log.close();
    log.close();

    // then
    assertThat(lines).hasSize(2).last().isEqualTo("2 more dead letters since the last such line");
  }

  @Test
  void shouldTellAgainAfterAClockSteppedBack() {
    // when
    put(10_000);
    put(1);

    // then
    assertThat(lines).hasSize(2);
  }
}
