package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.SafeCapacityTold;
import dev.fairway.admission.engine.capacity.Share;
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.admission.engine.state.Row.ShareRow;

/** What agents may use alone, told and ended. */
final class ShareApplier {

  private ShareApplier() {}

  static void told(KeyState key, QuotaState quota, SafeCapacityTold e) {
    Share old = quota.shares.of(e.agentId());
    boolean same = old != null && old.part() == e.part() && old.untilMs() == e.countedUntilMs();
    if (!same) {
      Share before = old == null ? Share.NONE : old;
      set(key, quota, e.agentId(), before.told(e.part(), e.countedUntilMs()));
    }
  }

  /** Shares that are over count no more. */
  static void sweep(KeyState key, QuotaState quota) {
    while (quota.shares.firstDueMs() <= key.nowMs) {
      String agent = quota.shares.firstDueAgent();
      Share share = quota.shares.of(agent).at(key.nowMs);
      set(key, quota, agent, share.untilMs() <= key.nowMs ? null : share);
    }
  }

  /** The quota is gone. */
  static void forgetAll(KeyState key, QuotaState quota) {
    for (String agent : quota.shares.all().keySet()) {
      set(key, quota, agent, null);
    }
  }

  private static void set(KeyState key, QuotaState quota, String agent, Share share) {
    quota.shares.set(agent, share);
    if (share == null) {
      key.changes.delete(new RowId(Row.Kind.SHARE, quota.id(), agent));
    } else {
      key.changes.put(new ShareRow(quota.id(), agent, share));
    }
  }
}
