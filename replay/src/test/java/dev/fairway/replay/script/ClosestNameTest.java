package dev.fairway.replay.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClosestNameTest {
  private static final List<String> KNOWN =
      List.of(
          "port", "host", "requests_per_minute", "input_tokens_per_minute", "k/sonnet", "k/all");

  @ParameterizedTest
  @CsvSource({
    "prot, port",
    "ports, port",
    "request_per_minute, requests_per_minute",
    "input_token_per_minut, input_tokens_per_minute",
    "k/sonet, k/sonnet",
    "k/al, k/all"
  })
  void shouldFindWhatWasMeant(String written, String meant) {
    assertThat(ClosestName.of(written, KNOWN)).hasValue(meant);
    assertThat(ClosestName.question(written, KNOWN)).isEqualTo(". Did you mean " + meant + "?");
  }

  @ParameterizedTest
  @CsvSource({"rpm", "zzz", "k/haiku", "port"})
  void shouldSuggestNothingForWhatIsNoSlip(String written) {
    assertThat(ClosestName.of(written, List.of("port", "requests_per_minute", "k/sonnet")))
        .isEmpty();
    assertThat(ClosestName.question("x".repeat(1_000), KNOWN)).isEmpty();
  }
}
