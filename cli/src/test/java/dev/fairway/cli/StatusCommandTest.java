package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.junit.jupiter.api.Test;

class StatusCommandTest {

  private static final String SONNET =
      """
      {"id":"anthropic.prod-1/sonnet","at_ms":1000,"state":"DRAINING","margin":0.85,"margin_mode":"ADAPTIVE",
       "open_leases":12,"waiting":345,"oldest_wait_ms":61000,"breaker":"CLOSED","pace":1.0,
       "levels":{"requests":983,"input_tokens":-1200,"output_tokens":74249},
       "caps":{"requests":983,"input_tokens":2000000,"output_tokens":74249},
       "reserved":{"requests":0,"input_tokens":400000}}
      """;

  @Test
  void shouldFitATerminalWithEveryLimitInARowOfItsOwn() throws Exception {
    // when
    List<String> lines = StatusCommand.table(List.of(quota(SONNET), quota(SONNET))).lines();

    // then
    assertThat(lines).hasSize(7).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120));
    assertThat(lines.get(0).split(" {2,}"))
        .containsExactly(
            "QUOTA",
            "STATE",
            "MARGIN",
            "LEASES",
            "WAITING",
            "OLDEST",
            "LIMIT",
            "LEVEL / CAP",
            "RESERVED");
    assertThat(lines.get(1).split(" {2,}"))
        .containsExactly(
            "anthropic.prod-1/sonnet",
            "DRAINING",
            "0.85 ADAPTIVE",
            "12",
            "345",
            "61 s",
            "requests",
            "983/983",
            "-");
    assertThat(lines.get(2).strip().split(" {2,}"))
        .containsExactly("input_tokens", "-1200/2000000", "400000");
    assertThat(lines.get(2).indexOf("input_tokens")).isEqualTo(lines.get(0).indexOf("LIMIT"));
    assertThat(lines.get(3).strip().split(" {2,}"))
        .containsExactly("output_tokens", "74249/74249", "-");
  }

  @Test
  void shouldSayBelowAQuotaWhatKeepsGrantsBack() throws Exception {
    // given
    String held =
        SONNET.replace(
            "\"breaker\":\"CLOSED\"",
            "\"breaker\":\"OPEN\",\"hold_reason\":\"RATE_LIMITED\",\"hold_until_ms\":6000");

    // when
    List<String> lines = StatusCommand.table(List.of(quota(held), quota(SONNET))).lines();

    // then
    assertThat(lines.get(4)).isEqualTo("  kept back by: RATE_LIMITED for 5.0 s, breaker OPEN");
    assertThat(lines.get(5)).startsWith("anthropic.prod-1/sonnet");
    assertThat(lines).hasSize(8);
  }

  private static JsonNode quota(String json) throws Exception {
    return new ObjectMapper().readTree(json);
  }
}
