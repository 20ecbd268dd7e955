package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.state.QuotaState;

/**
 * What a call counts that a provider answered 4xx. Where failed calls count, an answer that names
 * the limits is of a call that was counted before it was refused, and nobody tells what it counted:
 * it is not nothing, as who reports it may say. An answer without them came before.
 */
final class RefusedCalls {
  private static final int TOO_MANY_REQUESTS = 429;

  private RefusedCalls() {}

  /** The settlement, without the usage of nothing where the call counts. */
  static Settlement counted(QuotaState quota, Settlement s) {
    boolean counts =
        quota != null
            && quota.policy().rules().has(Rule.STRICT_REPORTS)
            && quota.policy().accounting().failedCallsCount()
            && s.outcome() == Outcome.FAILED_AFTER_SEND
            && refusedAfterCounting(s.signal())
            && !Told.showsUse(s);
    return counts ? SettlementRules.using(null, s) : s;
  }

  private static boolean refusedAfterCounting(Signal signal) {
    return signal != null
        && signal.status() != null
        && signal.status() / 100 == 4
        && signal.status() != TOO_MANY_REQUESTS
        && !signal.limits().isEmpty();
  }
}
