package dev.fairway.agent.provider;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.agent.ProviderReports;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** No input makes a parser throw, or answer a negative or an absurd wait. */
class TotalParsersTest {
  private static final String[] HEADERS = {
    "retry-after",
    "Retry-After",
    "retry-after-ms",
    "date",
    "x-should-retry",
    "anthropic-ratelimit-requests-limit",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-input-tokens-reset",
    "anthropic-ratelimit-input-tokens-remaining",
    "anthropic-priority-output-tokens-remaining",
    "anthropic-ratelimit-unified-status",
    "anthropic-ratelimit-unified-5h-status",
    "anthropic-ratelimit-unified-5h-reset",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
    "x-rate-limit-reset-tokens",
    "x-ratelimit-remaining-req-10-second",
    "x-ratelimit-limit-tokens-9999-month",
    "x-ratelimit-remaining-tokens-month",
    "x-ratelimit-limit-requests-0-second",
    "x-ratelimit-reset-tokens-minute",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "ratelimit-remaining",
    "ratelimit-reset",
    "ratelimit",
    "ratelimit-policy",
    "x-amzn-errortype",
    "x-amzn-bedrock-input-token-count"
  };

  private static final String[] VALUES = {
    "0",
    "1",
    "-1",
    "5",
    "60",
    "0.4",
    "17ms",
    "6m0s",
    "23h47m36.648s",
    "86400",
    "31622400",
    "31622401",
    "1777420800",
    "1777420800000",
    "9223372036854775807",
    "99999999999999999999",
    "1e400",
    "nan",
    "Infinity",
    "",
    " ",
    "soon",
    "rejected",
    "true",
    "false",
    "2026-08-27T11:12:53Z",
    "2026-08-27T11:10:00Z",
    "+999999999-12-31T23:59:59Z",
    "0000-01-01T00:00:00Z",
    "Thu, 27 Aug 2026 11:12:53 GMT",
    "Thu, 31 Feb 2026 99:99:99 GMT",
    "Thu, 27 Aug 9999 11:12:53 GMT",
    "\"api\";r=0;t=295, \"b\";r=1;t=99999999999",
    "\"api\";q=1000;w=0",
    "ThrottlingException:x#y",
    "1h".repeat(40),
    "9".repeat(64),
    "\u0000\uffff\ud800"
  };

  private static final String[] JSON = {
    "null",
    "{}",
    "[]",
    "0",
    "-1",
    "1e999",
    "99999999999999999999",
    "\"x\"",
    "\"\\ud800\"",
    "{\"code\":429}",
    "{\"type\":\"overloaded_error\"}",
    "{\"code\":\"insufficient_quota\"}",
    "{\"message\":\"Limit 0, Used 9, Requested 1 on tokens per min. Try again in 0s\"}",
    "{\"message\":\"Limit 3, Used 999999999999, Requested 2 on requests per min\"}",
    "{\"message\":\"requests per day: try again in 99999d\"}",
    "{\"details\":[{\"violations\":[{\"quotaId\":\"RequestsPerDay\",\"quotaValue\":\"-5\"}]},"
        + "{\"@type\":\"RetryInfo\",\"retryDelay\":\"-9s\"}]}",
    "{\"details\":{\"error_code\":\"enforced_spend_limit_reached\"}}",
    "{\"metadata\":{\"headers\":{\"Retry-After\":\"-3\",\"X-RateLimit-Reset\":\"1\",\"a\":{}}}}",
    "{\"prompt_tokens\":-4,\"completion_tokens\":1e300}",
    "{\"input_tokens\":1,\"input_tokens_details\":{\"cached_tokens\":1000000000000}}",
    "{\"input_tokens\":5,\"output_tokens\":6}",
    "{\"promptTokenCount\":1000000000000,\"toolUsePromptTokenCount\":1000000000000}",
    "[{\"delta\":{},\"finish_reason\":\"stop\"}]",
    "[[[[[[[[{}]]]]]]]]",
    "\"[DONE]\""
  };

  /** Each in the place of one byte of a JSON text. */
  private static final String SPOILERS = "{}[]:,\"\\0e.-tn \u00ff\u0000";

