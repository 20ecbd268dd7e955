package dev.fairway.agent;

import dev.fairway.agent.fallback.ShareBucket;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Signal;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A call made without a lease: what it took from the client's share, and how it is reported. */
final class Unleased {
  /** How long such a call may be kept before it is sent: as long as a lease usually lives. */
  static final long USABLE_MS = 120_000;

  private final ClientContext context;
  private final CallBook calls;
  private final PendingCall call;
  private final String requestId;
  private final ShareBucket.Amounts taken;

  Unleased(
      ClientContext context,
      CallBook calls,
      PendingCall call,
      String requestId,
      ShareBucket.Amounts taken) {
    this.context = context;
    this.calls = calls;
    this.call = call;
    this.requestId = requestId;
    this.taken = taken;
  }

  Charge charge() {
    return new Charge(
        1L, taken.inputTokens().getAsLong(), taken.outputTokens().getAsLong(), null, null);
  }

  /**
   * Reports the call, unless it was never sent.
   *
   * @param usage what the caller says it used, or null if that is unknown: nothing if the provider
   *     refused it, else what it was expected to use
   */
  CompletableFuture<Void> end(
      Outcome outcome, UsageReport usage, ProviderSignal said, Signal signal) {
    boolean refused = outcome == Outcome.RATE_LIMITED || outcome == Outcome.OVERLOADED;
    UsageReport reported = usage(usage, refused);
    boolean sent = outcome != Outcome.NOT_SENT;
    Duration retryAfter = said == null ? null : said.retryAfter();
    // Not here: a lease's monitor is held, and the book's comes first.
    context
        .timers()
        .execute(
            () -> calls.used(call, taken, sent ? used(reported) : nothing(), refused, retryAfter));
    if (!sent) {
      return CompletableFuture.completedFuture(null);
    }
    return context
        .reports()
        .send(
            Records.settlement(
                call.agentId(),
                call.call.quota(),
                requestId,
                null,
                Outcome.UNLEASED,
                false,
                reported,
                signal));
  }

  private UsageReport usage(UsageReport told, boolean refused) {
    if (told == null && refused) {
      return UsageReport.of(0, 0);
    }
    Long input = told == null ? null : told.inputTokens();
    Long output = told == null ? null : told.outputTokens();
    if (input != null && output != null) {
      return told;
    }
    return new UsageReport(
        input == null ? (Long) taken.inputTokens().getAsLong() : input,
        told == null ? null : told.cacheReadTokens(),
        told == null ? null : told.cacheWriteTokens(),
        output == null ? (Long) taken.outputTokens().getAsLong() : output,
        false);
  }

  private static ShareBucket.Amounts used(UsageReport usage) {
    long written = usage.cacheWriteTokens() == null ? 0 : usage.cacheWriteTokens();
    return ShareBucket.Amounts.ofCall(usage.inputTokens() + written, usage.outputTokens());
  }

  private static ShareBucket.Amounts nothing() {
    return ShareBucket.Amounts.ofCalls(0, 0, 0);
  }
}
