package dev.fairway.agent.provider;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.agent.ProviderReports;
import dev.fairway.agent.ProviderSignal;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The collected cases about what providers say, read in place. */
class ProviderCasesTest {
  private static final Map<String, Consumer<JsonNode>> CHECKS = checks();

  private static Map<String, Consumer<JsonNode>> checks() {
    Map<String, Consumer<JsonNode>> checks = new TreeMap<>();
    checks.put("oversize-provider-429", ProviderCasesTest::shouldLearnALimitThatNeverFits);
    checks.put("usage-normalisation", ProviderCasesTest::shouldSeparateFreshInputFromCached);
    checks.put("stream-usage-anthropic", ProviderCasesTest::shouldOverwriteUsageAndNotAdd);
    checks.put("stream-usage-openai", ProviderCasesTest::shouldReadTheUsageOnlyChunk);
    checks.put("429-without-retry-after", ProviderCasesTest::shouldWaitForTheExhaustedDimension);
    checks.put("sentinel-header-values", ProviderCasesTest::shouldTakeASentinelAsUnknown);
    checks.put("reset-duration-grammar", ProviderCasesTest::shouldReadDurations);
    checks.put("retry-after-grammar", ProviderCasesTest::shouldReadRetryAfter);
    checks.put("retry-after-ms-precedence", ProviderCasesTest::shouldPreferMilliseconds);
    checks.put("retry-after-is-a-floor", ProviderCasesTest::shouldNotCapARetryAfter);
    checks.put("insufficient-quota", ProviderCasesTest::shouldNotRetryWhatNeedsMoney);
    checks.put("headers-inside-body", ProviderCasesTest::shouldReadHeadersInsideTheBody);
    checks.put("529-is-not-your-limit", ProviderCasesTest::shouldTellOverloadFromALimit);
    return checks;
  }

