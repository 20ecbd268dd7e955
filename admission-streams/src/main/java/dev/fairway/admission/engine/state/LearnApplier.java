package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.learn.CallSample;

/** What waits and calls teach. */
final class LearnApplier {
  /** A learned delay moves by this share of each observation. */
  private static final int DELAY_SHARE = 8;

  /** The learned maximum forgets this share of itself at each observation. */
  private static final int DELAY_DECAY = 64;

  private static final long SHORTEST_ETA_MS = 100;

  private LearnApplier() {}

  /** Waits too short to be told apart from none teach nothing. */
  static void learnWait(KeyState key, QuotaState quota, Waiter waiter) {
    Long etaMs = waiter.firstEtaMs();
    if (quota.policy.observes() && etaMs != null && etaMs >= SHORTEST_ETA_MS) {
      long waitedMs = key.nowMs - waiter.enqueuedAtMs();
      quota.statistics.learnWait(key, quota.id(), waiter.standing().role(), etaMs, waitedMs);
    }
  }

  static void learnCall(KeyState key, QuotaState quota, Lease lease, LeaseSettled e) {
    boolean known = e.usedInput() != null || e.usedOutput() != null;
    if (known && quota.policy.observes()) {
      CallSample sample =
          CallSample.of(
              quota.policy,
              lease.request(),
              lease.forecast(),
              lease.coldCache(),
              e.usedInput(),
              e.usedOutput());
      String role = lease.standing().role();
      quota.statistics.learn(key, quota.id(), role, e.agentId(), sample);
    }
  }

  static void learnDelay(QuotaState quota, Long sendDelayMs) {
    if (sendDelayMs != null) {
      long delayUs = sendDelayMs * 1000;
      quota.sendDelayMeanUs += (delayUs - quota.sendDelayMeanUs) / DELAY_SHARE;
      long decayed = quota.sendDelayMaxMs - quota.sendDelayMaxMs / DELAY_DECAY;
      quota.sendDelayMaxMs = Math.max(sendDelayMs, decayed);
    }
  }
}
