package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.it.Peers;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Anthropic's and OpenAI's SDKs for JavaScript, unmodified: {@code examples/sdk}, whose base URLs
 * come from the environment alone, prints through the gateway what it prints of the provider.
 */
class NodeSdksInteropIT {
  private static final Path PROJECT = Path.of("../examples/sdk");
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int CALLS = 7;

  @Test
  void shouldGiveTheSdksWhatTheyGetDirectly() {
    try (EmulatedApis apis = new EmulatedApis(10_000_000);
        GatewayUp up =
            GatewayUp.start(
                """
                quotas:
                  - id: ant/sonnet
                    provider: anthropic
                    models: ["claude-*"]
                    limits: {requests_per_minute: 10000, input_tokens_per_minute: 10000000}
                  - id: oai/gpt
                    provider: openai
                    models: ["gpt-*"]
                    limits: {requests_per_minute: 10000, tokens_per_minute: 10000000}
                gateway:
                  upstreams:
                    anthropic: {provider: anthropic, url: "%URL%", key: {file: "%KEY%"}}
                    openai: {provider: openai, url: "%URL%", key: {file: "%KEY%"}}
                """
                    .replace("%URL%", apis.url()))) {
      // when
      List<String> direct = callsTo(apis.url());
      int directCalls = apis.calls.size();
      List<String> through = callsTo(up.url());

      // then
      assertThat(direct).hasSize(CALLS);
      assertThat(direct.subList(0, 2)).allMatch(answer -> answer.contains("w\u00f6rld"));
      assertThat(through).isEqualTo(direct);
      assertThat(apis.calls).hasSize(2 * directCalls);
      assertThat(apis.calls.subList(directCalls, 2 * directCalls))
          .as("with the provider's key, not the caller's")
          .allSatisfy(call -> assertThat(call.headers().toString()).contains("sk-upstream"))
          .noneSatisfy(call -> assertThat(call.headers().toString()).contains("callers-own"));

      // and: every call but the counting is settled with what the provider counted
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(settlements(up))
                      .hasSize(CALLS - 1)
                      .allSatisfy(
                          settlement -> {
                            assertThat(settlement.getOutcome()).isEqualTo(Outcome.SUCCEEDED);
                            assertThat(settlement.getUsage().getExact()).isTrue();
                            assertThat(settlement.getUsage().getOutputTokens())
                                .isEqualTo(EmulatedApis.OUTPUT_TOKENS);
                          }));
    }
  }

  private static List<String> callsTo(String url) {
    return Peers.node(
            PROJECT,
            "calls.js",
            List.of("claude-sonnet-4-5", "gpt-4o"),
            Map.of(
                "ANTHROPIC_BASE_URL",
                url,
                "OPENAI_BASE_URL",
                url + "/v1",
                "ANTHROPIC_API_KEY",
                "callers-own",
                "OPENAI_API_KEY",
                "callers-own"),
            "",
            PATIENCE)
        .outOrThrow()
        .lines()
        .toList();
  }

  private static List<Settlement> settlements(GatewayUp up) {
    return up.settlements().stream()
        .filter(settlement -> settlement.getOutcome() != Outcome.IN_PROGRESS)
        .toList();
  }
}
