package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.QuotaDefined;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.bucket.Bucket;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.margin.ModeChange;
import dev.fairway.admission.engine.margin.OutsideRate;
import dev.fairway.admission.engine.state.Row.DefinitionRow;
import java.util.List;
import java.util.Map;

/** What a definition, new or changed, means for the state of its quota. */
final class DefinitionApplier {

  private DefinitionApplier() {}

  static void define(KeyState key, QuotaDefined e) {
    if (e.salt() != null) {
      key.salt = e.salt();
    }
    QuotaState quota = key.quotas.get(e.quotaId());
    Remeasure remeasure = new Remeasure(key, e.quotaId());
    if (quota == null) {
      quota = new QuotaState(key);
      key.quotas.put(e.quotaId(), quota);
      start(key, quota, e.definition());
      remeasure.calls(false);
    } else {
      change(key, quota, e.definition(), remeasure);
    }
    remeasure.takers();
    key.touched.add(quota.id());
    key.changes.put(new DefinitionRow(e.definition()));
  }

  private static void start(KeyState key, QuotaState quota, QuotaDefinition definition) {
    Map<String, Boolean> members = SharedOrder.before(key, null, definition);
    quota.definition = definition;
    quota.policy = QuotaPolicy.of(definition);
    quota.marginBp = quota.policy.marginStartBp();
    quota.refilledAtMs = key.nowMs;
    pickModes(key, quota);
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      if (quota.limits(d)) {
        quota.buckets[i] = Bucket.at(levelOrFull(quota, d));
      }
    }
    Parts.start(key, quota);
    SharedOrder.redefined(key, quota, members, false);
  }

  private static void change(
      KeyState key, QuotaState quota, QuotaDefinition definition, Remeasure remeasure) {
    Buckets.refill(key, quota);
    SharedBuckets.refillParts(key, quota);
    Map<String, Long> ends = Remeasure.ends(quota);
    List<Waiter> waiting = Remeasure.takeOutAll(key, quota);
    Map<String, Boolean> members = SharedOrder.before(key, quota, definition);
    key.unlinkAlso(quota);
    QuotaDefinition before = quota.definition;
    QuotaPolicy policyBefore = quota.policy;
    int marginBeforeBp = quota.marginBp;
    long[] limitsBefore = limits(quota);
    quota.definition = definition;
    quota.policy = QuotaPolicy.of(definition);
    quota.removed = false;
    changeMargin(quota, policyBefore);
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      boolean renamed = policyBefore.limits().get(d) != quota.policy.limits().get(d);
      if (renamed || quota.policy.rules().has(Rule.LIMIT_EXPIRY)) {
        quota.forgetLimit(d);
      }
    }
    pickModes(key, quota);
    Applier.noteFloor(key, quota);
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      boolean stays = policyBefore.limits().has(d) && quota.limits(d);
      long capBefore = stays ? quota.cap(policyBefore, d, limitsBefore[i], marginBeforeBp) : 0;
      quota.buckets[i] = changed(key, quota, before, policyBefore, d, capBefore);
    }
    Parts.redefine(key, quota, policyBefore.order());
    boolean recosted = policyBefore.rules().cost() != quota.policy.rules().cost();
    boolean anew = SharedOrder.redefined(key, quota, members, recosted);
    remeasure.calls(anew);
    BreakerApplier.redefined(key, quota);
    LeaseApplier.rescheduleSweeps(quota);
    LeaseApplier.rebuildDerived(key, quota);
    Remeasure.putBack(key, quota, waiting, ends, anew);
  }

  /** The limits in force, be they learned. */
  private static long[] limits(QuotaState quota) {
    long[] limits = new long[Dimension.count()];
    for (int i = 0; i < limits.length; i++) {
      limits[i] = quota.limit(Dimension.of(i));
    }
    return limits;
  }

  /** A definition that names a mode sets it; AUTO goes on from what is known of the provider. */
  private static void pickModes(KeyState key, QuotaState quota) {
    for (int i = 0; i < Dimension.count(); i++) {
      Dimension d = Dimension.of(i);
      quota.modes[i] =
          quota.limits(d) && d.refills()
              ? ModeChange.wanted(quota, d, quota.answeredAtMs[i], key.nowMs)
              : null;
    }
  }

  private static void changeMargin(QuotaState quota, QuotaPolicy before) {
    boolean untouched = quota.marginBp == before.marginStartBp();
    int start = quota.policy.marginStartBp();
    quota.marginBp =
        untouched ? start : Math.max(quota.policy.marginFloorBp(), Math.min(start, quota.marginBp));
    if (quota.marginBp == start) {
      quota.restoreFromMs = null;
    }
  }

  private static Bucket changed(
      KeyState key,
      QuotaState quota,
      QuotaDefinition definitionBefore,
      QuotaPolicy before,
      Dimension d,
      long capBefore) {
    Bucket bucket = quota.buckets[d.ordinal()];
    if (!quota.policy.rules().has(Rule.OUTSIDE_RATE)) {
      quota.outside[d.ordinal()] = OutsideRate.NONE;
    }
    if (!quota.limits(d)) {
      quota.absorbedBeforeMs[d.ordinal()] = null;
      quota.answeredAtMs[d.ordinal()] = null;
      quota.resetAtMs[d.ordinal()] = null;
      quota.learnedAtMs[d.ordinal()] = null;
      quota.outside[d.ordinal()] = OutsideRate.NONE;
      return null;
    }
    Long level = level(quota.definition, d);
    Long levelBefore = level(definitionBefore, d);
    if (d.refills() && level != null && !level.equals(levelBefore)) {
      return Bucket.at(level);
    }
    if (!d.refills() && bucket == null) {
      // Limited anew: who is open now holds a slot, whether it was limited at the grant or not.
      LeaseApplier.takeSlots(key, quota);
      return Bucket.at(levelOrFull(quota, d) - quota.reserved.get(d));
    }
    if (bucket == null) {
      // Limited anew: open leases may still hold some of it from when it was limited before.
      return Bucket.at(levelOrFull(quota, d)).charge(quota.reserved.get(d));
    }
    if (!d.refills()) {
      // What open calls hold stays taken, whatever level is named.
      return bucket.charge(
          slots(levelBefore, before.limits().get(d)) - slots(level, quota.limit(d)));
    }
    return Buckets.following(quota, d, capBefore);
  }

  private static long levelOrFull(QuotaState quota, Dimension d) {
    Long level = level(quota.definition, d);
    if (!d.refills()) {
      return slots(level, quota.cap(d));
    }
    return level != null ? level : quota.cap(d);
  }

  private static Long level(QuotaDefinition definition, Dimension d) {
    return definition.level() == null ? null : definition.level().orNull(d);
  }

  /** A level of slots is how many there are: others, whom nobody tells of, hold the rest. */
  private static long slots(Long level, long limit) {
    return level == null ? limit : Math.min(level, limit);
  }
}
