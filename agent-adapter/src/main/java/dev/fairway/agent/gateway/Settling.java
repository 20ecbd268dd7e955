package dev.fairway.agent.gateway;

import dev.fairway.agent.ProviderReports;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.agent.estimate.PrefixBook;
import dev.fairway.agent.provider.AnswerClass;
import dev.fairway.agent.provider.ProviderReading;
import dev.fairway.agent.provider.ProviderUsage;
import dev.fairway.schemas.Outcome;

/**
 * What one answer settles as, and what is learned from it. What the provider did not tell is
 * estimated, and the settlement says so. Not thread-safe.
 */
final class Settling {
  private final GatewayContext context;
  private final CallPlan plan;
  private final Grant grant;
  private final AnswerTap tap;
  private final ProviderSignal signal;
  private boolean begun;
  private boolean ended;

  /**
   * For one answer.
   *
   * @param signal what its head said
   */
  Settling(
      GatewayContext context, CallPlan plan, Grant grant, AnswerTap tap, ProviderSignal signal) {
    this.context = context;
    this.plan = plan;
    this.grant = grant;
    this.tap = tap;
    this.signal = signal;
  }

  /**
   * Some of the answer passed. A stream is told of once, when it has said its input, or when its
   * content begins without that; what comes before, such as a ping or half an event, says nothing.
   */
  void progressed() {
    if (!begun && tap.isStream() && tap.saidItsBeginning()) {
      begun = true;
      grant.inProgress(Readings.inputOf(tap.usageSoFar()), signal);
    }
  }

  /**
   * The answer is complete; false if the call has failed all the same: the answer says so, or it is
   * a stream that ends in the middle.
   */
  boolean complete() {
    ProviderReading reading = tap.end();
    if (reading.kind() == AnswerClass.OK && !tap.isWhole()) {
      settle(Outcome.FAILED_AFTER_SEND, reading.usage(), signal);
      return false;
    }
    Outcome refused = tap.isRefused() ? Readings.refusal(reading.kind()) : null;
    if (refused != null) {
      // As with a status that says so: nothing was used.
      end(refused, null, ProviderReports.signal(signal.status(), reading), true, null);
      return false;
    }
    Outcome outcome =
        reading.kind() == AnswerClass.OK
            ? Outcome.SUCCEEDED
            : Readings.outcome(signal.status(), reading.kind());
    ProviderSignal last =
        reading.kind() == AnswerClass.OK
            ? signal
            : ProviderReports.signal(signal.status(), reading);
    settle(outcome, reading.usage(), last);
    return outcome == Outcome.SUCCEEDED;
  }

  /**
   * The client hung up, and the rest of the answer is not asked for. It has not got its answer: the
   * same call again is another try of it.
   */
  void abandoned() {
    settle(Outcome.SUCCEEDED, tap.end().usage(), signal, true);
  }

  /** The upstream broke off. */
  void brokenOff() {
    settle(Outcome.FAILED_AFTER_SEND, tap.end().usage(), signal);
  }

  private void settle(Outcome outcome, ProviderUsage told, ProviderSignal last) {
    settle(outcome, told, last, outcome != Outcome.SUCCEEDED);
  }

  private void settle(Outcome outcome, ProviderUsage told, ProviderSignal last, boolean failed) {
    if (!ended) {
      end(outcome, usage(told), last, failed, told);
    }
  }

  private void end(
      Outcome outcome, UsageReport usage, ProviderSignal last, boolean failed, ProviderUsage told) {
    if (ended) {
      return;
    }
    ended = true;
    try {
      // First, so that it is known to the next call of whoever hears of the settlement.
      if (plan.counted()) {
        plan.tries().ended(grant.requestId(), failed, context.epochMs());
        learn(told);
      }
    } finally {
      grant.settle(outcome, usage, begun ? Readings.withoutLimits(last) : last);
    }
  }

  private UsageReport usage(ProviderUsage told) {
    Long output = told == null ? null : told.outputTokens();
    if (output == null && Long.valueOf(0).equals(plan.maxOutputTokens())) {
      output = 0L; // Embeddings have none, and nobody says so.
    }
    if (told != null && told.exact() && told.inputTokens() != null && output != null) {
      return new UsageReport(
          told.inputTokens(), told.cacheReadTokens(), told.cacheWriteTokens(), output, true);
    }
    Long input = told == null ? null : told.inputTokens();
    if (input == null && plan.input() != null) {
      input = plan.input().inputTokens();
    }
    if (tap.isStream() && plan.model() != null) {
      long passed = tap.estimatedOutputTokens(plan.model());
      output = output == null ? passed : Math.max(output, passed);
    }
    return new UsageReport(
        input,
        told == null ? null : told.cacheReadTokens(),
        told == null ? null : told.cacheWriteTokens(),
        output,
        false);
  }

  private void learn(ProviderUsage told) {
    if (told == null || told.inputTokens() == null) {
      return;
    }
    long cached = orZero(told.cacheReadTokens()) + orZero(told.cacheWriteTokens());
    context.estimator().learn(plan.model(), plan.input(), told.inputTokens() + cached);
    context
        .prefixes()
        .used(
            plan.asker().member(),
            plan.model(),
            plan.content(),
            cached,
            cacheTtlMs(told),
            context.epochMs());
  }

  /** Who asks knows best, then who keeps the cache, then what it was asked to keep. */
  private long cacheTtlMs(ProviderUsage told) {
    Long ttlMs = plan.asker().cacheTtlMs();
    ttlMs = ttlMs != null ? ttlMs : told.cacheTtlMs();
    ttlMs = ttlMs != null ? ttlMs : plan.content().ttlMs();
    return ttlMs != null ? ttlMs : PrefixBook.TTL_MS;
  }

  private static long orZero(Long tokens) {
    return tokens == null ? 0 : tokens;
  }
}
