package dev.fairway.agent.provider;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;

/**
 * Gemini and Vertex AI: no headers; an error may name the quotas that it violates and a delay. The
 * delay means nothing for a quota per day, which resets at midnight Pacific time.
 */
final class GeminiProfile extends BaseProfile {
  private static final ZoneId PACIFIC = ZoneId.of("America/Los_Angeles");

  GeminiProfile(String name) {
    super(name);
  }

  @Override
  List<Limit> limits(ResponseHeaders headers, Instant now) {
    return List.of();
  }

  @Override
  List<Limit> limitsInBody(ProviderError error) {
    List<Limit> limits = new ArrayList<>();
    for (JsonNode violation : violations(error)) {
      String id = violation.path("quotaId").asText();
      Dimension dimension = dimension(id);
      if (dimension != null) {
        Long value = Numbers.amount(violation.path("quotaValue"));
        limits.add(new Limit(dimension, window(id), value, null, null));
      }
    }
    return limits;
  }

  @Override
  AnswerClass ownClass(Evidence e) {
    if (e.error().is("unavailable")) {
      return AnswerClass.OVERLOADED;
    }
    if (!e.error().hasStatus(429) && !e.error().is("resource_exhausted")) {
      return null;
    }
    return isPerDay(e.error()) ? AnswerClass.DAILY_QUOTA : AnswerClass.RATE_LIMITED;
  }

  @Override
  Reset ownWait(Evidence e, AnswerClass kind) {
    if (kind == AnswerClass.DAILY_QUOTA) {
      return e.now() == null ? null : Reset.at(midnight(e.now()), e.now());
    }
    for (JsonNode detail : e.error().json().path("details")) {
      if (detail.path("@type").asText().endsWith("RetryInfo")) {
        Reset delay = Reset.duration(detail.path("retryDelay").asText(), e.now());
        return delay != null && delay.isAhead() ? delay : null;
      }
    }
    return null;
  }

  @Override
  Dimension binding(Evidence e) {
    Dimension binding = null;
    for (JsonNode violation : violations(e.error())) {
      String id = violation.path("quotaId").asText();
      if (binding == null || id.contains("PerDay")) {
        binding = dimension(id);
      }
    }
    return binding != null ? binding : e.binding();
  }

  private static boolean isPerDay(ProviderError error) {
    return violations(error).stream()
        .anyMatch(violation -> violation.path("quotaId").asText().contains("PerDay"));
  }

  private static List<JsonNode> violations(ProviderError error) {
    List<JsonNode> violations = new ArrayList<>();
    for (JsonNode detail : error.json().path("details")) {
      detail.path("violations").forEach(violations::add);
    }
    return violations;
  }

  /** Tokens per minute are input alone. */
  private static Dimension dimension(String quotaId) {
    if (quotaId.contains("OutputTokens")) {
      return Dimension.OUTPUT_TOKENS;
    }
    if (quotaId.contains("Tokens")) {
      return Dimension.INPUT_TOKENS;
    }
    return quotaId.contains("Requests") ? Dimension.REQUESTS : null;
  }

  private static Duration window(String quotaId) {
    if (quotaId.contains("PerDay")) {
      return Limit.DAY;
    }
    return quotaId.contains("PerMinute") ? Limit.MINUTE : null;
  }

  private static Instant midnight(Instant now) {
    return LocalDate.ofInstant(now, PACIFIC).plusDays(1).atStartOfDay(PACIFIC).toInstant();
  }
}
