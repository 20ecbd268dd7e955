package dev.fairway.cli.up;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.agent.gateway.SecretRef;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.config.StarterConfig;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentExportsTest {
  private static final String URL = "http://127.0.0.1:8787";

  @ParameterizedTest
  @CsvSource({
    "anthropic, ANTHROPIC_BASE_URL=http://127.0.0.1:8787",
    "openai, OPENAI_BASE_URL=http://127.0.0.1:8787/v1",
    "groq, OPENAI_BASE_URL=http://127.0.0.1:8787/v1"
  })
  void shouldNameWhatTheSdkOfAProviderReads(String provider, String export) {
    // given
    SecretRef key = SecretRef.ofEnv("THE_KEY");

    // when
    Map<String, String> exports =
        AgentExports.of(StarterConfig.of(provider, key, null).gateway().config(), URL);

    // then
    assertThat(exports).hasSize(1);
    assertThat(exports.toString()).isEqualTo("{" + export + "}");
  }

  @Test
  void shouldNameNothingWhereNoCallsOfModelsGo() {
    // when / then
    assertThat(
            AgentExports.of(
                QuotaYaml.parse("gateway: {port: 8787}", "test").gateway().config(), URL))
        .isEmpty();
  }
}
