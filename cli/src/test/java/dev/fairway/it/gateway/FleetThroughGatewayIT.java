package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import dev.fairway.schemas.LeaseRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * A fleet of streaming agents with one key and the official SDK, without a Fairway header, asks for
 * 1.2 times the limit. For longer than the default: {@code -Dfairway.gateway.seconds=600}. From
 * {@value #LONG_S} seconds on it must be refused at most 0.5 times in 1,000 calls, and use 85 % of
 * the limit.
 */
class FleetThroughGatewayIT {
  private static final int AGENTS = Integer.getInteger("fairway.gateway.agents", 200);
  private static final int SECONDS = Integer.getInteger("fairway.gateway.seconds", 60);
  private static final int LONG_S = 300;
  private static final long TOKENS_A_CALL = 1_000;
  private static final double THINK_S = 12;
  private static final double DEMAND = AGENTS * TOKENS_A_CALL * 60 / (THINK_S + 1);
  private static final long LIMIT = Math.round(DEMAND / 1.2);

  @Test
  void shouldBringAFleetThroughAtMoreThanItsLimitWithoutAnError() throws Exception {
    try (EmulatedApis apis = new EmulatedApis(LIMIT, LIMIT / 10);
        GatewayUp up =
            GatewayUp.start(
                """
                quotas:
                  - id: ant/sonnet
                    provider: anthropic
                    models: ["claude-*"]
                    limits: {requests_per_minute: 100000, input_tokens_per_minute: %d, output_tokens_per_minute: 10000000}
                    level: {input_tokens: %d}
                gateway:
                  upstreams:
                    anthropic: {provider: anthropic, url: "%s", key: {file: "%%KEY%%"}}
                """
                    .formatted(LIMIT, LIMIT / 10, apis.url()))) {
      // given
      AnthropicClient sdk =
          AnthropicOkHttpClient.builder().baseUrl(up.url()).apiKey("one for all").build();
      AtomicInteger[] progress = new AtomicInteger[AGENTS];
      List<Throwable> errors = java.util.Collections.synchronizedList(new ArrayList<>());
      AtomicLong calls = new AtomicLong();
      ExecutorService agents = Executors.newFixedThreadPool(AGENTS);
      long startNanos = System.nanoTime();
      long endNanos = startNanos + TimeUnit.SECONDS.toNanos(SECONDS);

      // when
      for (int i = 0; i < AGENTS; i++) {
        int agent = i;
        progress[i] = new AtomicInteger();
        agents.execute(
            () -> {
              try {
                think(agent * THINK_S / AGENTS);
                while (System.nanoTime() < endNanos) {
                  stream(sdk, agent, progress[agent].get());
                  calls.incrementAndGet();
                  progress[agent].incrementAndGet();
                  think(THINK_S);
                }
              } catch (Exception | AssertionError e) {
                errors.add(e);
              }
            });
      }
      agents.shutdown();
      assertThat(agents.awaitTermination(SECONDS + 180L, TimeUnit.SECONDS)).isTrue();
      double minutes = (System.nanoTime() - startNanos) / 60e9;

      // then
      long admitted = apis.calls.stream().filter(call -> call.status() == 200).count();
      long tokens =
          apis.calls.stream()
              .filter(call -> call.status() == 200)
              .mapToLong(call -> EmulatedApis.inputTokens(call.body()))
              .sum();
      System.out.printf(
          "fleet: %d agents, %d calls in %.1f min, %d 429s, %.1f %% of the limit%n",
          AGENTS,
          admitted,
          minutes,
          apis.refused.get(),
          100.0 * tokens / (LIMIT * minutes + LIMIT / 10.0));
      assertThat(errors).isEmpty();
      assertThat(List.of(progress))
          .as("agents without progress")
          .filteredOn(done -> done.get() == 0)
          .isEmpty();
      // A short run is mostly its beginning; what is to be reached is reached by a long one.
      if (SECONDS >= LONG_S) {
        assertThat(1_000.0 * apis.refused.get() / admitted).isLessThanOrEqualTo(0.5);
        assertThat((double) tokens).isGreaterThanOrEqualTo(0.85 * LIMIT * minutes);
      } else {
        assertThat((double) apis.refused.get()).isLessThan(Math.max(2, 0.005 * admitted));
        assertThat((double) tokens).isGreaterThan(0.75 * LIMIT * minutes);
      }
      assertThat(up.requests().stream().map(LeaseRequest::getAgentId).distinct().count())
          .isEqualTo(AGENTS);
    }
  }

  private static void stream(AnthropicClient sdk, int agent, int turn) {
    MessageCreateParams params =
        MessageCreateParams.builder()
            .model("claude-sonnet-4-5")
            .maxTokens(64)
            .system("You are agent " + agent + ".")
            .addUserMessage("Work on part " + agent + ".")
            .addAssistantMessage("Turn " + turn)
            .addUserMessage("lorem ipsum dolor sit amet ".repeat((int) TOKENS_A_CALL * 10 / 27))
            .build();
    try (StreamResponse<RawMessageStreamEvent> stream = sdk.messages().createStreaming(params)) {
      assertThat(stream.stream().count()).isEqualTo(7);
    }
  }

  private static void think(double seconds) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(Math.round(seconds * 1_000));
  }
}
