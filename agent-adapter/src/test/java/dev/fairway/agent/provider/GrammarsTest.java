package dev.fairway.agent.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How numbers, durations and points in time are written. */
class GrammarsTest {

  @ParameterizedTest
  @CsvSource({
    "17ms,17",
    "1.5s,1500",
    "6m0s,360000",
    "23h47m36.648s,85656648",
    "17.399999999s,17400",
    "0s,0",
    "1d2h,93600000",
    "1us,1",
    "1500000ns,2",
    ".5s,500",
    "33011.382867,33011383",
    "366d,31622400000"
  })
  void shouldReadADurationAndRoundUp(String text, long ms) {
    assertThat(Durations.ms(text, 1_000)).isEqualTo(ms);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "s",
        "1x",
        "-1s",
        "1s-",
        "1 s",
        "NaN",
        "Infinity",
        "1e3",
        "0x10",
        "1s2",
        "367d",
        "31622400.001",
        "99999999999999999999999999999999999",
        "..5s",
        "1..5",
        "\u0661s"
      })
  void shouldTakeAnUnreadableOrAbsurdDurationAsUnknown(String text) {
    assertThat(Durations.ms(text, 1_000)).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Thu, 27 Aug 2026 11:12:53 GMT",
        "Wed, 27 Aug 2026 11:12:53 GMT",
        "27 Aug 2026 11:12:53 GMT",
        "Thursday, 27-Aug-26 11:12:53 GMT",
        "Thu Aug 27 11:12:53 2026"
      })
  void shouldReadTheThreeFormatsOfHttpDates(String text) {
    assertThat(HttpDate.parse(text)).isEqualTo(Instant.parse("2026-08-27T11:12:53Z"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "soon",
        "Thu, 31 Feb 2026 11:12:53 GMT",
        "Thu, 27 Foo 2026 11:12:53 GMT",
        "Thu, 27 Aug 2026 25:12:53 GMT",
        "Thu, 27 Aug 2026 11:12:53 CEST",
        "2026-08-27T11:12:53Z"
      })
  void shouldTakeAnotherDateAsUnknown(String text) {
    assertThat(HttpDate.parse(text)).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "1777420800000,2026-04-29T00:00:00Z",
    "1777420800,2026-04-29T00:00:00Z",
  })
  void shouldTellSecondsFromMillisecondsSince1970(String text, Instant expected) {
    // when
    Reset reset = Reset.epochOrDuration(text, Instant.parse("2026-04-28T12:00:00Z"));

    // then
    assertThat(reset).isEqualTo(new Reset(43_200_000L, expected));
  }

  @Test
  void shouldTakeAnAnswerAtTheEndOfTimeForOneAtAnUnknownTime() {
    // given: a daily quota of Gemini's, which resets at the next midnight
    String body =
        "{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":"
            + "\"type.googleapis.com/google.rpc.QuotaFailure\",\"violations\":[{\"quotaId\":\"RequestsPerDay\"}]}]}}";

    // when
    ProviderReading reading =
        ProviderProfiles.of("gemini")
            .read(
                new ProviderResponse(
                    429,
                    ResponseHeaders.builder().build(),
                    ResponseBody.of(body.getBytes(java.nio.charset.StandardCharsets.UTF_8)),
                    java.time.Instant.MAX));

    // then
    assertThat(reading.kind()).isEqualTo(AnswerClass.DAILY_QUOTA);
    assertThat(reading.waitMs()).isNull();
  }

  @Test
  void shouldReadARelativeResetWhereAPointInTimeIsPossible() {
    assertThat(Reset.epochOrDuration("2", Answers.NOW)).isEqualTo(new Reset(2_000L, null));
    assertThat(Reset.epochOrDuration("1m", Answers.NOW)).isEqualTo(new Reset(60_000L, null));
    assertThat(Reset.epochOrDuration("999999999999999999", Answers.NOW)).isNull();
  }

  @Test
  void shouldTakeAPastResetAsZeroAndADistantOneAsUnknown() {
    assertThat(Reset.rfc3339("2026-08-27T11:10:52Z", Answers.NOW).ms()).isZero();
    assertThat(Reset.rfc3339("1999-01-01T00:00:00Z", Answers.NOW).ms()).isZero();
    assertThat(Reset.rfc3339("2026-08-27T13:10:53.0001+02:00", Answers.NOW).ms()).isEqualTo(1);
    assertThat(Reset.rfc3339("2028-08-27T11:10:53Z", Answers.NOW)).isNull();
    assertThat(Reset.rfc3339("+999999999-12-31T23:59:59Z", Answers.NOW)).isNull();
    assertThat(Reset.rfc3339("-999999999-01-01T00:00:00Z", Answers.NOW)).isNull();
  }

  @Test
  void shouldKeepAPointInTimeWhereNowIsUnknown() {
    assertThat(Reset.rfc3339("2026-08-27T11:10:53Z", null))
        .isEqualTo(new Reset(null, Instant.parse("2026-08-27T11:10:53Z")));
  }

  @ParameterizedTest
  @CsvSource({"0,0", "50,50", "50.9,50", "+5,5", "1000000000000,1000000000000"})
  void shouldReadAnAmount(String text, long amount) {
    assertThat(Numbers.amount(text)).isEqualTo(amount);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "unlimited", "1e5", "30,000", "1000000000001", "NaN", "\u0661"})
  void shouldTakeAnotherAmountAsUnknown(String text) {
    assertThat(Numbers.amount(text)).isNull();
  }

  @Test
  void shouldReadWhatALimitMessageSays() {
    // when
    LimitMessage groq =
        LimitMessage.of(
            "Rate limit reached for model `m` in organization `o` service tier `on_demand` on tokens"
                + " per day (TPD): Limit 100000, Used 97050, Requested ~3619. Please try again in"
                + " 9m38.016s. Need more tokens?");
    LimitMessage anthropic =
        LimitMessage.of(
            "This request would exceed your organization's rate limit of 30,000 input tokens per"
                + " minute.");
    LimitMessage azure =
        LimitMessage.of(
            "Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your"
                + " current OpenAI S0 pricing tier. Please retry after 55 seconds.");

    // then
    assertThat(groq)
        .isEqualTo(
            new LimitMessage(Dimension.TOKENS, Limit.DAY, 100_000L, 97_050L, 3_619L, 578_016L));
    assertThat(groq.refillMs()).isEqualTo(578_016);
    assertThat(anthropic)
        .isEqualTo(
            new LimitMessage(Dimension.INPUT_TOKENS, Limit.MINUTE, 30_000L, null, null, null));
    assertThat(azure)
        .isEqualTo(new LimitMessage(Dimension.TOKENS, null, null, null, null, 55_000L));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "tokens per min (TPM): Limit 30000, Requested 34307. The input or output tokens must be"
            + " reduced in order to run successfully. | TOKENS | 60",
        "tokens per min (TPM): Limit 9, Requested 8. Output tokens count as well. | TOKENS | 60",
        "requests per min (RPM): Limit 3, Used 3. Reduce your input tokens. | REQUESTS | 60",
        "requests per min: Limit 3. The next tier has 500,000 tokens per day. | REQUESTS | 60",
        "tokens per minute (TPM): Limit 9. A plan without a limit per day is | TOKENS | 60",
        "your rate limit of 8,000 output tokens per minute. Reduce input tokens | OUTPUT_TOKENS | 60",
        "rate limit of 30,000 input tokens per minute; max output tokens count | INPUT_TOKENS | 60",
        "Number of input tokens has exceeded your daily rate limit | INPUT_TOKENS | 86400",
        "input and output tokens per hour | TOKENS | 3600",
        "generate_content_input_tokens_per_minute_per_base_model | INPUT_TOKENS | 60",
        "over its (ITPM): Limit 5 | INPUT_TOKENS | 60",
        "over its (OTPM): Limit 5 | OUTPUT_TOKENS | 60",
        "over its (RPD): Limit 5 | REQUESTS | 86400",
        "Requests rate limit exceeded | REQUESTS |",
        "Requests have exceeded token rate limit of your tier. | TOKENS |",
        "have exceeded call rate limit of your tier. | REQUESTS |",
        "free-models-per-min. Add credits for 1000 free model requests per day | REQUESTS | 60",
        "input-images per min: Limit 5. The output tokens must be reduced | | 60",
        "The input or output tokens must be reduced | |"
      })
  void shouldTakeTheLimitThatIsNamedAndNotTheAdviceBehindIt(
      String text, Dimension dimension, Long windowSeconds) {
    // when
    LimitMessage read = LimitMessage.of(text);

    // then
    assertThat(read.dimension()).isEqualTo(dimension);
    assertThat(read.window())
        .isEqualTo(windowSeconds == null ? null : Duration.ofSeconds(windowSeconds));
  }
}
