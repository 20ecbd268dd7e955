package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.models.messages.MessageCreateParams;
import com.sun.net.httpserver.HttpServer;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Settlement;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * One logical call that always fails, tried by an SDK (3 times), in a loop (3 times), by a worker
 * to which it is delivered 3 times: 27 tries, were there no budget.
 */
class RetryMultiplicationIT {
  private static final int RETRIES = 4;
  private static final byte[] FAILURE =
      "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"Internal server error\"}}"
          .getBytes(StandardCharsets.UTF_8);

  @Test
  void shouldSendACallNoMoreOftenThanItsBudgetHoweverItsRetriesAreNested() throws IOException {
    AtomicInteger upstream = new AtomicInteger();
    HttpServer provider =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    provider.createContext(
        "/",
        exchange -> {
          try (exchange) {
            upstream.incrementAndGet();
            exchange.getRequestBody().readAllBytes();
            exchange.getResponseHeaders().set("content-type", "application/json");
            exchange.sendResponseHeaders(500, FAILURE.length);
            exchange.getResponseBody().write(FAILURE);
          }
        });
    provider.start();
    try (GatewayUp up = GatewayUp.start(config(provider))) {
      // when
      List<Throwable> failures = new ArrayList<>();
      for (int delivery = 0; delivery < 3; delivery++) {
        AnthropicClient sdk =
            AnthropicOkHttpClient.builder().baseUrl(up.url()).apiKey("k").maxRetries(2).build();
        for (int loop = 0; loop < 3; loop++) {
          try {
            sdk.messages().create(params());
          } catch (AnthropicServiceException e) {
            failures.add(e);
          }
        }
        sdk.close();
      }

      // then: the budget upstream, and an end that says what it is
      assertThat(failures).hasSize(9);
      assertThat(upstream.get()).isEqualTo(1 + RETRIES);
      assertThat(failures.get(8)).hasMessageContaining("retry budget is spent");
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(up.settlements()).hasSize(1 + RETRIES));
      List<LeaseRequest> requests = up.requests();
      assertThat(requests).hasSize(1 + RETRIES);
      assertThat(requests.stream().map(LeaseRequest::getRetryOf).filter(Objects::nonNull))
          .as("all but the first are known as retries")
          .hasSize(RETRIES);
      assertThat(up.settlements().stream().map(Settlement::getLeaseId)).doesNotContainNull();
    } finally {
      provider.stop(0);
    }
  }

  private static MessageCreateParams params() {
    return MessageCreateParams.builder()
        .model("claude-sonnet-4-5")
        .maxTokens(64)
        .addUserMessage("This fails whatever one does.")
        .build();
  }

  private static String config(HttpServer provider) {
    return """
        quotas:
          - id: ant/sonnet
            provider: anthropic
            models: ["claude-*"]
            limits: {requests_per_minute: 100000, input_tokens_per_minute: 1000000, output_tokens_per_minute: 1000000}
        gateway:
          upstreams:
            anthropic: {provider: anthropic, url: "http://127.0.0.1:%d", key: {file: "%%KEY%%"}}
          bounds: {retries: %d}
        """
        .formatted(provider.getAddress().getPort(), RETRIES);
  }
}
