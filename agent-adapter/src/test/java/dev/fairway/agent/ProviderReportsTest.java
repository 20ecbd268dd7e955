package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.agent.ProviderSignal.Dimension;
import dev.fairway.agent.ProviderSignal.Reading;
import dev.fairway.agent.provider.AnswerClass;
import dev.fairway.agent.provider.ProviderProfiles;
import dev.fairway.agent.provider.ProviderReading;
import dev.fairway.agent.provider.ProviderResponse;
import dev.fairway.agent.provider.ProviderUsage;
import dev.fairway.agent.provider.ResponseBody;
import dev.fairway.agent.provider.ResponseHeaders;
import dev.fairway.schemas.SignalClass;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** From what a profile read to what a settlement reports. */
class ProviderReportsTest {

  private static ProviderSignal signal(String provider, int status, Map<String, String> headers) {
    ProviderReading reading =
        ProviderProfiles.of(provider)
            .read(
                new ProviderResponse(
                    status, ResponseHeaders.of(headers), ResponseBody.none(), null));
    return ProviderReports.signal(status, reading);
  }

  @Test
  void shouldPassOnLimitsPerMinute() {
    // when
    ProviderSignal signal =
        signal(
            "openai",
            429,
            Map.of(
                "retry-after-ms", "1500",
                "x-ratelimit-limit-tokens", "30000",
                "x-ratelimit-remaining-tokens", "0",
                "x-ratelimit-reset-tokens", "60s"));

    // then
    assertThat(signal)
        .isEqualTo(
            ProviderSignal.builder()
                .status(429)
                .kind(SignalClass.RATE_LIMITED)
                .binding(Dimension.TOKENS)
                .retryAfter(Duration.ofMillis(1_500))
                .limit(Dimension.TOKENS, 30_000L, 0L, Duration.ofSeconds(60))
                .build());
  }

  @Test
  void shouldScaleALimitOverSecondsAndLeaveOutWhatRemainedOfIt() {
    assertThat(
            signal(
                    "mistral",
                    200,
                    Map.of(
                        "x-ratelimit-limit-req-10-second", "60",
                        "x-ratelimit-remaining-req-10-second", "3"))
                .limits())
        .containsExactly(Map.entry(Dimension.REQUESTS, new Reading(360L, null, null)));
  }

  @Test
  void shouldLeaveOutLimitsThatSayNothingAboutAMinute() {
    assertThat(signal("groq", 200, Map.of("x-ratelimit-remaining-requests", "7")).limits())
        .isEmpty();
    assertThat(signal("together", 200, Map.of("x-ratelimit-limit", "2")).limits()).isEmpty();
    assertThat(signal("azure", 200, Map.of("x-ratelimit-limit-tokens", "-1")).limits()).isEmpty();
  }

  @Test
  void shouldPassOnUsageButNoLowerBound() {
    assertThat(ProviderReports.usage(new ProviderUsage(1L, null, 3L, 4L, true)))
        .isEqualTo(new UsageReport(1L, null, 3L, 4L, true));
    assertThat(ProviderReports.usage(new ProviderUsage(1L, null, 3L, 4L, false)))
        .isEqualTo(new UsageReport(1L, null, 3L, null, false));
    assertThat(ProviderReports.usage(null)).isNull();
  }

  @Test
  void shouldKnowEveryClassAndDimensionOfAProfile() {
    assertThat(Arrays.stream(AnswerClass.values()).map(Enum::name))
        .containsExactlyElementsOf(Arrays.stream(SignalClass.values()).map(Enum::name).toList());
    assertThat(
            Arrays.stream(dev.fairway.agent.provider.Dimension.values())
                .map(dev.fairway.agent.provider.Dimension::wireName))
        .containsExactlyElementsOf(
            Arrays.stream(Dimension.values()).map(Dimension::wireName).toList());
  }
}
