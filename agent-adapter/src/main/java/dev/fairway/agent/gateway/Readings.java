package dev.fairway.agent.gateway;

import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.agent.provider.AnswerClass;
import dev.fairway.agent.provider.ProviderResponse;
import dev.fairway.agent.provider.ProviderUsage;
import dev.fairway.agent.provider.ResponseBody;
import dev.fairway.agent.provider.ResponseHeaders;
import dev.fairway.schemas.Outcome;
import java.time.Instant;
import java.util.Map;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;

/** Between what a profile reads of an answer and what a settlement says of it. */
final class Readings {
  private static final int TOO_MANY_REQUESTS = 429;

  private Readings() {}

  /** An answer as profiles take it. */
  static ProviderResponse response(
      int status, HttpFields headers, ResponseBody body, Instant receivedAt) {
    ResponseHeaders.Builder read = ResponseHeaders.builder();
    for (HttpField field : headers) {
      read.add(field.getName(), field.getValue());
    }
    return new ProviderResponse(status, read.build(), body, receivedAt);
  }

  /** A signal whose limits have been reported before. */
  static ProviderSignal withoutLimits(ProviderSignal signal) {
    return new ProviderSignal(
        signal.status(), signal.kind(), signal.binding(), signal.retryAfter(), Map.of());
  }

  /** The input of a stream that has just begun. */
  static UsageReport inputOf(ProviderUsage usage) {
    return usage == null || usage.inputTokens() == null
        ? null
        : new UsageReport(
            usage.inputTokens(), usage.cacheReadTokens(), usage.cacheWriteTokens(), null, true);
  }

  /**
   * What a call settles as that was refused inside of a success, where no status says why. Null if
   * it was not refused for a limit, for want of payment, or because its provider is overloaded.
   */
  static Outcome refusal(AnswerClass kind) {
    return switch (kind) {
      case RATE_LIMITED, NEVER_FITS, QUOTA_EXHAUSTED, DAILY_QUOTA, BILLING -> Outcome.RATE_LIMITED;
      case OVERLOADED -> Outcome.OVERLOADED;
      case OK, ERROR -> null;
    };
  }

  /** What an answer that is no success settles as. */
  static Outcome outcome(int status, AnswerClass kind) {
    if (kind == AnswerClass.OVERLOADED) {
      return Outcome.OVERLOADED;
    }
    return status == TOO_MANY_REQUESTS ? Outcome.RATE_LIMITED : Outcome.FAILED_AFTER_SEND;
  }
}
