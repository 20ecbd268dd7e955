package dev.fairway.admission.engine.lease;

import dev.fairway.admission.engine.Event.UnleasedCharged;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.queue.Tags;
import dev.fairway.admission.engine.queue.Weights;
import dev.fairway.admission.engine.state.QuotaState;

/**
 * A call that was made without a lease. It is charged, and outside SEED moves its agent's tag like
 * any other call, where others wait: to give a lease back and make the call all the same gains
 * nothing. What nobody waited for costs no place, as with leases. Nobody tells its role, so it
 * weighs the least.
 */
final class Unleased {

  private Unleased() {}

  static UnleasedCharged charged(QuotaState quota, Settlement settlement, long input, long output) {
    Amounts charge = Charges.of(quota.policy(), input, output);
    boolean ranked = quota.policy().order().ranked();
    String tenant =
        ranked ? Claims.tenantOf(quota.policy().order(), settlement.agentId(), null) : null;
    boolean wanted = quota.order().size() > 0;
    long cost = ranked && wanted ? Charges.cost(quota.policy(), charge, input, output) : 0;
    boolean levels = ranked && quota.policy().order().hasTenants();
    return new UnleasedCharged(
        quota.id(),
        settlement.requestId(),
        settlement.agentId(),
        SettlementHandler.withoutSlot(charge),
        Shifts.unleased(quota, input, output),
        tenant,
        Tags.length(cost, Weights.leastMilli(quota.policy())),
        levels ? quota.tenant(tenant).length(cost) : 0);
  }
}