  private static final String[] NAMES = {
    "error",
    "usage",
    "usageMetadata",
    "message",
    "response",
    "delta",
    "type",
    "code",
    "choices",
    "candidates",
    "x_groq",
    "__type",
    "object",
    "detail",
    "content"
  };

  private static final String[] FRAGMENTS = {
    "data: ",
    "data:",
    "data",
    "event: ",
    "event: error",
    "event: message_start",
    "event: content_block_delta",
    "event: message_delta",
    ": keep-alive",
    "id: 1",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "[DONE]",
    "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":27}}}",
    "{\"type\":\"message_delta\",\"usage\":{\"output_tokens\":47}}",
    "{\"choices\":[],\"usage\":",
    "{\"prompt_tokens\":11,\"completion_tokens\":99}",
    "}",
    "{",
    "\"",
    "\\",
    "\ufeff",
    "\u20ac\ud83d\ude00",
    "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}",
    "{\"error\":{\"code\":429}}",
    "{\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}}"
  };

  @Provide
  Arbitrary<ResponseHeaders> headers() {
    Arbitrary<String> values =
        Arbitraries.frequencyOf(
            Tuple.of(5, Arbitraries.of(VALUES)),
            Tuple.of(1, Arbitraries.strings().ofMaxLength(80)));
    return Arbitraries.maps(Arbitraries.of(HEADERS), values)
        .ofMaxSize(12)
        .map(map -> ResponseHeaders.of((Map<String, String>) map));
  }

  @Provide
  Arbitrary<byte[]> bodies() {
    Arbitrary<String> member =
        Combinators.combine(Arbitraries.of(NAMES), Arbitraries.of(JSON))
            .as((name, value) -> "\"" + name + "\":" + value);
    Arbitrary<String> object =
        member.list().ofMaxSize(5).map(members -> "{" + String.join(",", members) + "}");
    Arbitrary<byte[]> json = object.map(text -> text.getBytes(StandardCharsets.UTF_8));
    Arbitrary<byte[]> cut =
        Combinators.combine(json, Arbitraries.integers().between(0, 300))
            .as((bytes, at) -> Arrays.copyOf(bytes, Math.min(at, bytes.length)));
    Arbitrary<byte[]> spoiled =
        Combinators.combine(
                json, Arbitraries.integers().between(0, 300), Arbitraries.of(SPOILERS.split("")))
            .as(
                (bytes, at, spoiler) -> {
                  bytes[at % bytes.length] = (byte) spoiler.charAt(0);
                  return bytes;
                });
    Arbitrary<byte[]> nested =
        Combinators.combine(object, Arbitraries.of(NAMES), Arbitraries.integers().between(0, 2_000))
            .as(
                (text, name, depth) ->
                    (("{\"" + name + "\":").repeat(depth) + text + "}".repeat(depth))
                        .getBytes(StandardCharsets.UTF_8));
    Arbitrary<byte[]> noise = Arbitraries.bytes().array(byte[].class).ofMaxSize(200);
    return Arbitraries.oneOf(json, cut, spoiled, nested, noise);
  }

  @Provide
  Arbitrary<byte[]> streams() {
    Arbitrary<byte[]> fragment =
        Arbitraries.frequencyOf(
            Tuple.of(
                9, Arbitraries.of(FRAGMENTS).map(text -> text.getBytes(StandardCharsets.UTF_8))),
            Tuple.of(1, Arbitraries.bytes().array(byte[].class).ofMaxSize(8)));
    return fragment
        .list()
        .ofMaxSize(40)
        .map(
            parts -> {
              ByteArrayOutputStream all = new ByteArrayOutputStream();
              parts.forEach(all::writeBytes);
              return all.toByteArray();
            });
  }

  @Provide
  Arbitrary<String> providers() {
    return Arbitraries.of(ProviderProfiles.names());
  }

  @Provide
  Arbitrary<Integer> statuses() {
    return Arbitraries.of(200, 201, 400, 402, 408, 429, 500, 503, 529, 0, -1, Integer.MAX_VALUE)
        .injectNull(0.1);
  }

  @Provide
  Arbitrary<Instant> instants() {
    return Arbitraries.of(
            Answers.NOW,
            Instant.EPOCH,
            Instant.MAX,
            Instant.MIN,
            Instant.parse("2026-12-31T23:59:59Z"))
        .injectNull(0.2);
  }

  @Property(tries = 3_000)
  void shouldReadAnyAnswer(
      @ForAll("providers") String provider,
      @ForAll("statuses") Integer status,
      @ForAll("headers") ResponseHeaders headers,
      @ForAll("bodies") byte[] body,
      @ForAll("instants") Instant now) {
    // when
    ProviderReading reading =
        ProviderProfiles.of(provider)
            .read(new ProviderResponse(status, headers, ResponseBody.of(body), now));

    // then
    assertSane(status, reading);
  }

  @Property(tries = 2_000)
  void shouldReadAnyStreamTheSameHoweverItIsCut(
      @ForAll("providers") String provider,
      @ForAll("headers") ResponseHeaders headers,
      @ForAll("streams") byte[] bytes,
      @ForAll Random cuts) {
    // given
    ProviderResponse head = new ProviderResponse(200, headers, ResponseBody.none(), Answers.NOW);
    ProviderStream whole = ProviderProfiles.of(provider).stream(head);
    ProviderStream chunked = ProviderProfiles.of(provider).stream(head);
    ProviderStream byBytes = ProviderProfiles.of(provider).stream(head);

    // when
    whole.read(bytes, 0, bytes.length);
    for (int at = 0; at < bytes.length; ) {
      int length = Math.min(bytes.length - at, cuts.nextInt(20));
      // A buffer that is used again, as a gateway's is.
      byte[] buffer = Arrays.copyOfRange(bytes, at, at + length + 3);
      chunked.read(buffer, 0, length);
      Arrays.fill(buffer, (byte) '}');
      at += length;
    }
    for (byte b : bytes) {
      byBytes.read(new byte[] {b}, 0, 1);
    }

    // then
    ProviderReading reading = whole.end();
    assertSane(200, reading);
    assertThat(chunked.end()).isEqualTo(reading);
    assertThat(byBytes.end()).isEqualTo(reading);
    assertThat(chunked.contentBegun()).isEqualTo(whole.contentBegun());
    assertThat(byBytes.finished()).isEqualTo(whole.finished());
  }

  @Property(tries = 2_000)
  void shouldReadABodyTheSameHoweverItIsCut(@ForAll("bodies") byte[] bytes, @ForAll Random cuts) {
    // given
    BodyReader reader = new BodyReader();

    // when
    for (int at = 0; at < bytes.length; ) {
      int length = Math.min(bytes.length - at, cuts.nextInt(9));
      reader.read(bytes, at, length);
      at += length;
    }

    // then
    ResponseBody whole = ResponseBody.of(bytes);
    ResponseBody cut = reader.end();
    assertThat(cut.json()).isEqualTo(whole.json());
    assertThat(cut.isWhole()).isEqualTo(whole.isWhole());
    assertThat(cut.text()).isEqualTo(whole.text());
  }

  private static void assertSane(Integer status, ProviderReading reading) {
    if (reading.waitMs() != null) {
      assertThat(reading.waitMs()).isBetween(1L, Duration.ofDays(366).toMillis());
    }
    if (reading.kind() == AnswerClass.OK) {
      assertThat(reading.retry()).isFalse();
    }
    reading
        .limits()
        .forEach(
            (dimension, limit) -> {
              assertAmount(limit.limit());
              assertAmount(limit.remaining());
              if (limit.resetMs() != null) {
                assertThat(limit.resetMs()).isBetween(0L, Duration.ofDays(366).toMillis());
              }
            });
    if (reading.usage() != null) {
      assertAmount(reading.usage().inputTokens());
      assertAmount(reading.usage().cacheReadTokens());
      assertAmount(reading.usage().cacheWriteTokens());
      assertAmount(reading.usage().outputTokens());
    }
    // What a settlement reports refuses negative numbers itself.
    assertThat(ProviderReports.signal(status, reading).kind()).isNotNull();
    ProviderReports.usage(reading.usage());
  }

  private static void assertAmount(Long amount) {
    if (amount != null) {
      assertThat(amount).isBetween(0L, Numbers.AMOUNT_MAX);
    }
  }
}
