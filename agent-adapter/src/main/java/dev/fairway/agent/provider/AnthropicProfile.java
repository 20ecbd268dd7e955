package dev.fairway.agent.provider;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Anthropic. A reset is when a limit is full again, so it overstates the wait, and is often past
 * already. Of a subscription's limits (5 hours, 7 days) only a share is known: they say that it is
 * used up, and until when.
 */
final class AnthropicProfile extends BaseProfile {
  private static final Map<Dimension, String> NAMES =
      Map.of(
          Dimension.REQUESTS, "requests",
          Dimension.INPUT_TOKENS, "input-tokens",
          Dimension.OUTPUT_TOKENS, "output-tokens",
          Dimension.TOKENS, "tokens");

  private static final String UNIFIED = "anthropic-ratelimit-unified-";
  private static final List<String> UNIFIED_WINDOWS = List.of("", "5h-", "7d-");

  AnthropicProfile() {
    super("anthropic");
  }

  @Override
  List<Limit> limits(ResponseHeaders headers, Instant now) {
    List<Limit> limits = new ArrayList<>();
    for (Dimension dimension : Dimension.values()) {
      Limit limit = limit(headers, "anthropic-ratelimit-", dimension, now);
      // A priority tier has limits of its own; they count where no others are told.
      limit = limit != null ? limit : limit(headers, "anthropic-priority-", dimension, now);
      if (limit != null) {
        limits.add(limit);
      }
    }
    return limits;
  }

  @Override
  AnswerClass ownClass(Evidence e) {
    if (isSpendLimit(e.error())) {
      return AnswerClass.QUOTA_EXHAUSTED;
    }
    if (e.error().hasStatus(429) && !e.error().is("overloaded_error") && isUnifiedRejected(e)) {
      return AnswerClass.QUOTA_EXHAUSTED;
    }
    return e.error().is("invalid_request_error")
            && e.error().message().contains("credit balance is too low")
        ? AnswerClass.BILLING
        : null;
  }

  @Override
  Reset ownWait(Evidence e, AnswerClass kind) {
    if (isSpendLimit(e.error())) {
      return e.now() == null ? null : Reset.at(nextMonth(e.now()), e.now());
    }
    return kind == AnswerClass.QUOTA_EXHAUSTED ? unifiedReset(e) : null;
  }

  private static boolean isSpendLimit(ProviderError error) {
    return error
        .json()
        .path("details")
        .path("error_code")
        .asText()
        .equals("enforced_spend_limit_reached");
  }

  private static boolean isUnifiedRejected(Evidence e) {
    return UNIFIED_WINDOWS.stream().anyMatch(window -> isRejected(e, window));
  }

  private static Reset unifiedReset(Evidence e) {
    Reset latest = null;
    for (String window : UNIFIED_WINDOWS) {
      if (isRejected(e, window)) {
        String text = e.headers().get(UNIFIED + window + "reset");
        latest = Reset.later(latest, Reset.epochOrDuration(text, e.now()));
      }
    }
    return latest != null && latest.isAhead() ? latest : null;
  }

  private static boolean isRejected(Evidence e, String window) {
    return "rejected".equals(e.headers().get(UNIFIED + window + "status"));
  }

  private static Limit limit(
      ResponseHeaders headers, String prefix, Dimension dimension, Instant now) {
    String name = prefix + NAMES.get(dimension);
    String limit = headers.get(name + "-limit");
    String remaining = headers.get(name + "-remaining");
    String reset = headers.get(name + "-reset");
    return limit == null && remaining == null && reset == null
        ? null
        : RateLimitHeaders.limit(
            dimension, Limit.MINUTE, limit, remaining, Reset.rfc3339(reset, now));
  }

  private static Instant nextMonth(Instant now) {
    return LocalDate.ofInstant(now, ZoneOffset.UTC)
        .withDayOfMonth(1)
        .plusMonths(1)
        .atStartOfDay(ZoneOffset.UTC)
        .toInstant();
  }
}
