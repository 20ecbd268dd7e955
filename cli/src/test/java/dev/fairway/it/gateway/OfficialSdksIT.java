package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.Timeout;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.models.messages.MessageCountTokensParams;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseStreamEvent;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.QuotaStore;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Topics;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The official SDKs, unmodified, see through the gateway what they see of the provider itself. */
class OfficialSdksIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** For how long an impatient client waits for the next byte. */
  private static final Duration BYTE_WAIT = Duration.ofSeconds(3);

  private static final Pattern KEPT_ALIVE =
      Pattern.compile("fairway_gateway_kept_alive_total (\\d+)");
  private static EmulatedApis apis;
  private static GatewayUp up;

  @BeforeAll
  static void start() {
    apis = new EmulatedApis(10_000_000);
    up =
        GatewayUp.start(
            """
            quotas:
              - id: ant/held
                provider: anthropic
                models: ["claude-held-*"]
                limits: {concurrent_requests: 1}
              - id: ant/removed
                provider: anthropic
                models: ["claude-removed-*"]
                limits: {concurrent_requests: 1}
              - id: ant/sonnet
                provider: anthropic
                models: ["claude-*"]
                limits: {requests_per_minute: 10000, input_tokens_per_minute: 10000000, output_tokens_per_minute: 1000000}
              - id: oai/gpt
                provider: openai
                models: ["gpt-*", "text-embedding-*"]
                limits: {requests_per_minute: 10000, tokens_per_minute: 10000000}
            gateway:
              patience_margin: 1s
              keep_alive: 200ms
              upstreams:
                anthropic: {provider: anthropic, url: "%URL%", key: {file: "%KEY%"}}
                openai: {provider: openai, url: "%URL%", key: {file: "%KEY%"}}
            """
                .replace("%URL%", apis.url()));
  }

  @AfterAll
  static void stop() {
    up.close();
    apis.close();
  }

  @Test
  void shouldGiveTheAnthropicSdkWhatItGetsDirectly() {
    // given
    MessageCreateParams params =
        MessageCreateParams.builder()
            .model("claude-sonnet-4-5")
            .maxTokens(64)
            .system("You are brief.")
            .addUserMessage("Hello")
            .build();
    MessageCountTokensParams count =
        MessageCountTokensParams.builder()
            .model("claude-sonnet-4-5")
            .addUserMessage("Hello")
            .build();

    // when / then
    assertSame(AnthropicSide::of, sdk -> sdk.messages().create(params).toString());
    assertSame(AnthropicSide::of, sdk -> sdk.messages().countTokens(count).toString());
    assertSame(
        AnthropicSide::of,
        sdk -> {
          try (StreamResponse<RawMessageStreamEvent> stream =
              sdk.messages().createStreaming(params)) {
            return stream.stream().map(Objects::toString).toList().toString();
          }
        });
    assertSettled("ant/sonnet", 2);
  }

  @Test
  void shouldGiveTheOpenAiSdkWhatItGetsDirectly() {
    // given
    ChatCompletionCreateParams chat =
        ChatCompletionCreateParams.builder().model("gpt-4o").addUserMessage("Hello").build();
    ChatCompletionCreateParams withUsage =
        chat.toBuilder()
            .streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build())
            .build();
    ResponseCreateParams response =
        ResponseCreateParams.builder().model("gpt-4o").input("Hello").build();
    EmbeddingCreateParams embedding =
        EmbeddingCreateParams.builder().model("text-embedding-3-small").input("Hello").build();

    // when / then
    assertSame(OpenAiSide::of, sdk -> sdk.chat().completions().create(chat).toString());
    for (ChatCompletionCreateParams params : List.of(chat, withUsage)) {
      assertSame(
          OpenAiSide::of,
          sdk -> {
            try (com.openai.core.http.StreamResponse<ChatCompletionChunk> stream =
                sdk.chat().completions().createStreaming(params)) {
              return stream.stream().map(Objects::toString).toList().toString();
            }
          });
    }
    assertSame(OpenAiSide::of, sdk -> sdk.responses().create(response).toString());
    assertSame(
        OpenAiSide::of,
        sdk -> {
          try (com.openai.core.http.StreamResponse<ResponseStreamEvent> stream =
              sdk.responses().createStreaming(response)) {
            return stream.stream().map(Objects::toString).toList().toString();
          }
        });
    assertSame(OpenAiSide::of, sdk -> sdk.embeddings().create(embedding).toString());
    assertSettled("oai/gpt", 6);
  }

  /** Without a byte the SDK would give up, and its client's call fail. */
  @Test
  void shouldHoldAStreamForLongerThanItsClientWaitsForAByte() throws Exception {
    // given: another agent has the only slot
    String slot = takeSlot("ant/held");
    MessageCreateParams held = hello("claude-held-4-5");
    AnthropicClient direct = AnthropicSide.of(apis.url());
    AnthropicClient through = impatient();
    final long kept = keptAlive();

    // when
    CompletableFuture<List<String>> answer =
        CompletableFuture.supplyAsync(() -> streamed(through, held));
    await().atMost(PATIENCE).until(() -> keptAlive() > kept);
    await().during(BYTE_WAIT).atMost(PATIENCE).until(() -> !answer.isDone());
    giveSlot(slot);

    // then
    assertThat(answer.get(60, TimeUnit.SECONDS)).isEqualTo(streamed(direct, held));
    assertThat(answer.get()).asString().contains("w\u00f6rld");
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(settlements("ant/held").map(Settlement::getOutcome))
                    .containsExactlyInAnyOrder(Outcome.NOT_SENT, Outcome.SUCCEEDED));
  }

  @Test
  void shouldEndAHeldStreamThatIsRefusedWithTheProvidersOwnErrorEvent() throws Exception {
    // given
    takeSlot("ant/removed");
    AnthropicClient through = impatient();
    final long kept = keptAlive();
    final int upstream = apis.calls.size();

    // when: its quota is gone while it waits
    CompletableFuture<List<String>> answer =
        CompletableFuture.supplyAsync(() -> streamed(through, hello("claude-removed-4-5")));
    await().atMost(PATIENCE).until(() -> keptAlive() > kept);
    try (Pipeline pipeline = new Pipeline(up.bootstrap(), up.registry(), new Topics(), Map.of())) {
      new QuotaStore(pipeline).remove("ant/removed");
    }

    // then: the status was sent long ago, and says nothing of it
    Throwable error = catchThrowable(() -> answer.get(60, TimeUnit.SECONDS)).getCause();
    assertThat(error).isInstanceOf(AnthropicServiceException.class);
    assertThat(error).hasMessageContaining("UNKNOWN_QUOTA");
    assertThat(((AnthropicServiceException) error).statusCode()).isEqualTo(200);
    assertThat(apis.calls).hasSize(upstream);
  }

  private static MessageCreateParams hello(String model) {
    return MessageCreateParams.builder().model(model).maxTokens(64).addUserMessage("Hello").build();
  }

  private static AnthropicClient impatient() {
    return AnthropicOkHttpClient.builder()
        .baseUrl(up.url())
        .apiKey("caller")
        .maxRetries(0)
        .timeout(Timeout.builder().read(BYTE_WAIT).request(PATIENCE).build())
        .build();
  }

  private static List<String> streamed(AnthropicClient sdk, MessageCreateParams params) {
    try (StreamResponse<RawMessageStreamEvent> stream = sdk.messages().createStreaming(params)) {
      return stream.stream().map(Objects::toString).toList();
    }
  }

  private static String takeSlot(String quota) throws IOException, InterruptedException {
    byte[] lease =
        post(
            up.url() + "/v1/leases",
            "{\"quota\":\"%s\",\"agent\":\"other\",\"input_tokens\":1,\"wait_ms\":30000}"
                .formatted(quota));
    JsonNode granted = new ObjectMapper().readTree(lease);
    assertThat(granted.path("status").asText()).as(granted.toString()).isEqualTo("GRANTED");
    return granted.path("id").asText();
  }

  private static void giveSlot(String id) throws IOException, InterruptedException {
    post(up.url() + "/v1/leases/" + id + "/settle", "{\"outcome\":\"NOT_SENT\"}");
  }

  private static long keptAlive() throws IOException, InterruptedException {
    String metrics =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create(up.url() + "/metrics")).build(),
                HttpResponse.BodyHandlers.ofString())
            .body();
    Matcher told = KEPT_ALIVE.matcher(metrics);
    assertThat(told.find()).isTrue();
    return Long.parseLong(told.group(1));
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/messages,claude-sonnet-4-5,false",
    "/v1/messages,claude-sonnet-4-5,true",
    "/v1/chat/completions,gpt-4o,false",
    "/v1/chat/completions,gpt-4o,true",
    "/v1/responses,gpt-4o,false",
    "/v1/responses,gpt-4o,true",
    "/v1/embeddings,text-embedding-3-small,false"
  })
  void shouldPassAnswersByteForByte(String path, String model, boolean stream) throws Exception {
    // given
    String body =
        "{\"stream\": %s, \"model\":\"%s\",\"max_tokens\":9,\"input\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"gr\u00fc\u00df dich\"}]}"
            .formatted(stream, model);

    // when
    byte[] direct = post(apis.url() + path, body);
    byte[] through = post(up.url() + path, body);

    // then
    byte[] sentDirect = apis.calls.get(apis.calls.size() - 2).body();
    byte[] sentThrough = apis.calls.get(apis.calls.size() - 1).body();
    boolean usageAskedFor = path.equals("/v1/chat/completions") && stream;
    assertThat(new String(sentThrough, java.nio.charset.StandardCharsets.UTF_8))
        .isEqualTo(
            usageAskedFor
                ? body.replaceFirst("\\{", "{\"stream_options\":{\"include_usage\":true},")
                : body);
    assertThat(sentDirect).isEqualTo(body.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    assertThat(through).isEqualTo(direct);
  }

  private static byte[] post(String url, String body) throws IOException, InterruptedException {
    HttpResponse<byte[]> response =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create(url))
                    .header("content-type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build(),
                HttpResponse.BodyHandlers.ofByteArray());
    assertThat(response.statusCode()).isEqualTo(200);
    return response.body();
  }

  private static <S> void assertSame(Function<String, S> sdk, Function<S, String> call) {
    String direct = call.apply(sdk.apply(apis.url()));
    String through = call.apply(sdk.apply(up.url()));
    assertThat(direct)
        .contains(
            direct.contains("mbedding")
                ? "0.25"
                : direct.contains("inputTokens=") ? "inputTokens" : "w\u00f6rld");
    assertThat(through).isEqualTo(direct);
  }

  /** Every call of the SDK through the gateway is settled with what the provider counted. */
  private static void assertSettled(String quota, int calls) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              List<Settlement> settled = settlements(quota).toList();
              assertThat(settled).hasSizeGreaterThanOrEqualTo(calls);
              assertThat(settled)
                  .allSatisfy(
                      settlement -> {
                        assertThat(settlement.getOutcome()).isEqualTo(Outcome.SUCCEEDED);
                        assertThat(settlement.getUsage().getExact()).isTrue();
                        assertThat(settlement.getUsage().getInputTokens()).isPositive();
                      });
            });
    assertThat(up.requests())
        .isNotEmpty()
        .allMatch(request -> request.getAgentId().startsWith("gateway:"));
  }

  private static Stream<Settlement> settlements(String quota) {
    return up.settlements().stream()
        .filter(settlement -> settlement.getQuota().equals(quota))
        .filter(settlement -> settlement.getOutcome() != Outcome.IN_PROGRESS);
  }

  private static final class AnthropicSide {
    static AnthropicClient of(String url) {
      return AnthropicOkHttpClient.builder().baseUrl(url).apiKey("caller").build();
    }
  }

  private static final class OpenAiSide {
    static OpenAIClient of(String url) {
      return OpenAIOkHttpClient.builder().baseUrl(url + "/v1").apiKey("caller").build();
    }
  }
}
