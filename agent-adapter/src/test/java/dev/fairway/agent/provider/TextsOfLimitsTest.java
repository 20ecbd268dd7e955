package dev.fairway.agent.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers, durations and windows in the texts of errors: right, or unknown. */
class TextsOfLimitsTest {
  private static final String[] GROUPS = {",", "_", "'", "\u2019", " ", "\u00a0", "\u202f"};

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "Limit 30000, Used | 30000",
        "Limit 30,000, Used | 30000",
        "Limit 30 000, Used | 30000",
        "Limit 30_000, Used | 30000",
        "Limit 30'000, Used | 30000",
        "Limit 30.000.000, Used | 30000000",
        "Limit 1,234,567.9, Used | 1234567",
        "Limit 30k, Used | 30000",
        "Limit 30K. Used | 30000",
        "Limit 1.5M, Used | 1500000",
        "Limit 1 M, Used | 1000000",
        "Limit 2 million tokens per day | 2000000",
        "limit of 1,500 thousand | 1500000",
        "Limit 30000.0, Used | 30000",
        "Limit 0, Used | 0",
        "Limit ~3619. | 3619",
        "limit: 250, model: m | 250",
        "rate limit of 50,000 input tokens per minute | 50000",
        "limit of 8k output tokens per minute | 8000",
        "Limit 20/min | 20",
        "(Limit 20) | 20",
        "Limit 20 | 20"
      })
  void shouldReadANumberThatCanBeReadInOneWay(String text, long limit) {
    assertThat(LimitMessage.of(text).limit()).isEqualTo(limit);
  }

  @Test
  void shouldReadANumberAtTheEndOfALine() {
    assertThat(LimitMessage.of("limit: 15\nPlease retry in 2s"))
        .isEqualTo(new LimitMessage(null, null, 15L, null, null, 2_000L));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Limit 30.000, Used",
        "Limit 1.500k, Used",
        "Limit 3e4, Used",
        "Limit 3 x 10, Used",
        "Limit 30 lakh, Used",
        "Limit 30 ktokens, Used",
        "Limit 1m, Used",
        "Limit 30kk, Used",
        "Limit 30%, Used",
        "Limit 5 MB, Used",
        "Limit 30,00, Used",
        "Limit 0,030, Used",
        "Limit 30, 000, Used",
        "Limit 30'000,000, Used",
        "Limit 30-40, Used",
        "Limit 30..40, Used",
        "Limit 30 0000, Used",
        "Limit 30\u0660, Used",
        "Limit -1, Used",
        "Limit 9999999999999999999999999, Used",
        "Limit 2000000M, Used"
      })
  void shouldTakeANumberForUnknownThatItCannotReadWhole(String text) {
    assertThat(LimitMessage.of(text).limit()).isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1.146s. Visit | 1146",
        "6m0s. | 360000",
        "9m38.016s. Need | 578016",
        "1m 30s. | 90000",
        "1 minute 30 seconds. | 90000",
        "1 hour, 5 minutes and 10 seconds | 3910000",
        "1 minute and 30 seconds | 90000",
        "2 hours. | 7200000",
        "1h 30m. | 5400000",
        "1 day. | 86400000",
        "1d2h. | 93600000",
        "2 weeks. | 1209600000",
        "2 min. | 120000",
        "2 mins, or later | 120000",
        "20 sec. | 20000",
        "20 secs | 20000",
        "500ms. | 500",
        "500 ms. | 500",
        "500 milliseconds. | 500",
        "1M30S. | 90000",
        "30s (retry). | 30000",
        "55 seconds. | 55000",
        "6s, 5 calls are left | 6000"
      })
  void shouldReadADurationAsPeopleWriteIt(String text, long ms) {
    assertThat(LimitMessage.of("Please try again in " + text).retryMs()).isEqualTo(ms);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a few seconds",
        "30",
        "0s",
        "1m 30",
        "1 minute 30",
        "1 or 2 minutes",
        "1,5 seconds",
        "00:01:30",
        "30s-60s",
        "30s to 60s",
        "30s 1m",
        "6s5",
        "6.5.5s",
        "3 months",
        "5 minutesx",
        "400 days",
        "9999999999999999s"
      })
  void shouldTakeADurationForUnknownThatItCannotReadWhole(String text) {
    assertThat(LimitMessage.of("Please try again in " + text + ".").retryMs()).isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Number of request tokens has exceeded your per-minute rate limit (https | TOKENS | 60",
        "Number of request tokens has exceeded your daily rate limit | TOKENS | 86400",
        "Number of requests has exceeded your per-minute rate limit | REQUESTS | 60",
        "limit of 30k request tokens per minute | TOKENS | 60",
        "Limit for 2 million input tokens in all | INPUT_TOKENS |",
        "tokens per week (TPW): Limit 9 | TOKENS | 604800",
        "over its (TPW): Limit 9 | TOKENS | 604800",
        "tokens per month: Limit 9 | TOKENS | 2592000",
        "requests exceed your monthly plan: limit of requests | REQUESTS | 2592000",
        "requests per 10 seconds: Limit 9 | REQUESTS |"
      })
  void shouldTellWhatIsLimitedAndOverWhichTime(
      String text, Dimension dimension, Long windowSeconds) {
    // when
    LimitMessage read = LimitMessage.of(text);

    // then
    assertThat(read.dimension()).isEqualTo(dimension);
    assertThat(read.window())
        .isEqualTo(windowSeconds == null ? null : Duration.ofSeconds(windowSeconds));
  }

  @ParameterizedTest
  @CsvSource({
    "per-minute,RATE_LIMITED,INPUT_TOKENS,30000",
    "daily,DAILY_QUOTA,TOKENS,",
  })
  void shouldTakeOfTheTokensThoseOfWhichNothingRemains(
      String window, AnswerClass kind, Dimension binding, Long waitMs) {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .header("anthropic-ratelimit-requests-limit", "1000")
            .header("anthropic-ratelimit-requests-remaining", "998")
            .header("anthropic-ratelimit-requests-reset", "2026-08-27T11:10:54Z")
            .header("anthropic-ratelimit-input-tokens-limit", "40000")
            .header("anthropic-ratelimit-input-tokens-remaining", "0")
            .header("anthropic-ratelimit-input-tokens-reset", "2026-08-27T11:11:23Z")
            .body(
                "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Number of"
                    + " request tokens has exceeded your "
                    + window
                    + " rate limit\"}}")
            .readBy("anthropic");

    // then
    assertThat(reading.kind()).isEqualTo(kind);
    assertThat(reading.binding()).isEqualTo(binding);
    assertThat(reading.waitMs()).isEqualTo(waitMs);
  }

  @ParameterizedTest
  @CsvSource({"week,DAILY_QUOTA", "month,QUOTA_EXHAUSTED"})
  void shouldNotWaitSecondsForALimitOverWeeks(String window, AnswerClass kind) {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .body(
                "{\"error\":{\"message\":\"Rate limit reached on tokens per "
                    + window
                    + ": Limit 100, Used 100, Requested 20.\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}")
            .readBy("openai");

    // then
    assertThat(reading.kind()).isEqualTo(kind);
  }

  @Property(tries = 2_000)
  void shouldReadEachAmountInEachWayOfGrouping(
      @ForAll @LongRange(max = Numbers.AMOUNT_MAX) long amount, @ForAll @IntRange(max = 6) int by) {
    // given
    String written = String.format(Locale.ROOT, "%,d", amount).replace(",", GROUPS[by]);

    // when
    LimitMessage read = LimitMessage.of("tokens per min: Limit " + written + ", Used " + written);

    // then
    assertThat(List.of(read.limit(), read.used())).containsOnly(amount);
  }

  @Property(tries = 2_000)
  void shouldNeverReadAPartOfANumber(
      @ForAll @IntRange(min = 1, max = 999_999) int number, @ForAll("tails") String tail) {
    // when
    Long read = LimitMessage.of("Limit " + number + tail).limit();

    // then: nothing, or the number with all that its tail says
    if (read != null) {
      assertThat(tail)
          .as("read as %s", read)
          .matches(
              "(?s)[0-9]*(?:[,_'\u2019 \u00a0\u2009\u202f.][0-9]{3})*(?:\\.[0-9]+)?"
                  + "(?: ?[kKM]| thousand| million)?(?:$|[^\\p{L}\\p{N}%-].*)");
      BigDecimal least = BigDecimal.valueOf(number);
      assertThat(BigDecimal.valueOf(read)).isGreaterThanOrEqualTo(least);
    }
  }

  @Property(tries = 2_000)
  void shouldReadAnyTextWithoutErrorOrAbsurdWait(@ForAll("texts") String text) {
    // when
    LimitMessage read = LimitMessage.of(text);

    // then
    assertThat(read.retryMs() == null || (read.retryMs() > 0 && read.retryMs() <= longestMs()))
        .isTrue();
    for (Long number : new Long[] {read.limit(), read.used(), read.requested()}) {
      assertThat(number == null || (number >= 0 && number <= Numbers.AMOUNT_MAX)).isTrue();
    }
  }

  private static long longestMs() {
    return Waits.LONGEST.toMillis();
  }

  @Provide
  Arbitrary<String> tails() {
    return pieces(
        "",
        " ",
        ",",
        ".",
        "'",
        "_",
        "k",
        "K",
        "M",
        "m",
        "e4",
        "000",
        "00",
        "5",
        "x",
        " million",
        " thousand",
        "%",
        "-",
        "/",
        " tokens",
        " of",
        "\n",
        "\u0661",
        "\u00bd",
        "kk",
        " lakh");
  }

  @Provide
  Arbitrary<String> texts() {
    return pieces(
        "Limit ",
        "Used ",
        "limit of ",
        "Requested: ",
        "try again in ",
        "retry after ",
        "30",
        "000",
        "9999999999999999",
        "1.5",
        ",",
        ".",
        " ",
        "k",
        "M",
        "ms",
        "s",
        "m",
        "h",
        "days",
        " weeks",
        " and ",
        "tokens per min",
        "request tokens",
        "(TPD)",
        "\n",
        "\u0000",
        "\ud800",
        "~",
        "\u0661");
  }

  private static Arbitrary<String> pieces(String... pieces) {
    Arbitrary<String> piece =
        Combinators.combine(Arbitraries.of(pieces), Arbitraries.strings().ofMaxLength(2))
            .as((known, any) -> any.length() == 2 ? known + any : known);
    return Arbitraries.oneOf(Arbitraries.of(pieces), piece)
        .list()
        .ofMaxSize(12)
        .map(all -> String.join("", all));
  }
}
