package dev.fairway.cli.demo.fleet;

import dev.fairway.cli.demo.fleet.Span.Activity;
import java.util.SplittableRandom;

/**
 * What agents do without admission, each for itself: call, and after a 429 back off and try again.
 * After six retries the turn's context is lost and the agent re-plans: it reads 5 to 20 times the
 * failed call's input again, in calls of at most 80,000 tokens, and then does the turn once more.
 */
final class RetryingHarness implements Harness {
  static final int RETRIES_MAX = 6;
  static final long RE_PLAN_CALL_TOKENS_MAX = 80_000;

  private static final long RE_PLAN_OUTPUT_TOKENS = 400;

  private final ProviderClient provider;
  private final AgentLog log;
  private final Clock clock;
  private final Backoff backoff;
  private final SplittableRandom random;
  private int attempt;

  RetryingHarness(
      ProviderClient provider,
      AgentLog log,
      Clock clock,
      Backoff backoff,
      SplittableRandom random) {
    this.provider = provider;
    this.log = log;
    this.clock = clock;
    this.backoff = backoff;
    this.random = random;
  }

  @Override
  public boolean call(Turn turn) throws InterruptedException {
    double readyMs = clock.nowMs();
    attempt = 0;
    while (!clock.over()) {
      double sentMs = tryCall(turn, turn.inputTokens(), turn.outputTokens(), false);
      if (sentMs >= 0) {
        log.turnCalled(sentMs - readyMs);
        return true;
      }
      rePlan(turn);
    }
    log.turnBrokenOff(clock.nowMs() - readyMs);
    return false;
  }

  /** Reads everything again; a call of it that fails for good is simply begun again. */
  private void rePlan(Turn turn) throws InterruptedException {
    long left = turn.inputTokens() * random.nextInt(5, 21);
    while (left > 0 && !clock.over()) {
      long input = Math.min(left, RE_PLAN_CALL_TOKENS_MAX);
      if (tryCall(turn, input, Math.min(RE_PLAN_OUTPUT_TOKENS, turn.maxTokens()), true) >= 0) {
        left -= input;
      }
    }
  }

  /**
   * One call with its retries.
   *
   * @return when the try that succeeded was sent, or -1 if none did
   */
  private double tryCall(Turn turn, long input, long output, boolean rePlan)
      throws InterruptedException {
    for (int tries = 0; tries <= RETRIES_MAX && !clock.over(); tries++) {
      ModelCall call = new ModelCall(turn.callId(++attempt), turn, input, output, null);
      double sentMs = clock.nowMs();
      Activity activity = rePlan ? Activity.RE_PLAN : Activity.CALL;
      log.doing(activity);
      ProviderAnswer answer = provider.send(call, call.id());
      double answeredMs = clock.nowMs();
      log.answered(answer, rePlan, answeredMs);
      if (answer.ok()) {
        log.span(activity, sentMs, answeredMs, turn.index());
        return sentMs;
      }
      if (tries < RETRIES_MAX) {
        log.doing(Activity.WAIT);
        clock.waitUntil(answeredMs + backoff.waitMs(tries, answer.retryAfterMs(), random));
      }
      log.span(Activity.WAIT, sentMs, clock.nowMs(), turn.index());
    }
    return -1;
  }
}
