package dev.fairway.agent.provider;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Recorded answers and reset values of real providers, read in place. */
class RecordedAnswersTest {
  private static final Map<String, String> PROVIDERS =
      Map.of(
          "api.openai.com", "openai",
          "api.anthropic.com", "anthropic",
          "RESOURCE.openai.azure.com", "azure",
          "bedrock-runtime.us-east-1.amazonaws.com", "bedrock",
          "generativelanguage.googleapis.com", "gemini",
          "api.groq.com", "groq",
          "api.mistral.ai", "mistral");

  /** What the numbers are called when they count all input, cached or not. */
  private static final List<String> ALL_INPUT = List.of("prompt_tokens", "promptTokenCount");

  @TestFactory
  List<DynamicTest> shouldReadEachResetAsItsProviderMeansIt() {
    return SharedFiles.testEach(
        "vectors/reset_values.jsonl",
        vector -> vector.get("header").textValue() + " " + vector.get("value").textValue(),
        RecordedAnswersTest::checkReset);
  }

  @TestFactory
  List<DynamicTest> shouldReadEachRecordedAnswer() {
    return SharedFiles.testEach(
        "traces/cassettes/openllmetry_headers_usage.jsonl",
        record -> record.get("host").textValue(),
        RecordedAnswersTest::checkRecord);
  }

  private static void checkReset(JsonNode vector) {
    // given: an answer a minute before a reset that is a point in time
    String value = vector.get("value").textValue();
    boolean pointInTime = value.endsWith("Z");
    Instant now = pointInTime ? Instant.parse(value).minusSeconds(60) : Answers.NOW;

    // when
    ProviderReading reading =
        Answers.answer(200)
            .at(now)
            .header(vector.get("header").textValue(), value)
            .readBy(provider(vector));

    // then
    long expectedMs =
        vector.has("ms_ceil")
            ? vector.get("ms_ceil").longValue()
            : pointInTime
                ? 60_000
                : Long.parseLong(value) * (provider(vector).equals("azure") ? 1 : 1_000);
    assertThat(reading.limits()).hasSize(1);
    assertThat(reading.limits().values().iterator().next().resetMs()).isEqualTo(expectedMs);
  }

  private static void checkRecord(JsonNode record) {
    // when
    String provider = provider(record);
    int status = record.get("status").intValue();
    ResponseHeaders headers = SharedFiles.headers(record.get("headers"));
    ResponseBody body =
        record.get("error").isNull()
            ? ResponseBody.none()
            : ResponseBody.of(record.get("error").textValue());
    ProviderResponse response = new ProviderResponse(status, headers, body, null);
    ProviderReading reading = ProviderProfiles.of(provider).read(response);

    // then: none of them hit a limit; three of the 200s carry a retry-after
    assertThat(reading.kind()).isEqualTo(status < 400 ? AnswerClass.OK : AnswerClass.ERROR);
    assertThat(reading.retry()).isEqualTo(status == 409);
    assertThat(reading.waitMs()).isNull();
    assertThat(reading.binding()).isNull();
    record
        .get("headers")
        .properties()
        .forEach(h -> checkLimit(provider, h.getKey(), h.getValue().textValue(), reading));
    for (JsonNode usage : record.get("usage")) {
      String wrapped = "{\"usage\":" + usage + "}";
      checkUsage(
          usage,
          ProviderProfiles.of(provider)
              .read(new ProviderResponse(status, headers, ResponseBody.of(wrapped), null))
              .usage());
    }
    if (record.get("usage_events").size() > 0) {
      checkStream(record, provider, response);
    }
  }

