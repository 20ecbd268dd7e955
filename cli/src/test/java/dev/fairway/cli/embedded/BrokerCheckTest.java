package dev.fairway.cli.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.cli.Fairway;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BrokerCheckTest {

  private static final String UNREACHABLE =
      "Expected a Kafka broker at 127.0.0.1:1, but none answered within 10 s. Start it, or name"
          + " another with --bootstrap.";

  @Test
  void shouldSayTheSameWhereverNoBrokerAnswers() {
    // given
    StringWriter err = new StringWriter();

    // when
    int code =
        Fairway.run(
            new PrintWriter(new StringWriter(), true),
            new PrintWriter(err, true),
            "replay",
            "--verify",
            "--bootstrap",
            "127.0.0.1:1");

    // then
    assertThat(code).isEqualTo(1);
    assertThat(err.toString().strip()).isEqualTo("fairway: " + UNREACHABLE);
  }

  @Test
  void shouldRefuseWhatIsNoAddress() {
    assertThatThrownBy(() -> BrokerCheck.require("nonsense", Map.of()))
        .isInstanceOf(BrokerException.class)
        .hasMessageStartingWith("Expected a Kafka broker as HOST:PORT, but found nonsense: ")
        .hasMessageEndingWith("Name another with --bootstrap.");
  }
}
