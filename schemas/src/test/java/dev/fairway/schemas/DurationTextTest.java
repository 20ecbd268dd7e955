package dev.fairway.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurationTextTest {

  @ParameterizedTest
  @CsvSource({
    "0,0ms",
    "1,1ms",
    "1500,1500ms",
    "1000,1s",
    "90000,90s",
    "180000,3m",
    "86400000,1d",
    "-1,-1ms"
  })
  void shouldWriteWhatConfigurationFilesTake(long ms, String expected) {
    assertThat(DurationText.ofMs(ms)).isEqualTo(expected);
    assertThat(DurationText.of(Duration.ofMillis(ms))).isEqualTo(expected);
  }

  @Test
  void shouldHaveATextForNone() {
    assertThat(DurationText.of(null)).isEqualTo("nothing");
  }
}