  static Set<String> kinds() {
    return CHECKS.keySet();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void shouldGiveTheExpectedValue(String kind) {
    // given
    JsonNode collected =
        SharedFiles.jsonLines("cases/cases.jsonl").stream()
            .filter(c -> c.get("kind").textValue().equals(kind))
            .findFirst()
            .orElseThrow(() -> new AssertionError("no case of kind " + kind));

    // when / then
    CHECKS.get(kind).accept(collected);
  }

  private static void shouldLearnALimitThatNeverFits(JsonNode c) {
    // when
    ProviderReading reading = read("openai", c.get("given"));
    ProviderSignal signal = ProviderReports.signal(429, reading);

    // then
    assertThat(reading.kind().name()).isEqualTo(c.at("/expect/class").textValue());
    assertThat(reading.retry()).isEqualTo(c.at("/expect/retry").booleanValue());
    assertThat(reading.waitMs()).isNull();
    assertThat(signal.limits().get(ProviderSignal.Dimension.TOKENS).limit())
        .isEqualTo(c.at("/expect/limit_learned").longValue());
    assertThat(signal.limits().get(ProviderSignal.Dimension.TOKENS).remaining()).isNull();
  }

  private static void shouldSeparateFreshInputFromCached(JsonNode c) {
    for (int i = 0; i < c.get("when").size(); i++) {
      // given
      JsonNode shape = c.at("/when/" + i);
      String provider = shape.get("shape").textValue().replaceAll("-.*", "");

      // when
      ProviderUsage usage = read(provider, SharedFiles.json("{\"body\":" + shape + "}")).usage();

      // then
      assertThat(usage.inputTokens()).isEqualTo(c.at("/expect/fresh_input/" + i).longValue());
      assertThat(usage.cacheReadTokens()).isEqualTo(c.at("/expect/cached/" + i).longValue());
      assertThat(usage.inputTokens() + usage.cacheReadTokens())
          .isEqualTo(c.at("/expect/total_input/" + i).longValue());
      assertThat(usage.outputTokens()).isEqualTo(5);
      assertThat(usage.exact()).isTrue();
    }
  }

  private static void shouldOverwriteUsageAndNotAdd(JsonNode c) {
    // when: the case's two events, as they are on the wire
    ProviderUsage usage =
        Answers.stream(
                "anthropic",
                "event: message_start\ndata: {'type':'message_start','message':{'usage':{'input_tokens':27,"
                    + "'cache_read_input_tokens':0,'output_tokens':1}}}\n\n"
                    + "event: message_delta\ndata: {'type':'message_delta','delta':{},'usage':{'input_tokens':27,"
                    + "'cache_creation_input_tokens':0,'cache_read_input_tokens':0,'output_tokens':47}}\n\n")
            .usage();

    // then
    assertThat(usage)
        .isEqualTo(
            new ProviderUsage(
                c.at("/expect/settle/input").longValue(),
                0L,
                0L,
                c.at("/expect/settle/output").longValue(),
                true));
  }

  private static void shouldReadTheUsageOnlyChunk(JsonNode c) {
    // when
    ProviderUsage usage =
        Answers.stream(
                "openai",
                "data: {'object':'chat.completion.chunk','choices':[{'delta':{'content':'a'}}],'usage':null}\n\n"
                    + "data: {'object':'chat.completion.chunk','choices':[],"
                    + "'usage':{'prompt_tokens':11,'completion_tokens':99}}\n\ndata: [DONE]\n\n")
            .usage();

    // then
    assertThat(usage.inputTokens()).isEqualTo(c.at("/expect/settle/input").longValue());
    assertThat(usage.outputTokens()).isEqualTo(c.at("/expect/settle/output").longValue());
    assertThat(usage.exact()).isTrue();
  }

  private static void shouldWaitForTheExhaustedDimension(JsonNode c) {
    // when
    ProviderReading reading = read("anthropic", c.get("given"));

    // then
    assertThat(reading.kind()).isEqualTo(AnswerClass.RATE_LIMITED);
    assertThat(reading.waitMs()).isEqualTo(1_000 * c.at("/expect/wait_s").longValue());
    assertThat(reading.binding().wireName()).isEqualTo(c.at("/expect/binding").textValue());
    assertThat(reading.limits().get(Dimension.TOKENS))
        .isEqualTo(new LimitReading(25_000L, 16_000L, 1_000L, Limit.MINUTE));
  }

  private static void shouldTakeASentinelAsUnknown(JsonNode c) {
    // when
    ProviderReading reading = read("azure", c.get("given"));

    // then
    LimitReading tokens = reading.limits().get(Dimension.TOKENS);
    assertThat(tokens.limit()).isNull();
    assertThat(tokens.remaining()).isNull();
    assertThat(tokens.resetMs()).isNull();
    assertThat(ProviderReports.signal(200, reading).limits()).isEmpty();
  }

  private static void shouldReadDurations(JsonNode c) {
    for (int i = 0; i < c.get("when").size(); i++) {
      String value = c.at("/when/" + i + "/value").textValue();

      ProviderReading reading =
          Answers.answer(200).header("x-ratelimit-reset-tokens", value).readBy("openai");

      assertThat(reading.limits().get(Dimension.TOKENS).resetMs())
          .as(value)
          .isEqualTo(c.at("/expect/ms/" + i).longValue());
    }
  }

  private static void shouldReadRetryAfter(JsonNode c) {
    for (int i = 0; i < c.get("when").size(); i++) {
      String value = c.at("/when/" + i + "/retry-after").textValue();
      JsonNode expected = c.at("/expect/wait_ms/" + i);

      Long waitMs =
          Answers.answer(429)
              .at(Instant.parse(c.at("/given/now").textValue()))
              .header("retry-after", value)
              .readBy("openai")
              .waitMs();

      assertThat(waitMs)
          .as(value)
          .isEqualTo(expected.isNull() ? null : (Long) expected.longValue());
    }
  }

  private static void shouldPreferMilliseconds(JsonNode c) {
    for (int i = 0; i < c.get("when").size(); i++) {
      Answers answer = Answers.answer(429);
      c.at("/when/" + i + "/headers")
          .properties()
          .forEach(h -> answer.header(h.getKey(), h.getValue().textValue()));

      assertThat(answer.readBy("anthropic").waitMs())
          .isEqualTo(c.at("/expect/wait_ms/" + i).longValue());
    }
  }

  private static void shouldNotCapARetryAfter(JsonNode c) {
    // when
    ProviderReading reading = read("anthropic", c.get("given"));

    // then: what the engine is told is not shorter
    assertThat(ProviderReports.signal(429, reading).retryAfter().toSeconds())
        .isEqualTo(c.at("/expect/first_grant_not_before_s").longValue());
  }

  private static void shouldNotRetryWhatNeedsMoney(JsonNode c) {
    // when
    ProviderReading reading = read("openai", c.get("given"));

    // then
    assertThat(reading.kind().name()).isEqualTo(c.at("/expect/class").textValue());
    assertThat(reading.retry()).isFalse();
    assertThat(reading.waitMs()).isNull();
  }

  private static void shouldReadHeadersInsideTheBody(JsonNode c) {
    // when
    ProviderReading reading = read("openrouter", c.get("given"));

    // then
    assertThat(reading.resetAt()).isEqualTo(Instant.parse(c.at("/expect/reset_at").textValue()));
    assertThat(reading.kind().name()).isEqualTo(c.at("/expect/class").textValue());
    assertThat(reading.retry()).isFalse();
    assertThat(reading.waitMs()).isEqualTo(12 * 3_600_000L);
  }

  private static void shouldTellOverloadFromALimit(JsonNode c) {
    // when
    ProviderReading reading = read("anthropic", c.get("given"));

    // then
    assertThat(reading.kind().name()).isEqualTo(c.at("/expect/class").textValue());
    assertThat(reading.binding()).isNull();
    assertThat(reading.retry()).isTrue();
  }

  private static ProviderReading read(String provider, JsonNode given) {
    return ProviderProfiles.of(provider)
        .read(
            new ProviderResponse(
                given.has("status") ? (Integer) given.get("status").intValue() : null,
                SharedFiles.headers(given.path("headers")),
                given.has("body")
                    ? ResponseBody.of(given.get("body").toString())
                    : ResponseBody.none(),
                given.has("now") ? Instant.parse(given.get("now").textValue()) : null));
  }
}
