package dev.fairway.agent.provider;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What all profiles have in common: the order of the steps, and the rules that hold for most of
 * them. A provider's own class says what its headers are, and where it differs.
 */
abstract class BaseProfile implements ProviderProfile {
  private static final Duration MONTH = Duration.ofDays(28);

  private final String name;

  BaseProfile(String name) {
    this.name = name;
  }

  @Override
  public final String name() {
    return name;
  }

  /**
   * The limits in the headers.
   *
   * @param now when the answer was given, or null
   */
  abstract List<Limit> limits(ResponseHeaders headers, Instant now);

  /** Headers that came inside the body of an error. */
  ResponseHeaders headersInBody(ProviderError error) {
    return ResponseHeaders.none();
  }

  /** Limits in the body of an error, beside its text. */
  List<Limit> limitsInBody(ProviderError error) {
    return List.of();
  }

  /** The provider's own word on the class of an error, or null for the common rules. */
  AnswerClass ownClass(Evidence evidence) {
    return null;
  }

  /** Where the provider says when to try again, beside retry-after, or null. */
  Reset ownWait(Evidence evidence, AnswerClass kind) {
    return null;
  }

  /** The dimension that refused the call, or null. */
  Dimension binding(Evidence evidence) {
    return evidence.binding();
  }

  /** Usage in headers, for answers without any in their body; or null. */
  ProviderUsage usageInHeaders(ResponseHeaders headers) {
    return null;
  }

  @Override
  public final ProviderReading read(ProviderResponse response) {
    ResponseBody body = response.body();
    ProviderError error =
        ProviderError.of(response.status(), response.headers(), body.json(), body.text());
    ProviderReading reading = error == null ? success(response) : failure(error, response);
    ProviderUsage usage = body.isWhole() ? UsageShapes.find(body.json()) : null;
    return reading.withUsage(usage != null ? usage : usageInHeaders(response.headers()));
  }

  @Override
  public final ProviderStream stream(ProviderResponse head) {
    return new ProviderStream(this, head);
  }

  /** An error, which may have come inside a success, with what the headers say. */
  final ProviderReading failure(ProviderError error, ProviderResponse response) {
    Instant now = response.at();
    boolean inside = response.status() != null && response.status() < 400;
    ResponseHeaders own = inside ? response.headers().withoutRetryAfter() : response.headers();
    ResponseHeaders headers = own.orElse(headersInBody(error));
    LimitMessage message = LimitMessage.of(error.message());
    List<Limit> limits = limits(headers, now);
    for (Limit limit : limitsInBody(error)) {
      limits = Limit.refined(limits, limit);
    }
    if (message.limitReading() != null) {
      limits = Limit.refined(limits, message.limitReading());
    }
    Evidence evidence = new Evidence(headers, error, message, limits, now);
    AnswerClass told = ownClass(evidence);
    AnswerClass kind = told != null ? told : commonClass(evidence);
    Reset wait = wait(evidence, kind);
    return new ProviderReading(
        kind,
        retry(evidence, kind),
        wait == null ? null : wait.ms(),
        wait == null ? null : wait.at(),
        kind.isLimit() ? binding(evidence) : null,
        Limit.readings(limits),
        null);
  }

  private ProviderReading success(ProviderResponse response) {
    // A wait on success is somebody else's: Anthropic sends a retry-after with a 200 as well.
    Reset wait =
        response.status() == null ? RetryAfter.read(response.headers(), response.at()) : null;
    return new ProviderReading(
        AnswerClass.OK,
        false,
        wait == null ? null : wait.ms(),
        wait == null ? null : wait.at(),
        null,
        Limit.readings(limits(response.headers(), response.at())),
        null);
  }

  private static AnswerClass commonClass(Evidence e) {
    ProviderError error = e.error();
    if (error.is("insufficient_quota", "billing_error", "billing_not_active")
        || error.is("billing_hard_limit_reached", "insufficient_balance")
        || error.hasStatus(402)) {
      return AnswerClass.BILLING;
    }
    if (error.is("overloaded_error", "engine_overloaded", "server_is_overloaded", "slow_down")) {
      return AnswerClass.OVERLOADED;
    }
    if (error.hasStatus(429)
        || error.is("rate_limit_exceeded", "rate_limit_error", "too_many_requests")) {
      return limitClass(e);
    }
    return error.hasStatus(529, 503) ? AnswerClass.OVERLOADED : AnswerClass.ERROR;
  }

  /** The class of an error that is about a limit. */
  static AnswerClass limitClass(Evidence e) {
    if (e.message().neverFits()) {
      return AnswerClass.NEVER_FITS;
    }
    if (e.isOver(MONTH)) {
      return AnswerClass.QUOTA_EXHAUSTED;
    }
    return e.isOver(Limit.DAY) ? AnswerClass.DAILY_QUOTA : AnswerClass.RATE_LIMITED;
  }

  private Reset wait(Evidence e, AnswerClass kind) {
    if (kind == AnswerClass.NEVER_FITS || kind == AnswerClass.BILLING) {
      return null;
    }
    Reset own = ownWait(e, kind);
    if (own != null) {
      return own;
    }
    Reset after = RetryAfter.read(e.headers(), e.now());
    if (after != null || !kind.isLimit()) {
      return after;
    }
    if (e.message().retryMs() != null) {
      return Reset.in(e.message().retryMs());
    }
    Long refillMs = e.message().refillMs();
    return refillMs != null ? Reset.in(refillMs) : e.resetOfBinding();
  }

  private static boolean retry(Evidence e, AnswerClass kind) {
    String said = e.headers().get("x-should-retry");
    boolean may =
        kind.passes()
            || (kind == AnswerClass.ERROR && ("true".equals(said) || isTransient(e.error())));
    return may && !"false".equals(said);
  }

  /** What the official SDKs retry. */
  private static boolean isTransient(ProviderError error) {
    Integer status = error.status();
    return error.is("server_error", "api_error", "internal_server_error")
        || (status != null && (status == 408 || status == 409 || (status >= 500 && status <= 599)));
  }

  /** Windows of a provider whose headers are all about a minute. */
  static Map<Dimension, Duration> perMinute() {
    return Map.of(
        Dimension.REQUESTS, Limit.MINUTE,
        Dimension.INPUT_TOKENS, Limit.MINUTE,
        Dimension.OUTPUT_TOKENS, Limit.MINUTE,
        Dimension.TOKENS, Limit.MINUTE);
  }
}