  private static void checkLimit(
      String provider, String header, String value, ProviderReading reading) {
    String name = header.toLowerCase(Locale.ROOT);
    if (!name.contains("ratelimit-") || name.matches(".*(abuse|renewal|query-cost|images).*")) {
      return;
    }
    if (name.endsWith("-month")) {
      return; // The minute's limit has the same dimension, and counts.
    }
    Dimension dimension = Dimension.REQUESTS;
    if (name.contains("tokens")) {
      dimension = Dimension.TOKENS;
    }
    if (name.contains("input-tokens")) {
      dimension = Dimension.INPUT_TOKENS;
    }
    if (name.contains("output-tokens")) {
      dimension = Dimension.OUTPUT_TOKENS;
    }
    LimitReading limit = reading.limits().get(dimension);
    assertThat(limit).as(name).isNotNull();
    if (name.contains("remaining")) {
      assertThat(limit.remaining()).as(name).isEqualTo(Long.parseLong(value));
    } else if (name.contains("reset")) {
      assertThat(limit.resetMs()).as(name).isBetween(0L, Duration.ofDays(1).toMillis());
    } else {
      assertThat(limit.limit()).as(name).isEqualTo(Long.parseLong(value));
    }
    if (provider.equals("groq") && dimension == Dimension.REQUESTS) {
      assertThat(limit.window()).isEqualTo(Limit.DAY);
    }
    if (provider.equals("openai")) {
      // All recordings of OpenAI are per minute but one, of 200 requests a day.
      boolean perDay = dimension == Dimension.REQUESTS && limit.limit() == 200;
      assertThat(limit.window()).isEqualTo(perDay ? Limit.DAY : Limit.MINUTE);
    }
  }

  private static void checkUsage(JsonNode recorded, ProviderUsage usage) {
    JsonNode tokens = recorded.path("tokens").isObject() ? recorded.get("tokens") : recorded;
    Long input =
        firstOf(tokens, "prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount");
    Long output = firstOf(tokens, "completion_tokens", "output_tokens", "outputTokens");
    if (tokens.has("candidatesTokenCount")) {
      output =
          tokens.get("candidatesTokenCount").longValue()
              + tokens.path("thoughtsTokenCount").longValue();
    }
    if (input == null && output == null) {
      assertThat(usage).as(recorded.toString()).isNull(); // Guardrail units, totals alone.
      return;
    }
    assertThat(usage.outputTokens()).as(recorded.toString()).isEqualTo(output);
    boolean counted =
        ALL_INPUT.stream().anyMatch(tokens::has) || tokens.has("input_tokens_details");
    long cached = counted && usage.cacheReadTokens() != null ? usage.cacheReadTokens() : 0;
    assertThat(usage.inputTokens() == null ? null : (Long) (usage.inputTokens() + cached))
        .as(recorded.toString())
        .isEqualTo(input);
    assertThat(usage.cacheWriteTokens())
        .isEqualTo(
            firstOf(
                tokens,
                "cache_creation_input_tokens",
                "cacheWriteInputTokens",
                "cacheWriteInputTokenCount"));
  }

  private static void checkStream(JsonNode record, String provider, ProviderResponse head) {
    ProviderStream stream = ProviderProfiles.of(provider).stream(head);
    JsonNode events = record.get("usage_events");
    for (int i = 0; i < events.size(); i++) {
      byte[] event =
          event(events.get(i).textValue(), record.get("usage").get(i))
              .getBytes(StandardCharsets.UTF_8);
      stream.read(event, 0, event.length);
    }
    ProviderUsage usage = stream.end().usage();

    JsonNode last = record.get("usage").get(events.size() - 1);
    if (!last.has("total_tokens") || last.has("completion_tokens") || last.has("output_tokens")) {
      assertThat(usage.outputTokens())
          .as(record.toString())
          .isEqualTo(
              firstOf(
                  last.has("tokens") ? last.get("tokens") : last,
                  "completion_tokens",
                  "output_tokens"));
    }
    JsonNode first = record.get("usage").get(0);
    if (provider.equals("anthropic")) {
      assertThat(usage.inputTokens()).isEqualTo(first.get("input_tokens").longValue());
      assertThat(usage.exact()).isTrue();
    }
  }

  /** The event that carried a usage, as its provider wraps it. */
  private static String event(String name, JsonNode usage) {
    return switch (name) {
      case "message_start" ->
          "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":"
              + usage
              + "}}\n\n";
      case "message_delta" ->
          "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":" + usage + "}\n\n";
      case "response.completed" ->
          "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":"
              + usage
              + "}}\n\n";
      case "message-end" ->
          "data: {\"type\":\"message-end\",\"delta\":{\"usage\":" + usage + "}}\n\n";
      default -> "data: {\"object\":\"" + name + "\",\"choices\":[],\"usage\":" + usage + "}\n\n";
    };
  }

  private static Long firstOf(JsonNode node, String... names) {
    for (String name : names) {
      if (node.path(name).isNumber()) {
        return node.get(name).longValue();
      }
    }
    return null;
  }

  private static String provider(JsonNode record) {
    return PROVIDERS.getOrDefault(record.get("host").textValue(), "generic");
  }
}
