package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import dev.fairway.agent.gateway.SecretRef;
import dev.fairway.cli.config.StarterConfig;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.LimitLearned;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code up} where no file says what to run. */
class UpWithoutFileIT {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final long LIMIT = 60_000;

  @Test
  void shouldLeadToAnEmulatedProvider() {
    try (GatewayUp up = GatewayUp.startWithoutFile()) {
      // given
      String url = up.agentExports().get("ANTHROPIC_BASE_URL");
      assertThat(url).isEqualTo(up.url());
      AnthropicClient sdk = AnthropicOkHttpClient.builder().baseUrl(url).apiKey("any").build();

      // when
      String whole = sdk.messages().create(call()).content().get(0).asText().text();
      List<RawMessageStreamEvent> events;
      try (StreamResponse<RawMessageStreamEvent> stream = sdk.messages().createStreaming(call())) {
        events = stream.stream().toList();
      }

      // then
      assertThat(whole).isEqualTo("Done.");
      assertThat(events).hasSize(6);
      assertThat(events.get(2).asContentBlockDelta().delta().asText().text()).isEqualTo("Done.");
      await().atMost(LONG).until(() -> up.settlements().stream().filter(this::isOver).count() == 2);
      assertThat(up.requests()).extracting(request -> request.getQuota()).containsOnly("demo");
    }
  }

  @Test
  void shouldLearnTheLimitsOfAProviderFromItsAnswers() {
    try (EmulatedApis apis = new EmulatedApis(LIMIT);
        // Any variable will do for a key that nobody checks.
        GatewayUp up =
            GatewayUp.start(StarterConfig.of("anthropic", SecretRef.ofEnv("PATH"), apis.url()))) {
      // given
      AnthropicClient sdk = AnthropicOkHttpClient.builder().baseUrl(up.url()).apiKey("any").build();

      // when
      sdk.messages().create(call());

      // then
      await()
          .atMost(LONG)
          .untilAsserted(() -> assertThat(learned(up)).contains("anthropic/all 60000"));
      assertThat(apis.calls.get(0).headers().get("X-api-key"))
          .containsExactly(System.getenv("PATH"));
    }
  }

  private boolean isOver(Settlement settlement) {
    return settlement.getOutcome() == Outcome.SUCCEEDED;
  }

  private static List<String> learned(GatewayUp up) {
    return up.journal().stream()
        .map(AdmissionEvent::getEvents)
        .flatMap(List::stream)
        .filter(LimitLearned.class::isInstance)
        .map(LimitLearned.class::cast)
        .map(event -> event.getQuota() + " " + event.getLimit())
        .toList();
  }

  private static MessageCreateParams call() {
    return MessageCreateParams.builder()
        .model("claude-sonnet-4-5")
        .maxTokens(64)
        .addUserMessage("hello")
        .build();
  }
}
