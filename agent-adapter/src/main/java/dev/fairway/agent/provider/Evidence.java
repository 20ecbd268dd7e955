package dev.fairway.agent.provider;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * What an answer that failed has to say, gathered before anything is concluded from it.
 *
 * @param headers those of the answer, and those in its body where a provider puts some there
 * @param error never null
 * @param message the error's text as far as it speaks of a limit; never null
 * @param limits from headers, body and text; never null
 * @param now when the answer was given, or null
 */
record Evidence(
    ResponseHeaders headers,
    ProviderError error,
    LimitMessage message,
    List<Limit> limits,
    Instant now) {

  /** Whether what refused the call is a limit over at least that time. */
  boolean isOver(Duration window) {
    if (message.window() != null) {
      return message.window().compareTo(window) >= 0;
    }
    return limitsThatBind().stream().anyMatch(limit -> limit.isOver(window));
  }

  /**
   * The limit that refused the call, or null: of those that the text names the one of which nothing
   * remains, else the one that the text names.
   */
  Dimension binding() {
    Limit latest = null;
    for (Limit limit : exhausted()) {
      boolean later =
          limit.reset() != null
              && limit.reset().isLaterThan(latest == null ? null : latest.reset());
      if (latest == null || later) {
        latest = limit;
      }
    }
    if (latest != null) {
      return latest.dimension();
    }
    if (message.dimension() != null) {
      return message.dimension();
    }
    // OpenAI's type of a rate limit error is the name of the limit.
    if (error.is("tokens")) {
      return Dimension.TOKENS;
    }
    return error.is("requests") ? Dimension.REQUESTS : null;
  }

  /** When what refused the call resets, the later if several; or null. */
  Reset resetOfBinding() {
    Reset reset = null;
    for (Limit limit : limitsThatBind()) {
      reset = Reset.later(reset, limit.reset());
    }
    return reset != null && reset.isAhead() ? reset : null;
  }

  private List<Limit> limitsThatBind() {
    List<Limit> exhausted = exhausted();
    Dimension binding = exhausted.isEmpty() ? binding() : null;
    return binding == null
        ? exhausted
        : limits.stream()
            .filter(limit -> limit.dimension() == binding && isInWindow(limit))
            .toList();
  }

  /** The limits of which nothing remains, as far as the text may mean them. */
  private List<Limit> exhausted() {
    return limits.stream().filter(limit -> limit.isExhausted() && isMeant(limit)).toList();
  }

  /** A text that says "tokens" may mean those of the input or of the output as well. */
  private boolean isMeant(Limit limit) {
    Dimension named = message.dimension();
    boolean same =
        limit.dimension() == named
            || (named == Dimension.TOKENS && limit.dimension() != Dimension.REQUESTS);
    return named == null || (same && isInWindow(limit));
  }

  private boolean isInWindow(Limit limit) {
    return message.dimension() == null
        || message.window() == null
        || message.window().equals(limit.window());
  }
}
