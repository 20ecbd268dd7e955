package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.margin.Need;
import dev.fairway.admission.engine.margin.RateMargin;
import dev.fairway.admission.engine.margin.RollingRoom;
import java.util.NavigableMap;

/**
 * What the calls of a quota took within the last minute, beside its buckets, where the provider
 * adds up exactly that. Without exact windows there are buckets alone.
 */
public final class LastMinute {
  private final QuotaState quota;
  private final RollingUse[] uses = new RollingUse[Dimension.count()];

  LastMinute(QuotaState quota) {
    this.quota = quota;
    for (int i = 0; i < uses.length; i++) {
      uses[i] = new RollingUse(Dimension.of(i));
    }
  }

  /** Whether the quota counts its last minute at all. */
  boolean counts() {
    return quota.policy.window() == Window.ROLLING && quota.policy.rules().has(Rule.EXACT_WINDOWS);
  }

  /** Whether a dimension is counted. */
  public boolean counts(Dimension d) {
    return quota.policy.addsUpLastMinute(d);
  }

  /** What calls took within a minute before that time. */
  public long used(Dimension d, long atMs) {
    return use(d).at(atMs);
  }

  /** When there is room for a call of that role, as far as the calls of the minute are known. */
  public long dueMs(Dimension d, String role, Amounts charge, long atMs) {
    return use(d).dueMs(Math.max(0, roomBeside(d, role, charge.get(d))), atMs);
  }

  /** The most that others may have taken for a charge of a call of that role; negative: never. */
  public long roomBeside(Dimension d, String role, long charge) {
    long limit = quota.limit(d);
    if (quota.modes[d.ordinal()] != MarginModeName.ADAPTIVE) {
      return RateMargin.INSTANCE.cap(limit, quota.marginBp) - charge;
    }
    long need = charge;
    if (d == Dimension.INPUT_TOKENS || d == Dimension.TOKENS) {
      double sigma = quota.statistics.sigma(role);
      double floor = Need.floor(quota.statistics.meanInput(), limit);
      long asked = Need.tokens(need, sigma, quota.zMilli, quota.uncertain(d), floor, limit);
      need = RollingRoom.need(need, asked, limit);
    }
    return RollingRoom.besideOthers(limit, quota.outsideMilli(d) / 1000) - need;
  }

  /** What leaves the minute when, after that time; a copy. */
  public NavigableMap<Long, Long> leaving(Dimension d, long atMs) {
    return use(d).leaving(atMs);
  }

  /** When what is granted at that time leaves the minute, as far as send times are known. */
  public long leavesMs(long grantedAtMs) {
    return RollingUse.leavesMs(grantedAtMs + quota.sendDelayMeanMs() + quota.sendDelaySpreadMs());
  }

  RollingUse use(Dimension d) {
    return uses[d.ordinal()];
  }

  /** Counts what a lease holds of this quota in the minute in which it was sent. */
  void add(Lease lease, Amounts held) {
    if (counts()) {
      for (RollingUse use : uses) {
        use.add(lease, held);
      }
    }
  }

  void remove(String leaseId) {
    for (RollingUse use : uses) {
      use.remove(leaseId);
    }
  }

  void clear() {
    for (RollingUse use : uses) {
      use.clear();
    }
  }
}
