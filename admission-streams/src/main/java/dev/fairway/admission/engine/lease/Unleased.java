package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.queue.Tags;
import dev.fairway.admission.engine.queue.Weights;
import dev.fairway.admission.engine.state.QuotaState;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * A call that was made without a lease. It is charged, and with strict reports to its tenant's
 * ceiling too, and it moves its agent's tag like any other call, where others wait for any of what
 * it takes from: to give a lease back and make the call all the same gains nothing. What nobody
 * waited for costs no place, as with leases. Nobody tells its role, so it weighs the least. One
 * that was refused took nothing, as with leases.
 */
public final class Unleased {

  private Unleased() {}

  /**
   * Under what it is remembered, so that the same report counts once. With strict reports that is
   * apart from requests: that one of the same id is known does not mean that the call was charged.
   */
  public static String identity(QuotaState quota, String agentId, String requestId) {
    return quota.policy().rules().has(Rule.STRICT_REPORTS)
        ? Identity.ofUnleased(agentId, requestId)
        : Identity.ofRequest(agentId, requestId);
  }

  static UnleasedCharged charged(QuotaState quota, Settlement settlement, long atMs) {
    QuotaPolicy policy = quota.policy();
    Usage usage = settlement.usage();
    boolean strict = policy.rules().has(Rule.STRICT_REPORTS);
    long input =
        usage != null && usage.inputTokens() != null
            ? ActualUse.countedInput(policy, usage)
            : strict ? UntoldUse.unleasedInput(quota) : policy.defaultEstimate();
    long output = ActualUse.orZero(ActualUse.countedOutput(policy, usage));
    boolean refused = SettlementRules.isRefusal(policy, settlement);
    boolean free = refused && !Told.showsUse(settlement);
    UnaryOperator<Amounts> counted = used -> free ? ActualUse.ofRefusal(policy, used) : used;
    Amounts used = counted.apply(Charges.of(policy, input, output));
    Amounts charge = SettlementHandler.withoutSlot(taken(quota, used, atMs));
    String tenant = strict ? tenant(quota, settlement.agentId()) : null;
    boolean costs = strict && !free && quota.isWanted();
    long cost = costs ? Charges.cost(quota, used, input, output) : 0;
    boolean levels = strict && policy.order().hasTenants();
    boolean bounded = strict && quota.tenant(tenant).ceiling() != null;
    return new UnleasedCharged(
        quota.id(),
        settlement.requestId(),
        settlement.agentId(),
        charge,
        also(quota, counted.apply(Charges.everyDimension(input, output)), atMs),
        tenant,
        Tags.length(cost, Weights.leastMilli(policy)),
        levels ? quota.tenant(tenant).length(cost) : 0,
        bounded ? charge : Amounts.NONE,
        sentAtMs(settlement.signal(), atMs),
        refused);
  }

  /** The tenant that its agent has claimed lately, if that lets it in, or else that of its id. */
  private static String tenant(QuotaState quota, String agentId) {
    return Claims.tenantOf(quota.policy().order(), agentId, quota.claimedTenant(agentId));
  }

  private static Long sentAtMs(Signal signal, long atMs) {
    return signal == null || signal.msSinceSend() == null
        ? null
        : (Long) (atMs - signal.msSinceSend());
  }

  private static Amounts taken(QuotaState quota, Amounts used, long atMs) {
    return quota.policy().rules().has(Rule.STRICT_REPORTS)
        ? UsageBound.notTooDeep(quota, used, atMs)
        : used;
  }

  /** What it is charged in the other quotas. */
  private static Map<String, Amounts> also(QuotaState quota, Amounts used, long atMs) {
    Map<String, Amounts> also = new TreeMap<>();
    if (quota.also() != null) {
      for (Takes.Share share : Takes.also(quota, used)) {
        Amounts charge = taken(share.quota(), share.charge(), atMs);
        also.put(share.quota().id(), SettlementHandler.withoutSlot(charge));
      }
    }
    return also;
  }
}
