package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import dev.fairway.schemas.LeaseRequest;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * A fleet of streaming agents with one key and the official SDK, without a Fairway header, asks for
 * 1.2 times the limit: no error, hidden ones included, at most 0.5 refusals by the provider in
 * 1,000 calls, every agent goes on, and 85 % of the limit are used. For longer than the default:
 * {@code -Dfairway.gateway.seconds=600}.
 */
class FleetThroughGatewayIT {
  private static final int AGENTS = Integer.getInteger("fairway.gateway.agents", 200);
  private static final int SECONDS = Integer.getInteger("fairway.gateway.seconds", 45);
  private static final long TOKENS_A_CALL = 1_000;
  private static final int EVENTS = 8;
  private static final long CHUNK_PAUSE_MS = 150;
  private static final double STREAM_S = EVENTS * CHUNK_PAUSE_MS / 1_000.0;
  private static final double THINK_S = 12;
  private static final double SHARE = 0.85;
  private static final int LATER_MAX = 12;
  private static final int LATER_S = 15;
  private static final double DEMAND = AGENTS * TOKENS_A_CALL * 60 / (THINK_S + STREAM_S);
  private static final long LIMIT = Math.round(DEMAND / 1.2);

  /** What the provider has left when they begin: they do not live on what was saved up before. */
  private static final long LEVEL = LIMIT / 10;

  @Test
  void shouldBringAFleetThroughAtMoreThanItsLimitWithoutAnError() throws Exception {
    try (EmulatedApis apis = new EmulatedApis(LIMIT, LEVEL);
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
                    .formatted(LIMIT, LEVEL, apis.url()))) {
      // given: streams that last, and an SDK that does not hide an error by a retry of its own
      apis.chunkPauseMs(CHUNK_PAUSE_MS);
      AnthropicClient sdk =
          AnthropicOkHttpClient.builder()
              .baseUrl(up.url())
              .apiKey("one for all")
              .maxRetries(0)
              .build();
      AtomicInteger[] progress = new AtomicInteger[AGENTS];
      List<Throwable> errors = java.util.Collections.synchronizedList(new ArrayList<>());
      AtomicLong calls = new AtomicLong();
      ExecutorService agents = Executors.newFixedThreadPool(AGENTS);
      AtomicBoolean working = new AtomicBoolean(true);
      apis.level(LEVEL);
      final long startNanos = System.nanoTime();

      // when
      for (int i = 0; i < AGENTS; i++) {
        int agent = i;
        progress[i] = new AtomicInteger();
        agents.execute(
            () -> {
              try {
                think(agent * THINK_S / AGENTS);
                while (working.get()) {
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
      think(SECONDS);
      // On a machine that is busy with something else they ask for less than they mean to, at
      // first.
      for (int i = 0; i < LATER_MAX && share(apis, startNanos) < SHARE && errors.isEmpty(); i++) {
        think(LATER_S);
      }
      final double share = share(apis, startNanos);
      working.set(false);
      agents.shutdown();
      assertThat(agents.awaitTermination(180, TimeUnit.SECONDS)).isTrue();

      // then
      long admitted = apis.calls.stream().filter(call -> call.status() == 200).count();
      System.out.printf(
          "fleet: %d agents, %d calls in %.1f min, %d 429s, %.1f %% of the limit%n",
          AGENTS,
          admitted,
          (System.nanoTime() - startNanos) / 60e9,
          apis.refused.get(),
          100 * share);
      assertThat(errors).isEmpty();
      assertThat(admitted).as("upstream calls of as many calls").isEqualTo(calls.get());
      assertThat(metrics(up))
          .contains("fairway_gateway_calls_total " + calls.get() + "\n")
          .contains("fairway_gateway_refused_calls_total 0\n");
      assertThat(List.of(progress))
          .as("agents without progress")
          .filteredOn(done -> done.get() == 0)
          .isEmpty();
      assertThat(1_000.0 * apis.refused.get() / admitted).isLessThanOrEqualTo(0.5);
      assertThat(share).as("of the limit").isGreaterThanOrEqualTo(SHARE);
      assertThat(up.requests().stream().map(LeaseRequest::getAgentId).distinct().count())
          .isEqualTo(AGENTS);
    }
  }

  /** How much the provider has let through, of all that its limit allows since the start. */
  private static double share(EmulatedApis apis, long startNanos) {
    double minutes = (System.nanoTime() - startNanos) / 60e9;
    long tokens =
        apis.calls.stream()
            .filter(call -> call.status() == 200)
            .mapToLong(call -> EmulatedApis.inputTokens(call.body()))
            .sum();
    return tokens / (LIMIT * minutes + LEVEL);
  }

  private static String metrics(GatewayUp up) throws IOException, InterruptedException {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create(up.url() + "/metrics")).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
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
      // All but the ping, which the SDK keeps to itself.
      assertThat(stream.stream().count()).isEqualTo(EVENTS - 1);
    }
  }

  private static void think(double seconds) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(Math.round(seconds * 1_000));
  }
}
