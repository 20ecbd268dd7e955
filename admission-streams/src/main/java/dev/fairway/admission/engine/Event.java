package dev.fairway.admission.engine;

import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.alert.AlertKind;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Told;
import dev.fairway.admission.engine.state.Taken;
import dev.fairway.admission.engine.state.Waiter;
import java.util.List;
import java.util.Map;

/**
 * What happened. Past tense, immutable, and complete: applying it needs the state and the command's
 * time, and decides nothing. Times are the coordinator's epoch milliseconds.
 */
public sealed interface Event {

  /** Quota concerned. */
  String quotaId();

  /** An answer that an agent is told. */
  sealed interface Decision extends Event {
    String requestId();

    String agentId();

    /** As the request had it, or null. */
    OpaqueBytes correlation();
  }

  /**
   * A quota took effect.
   *
   * @param salt salt of the key's lease ids if this set it, else null
   * @param notEnforced knobs given that this version of the engine does not act on
   */
  record QuotaDefined(QuotaDefinition definition, String salt, List<String> notEnforced)
      implements Event {
    @Override
    public String quotaId() {
      return definition.id();
    }
  }

  /** A quota is gone. */
  record QuotaRemoved(String quotaId) implements Event {}

  /**
   * A request is in line; emitted also where it is granted in the same command.
   *
   * @param retries identity of the failed call that it retries, where that is remembered, or null
   */
  record LeaseEnqueued(Waiter waiter, String retries) implements Event {
    @Override
    public String quotaId() {
      return waiter.request().quotaId();
    }
  }

  /** By which rule a request was granted. */
  enum Lane {
    /** It was its turn. */
    IN_ORDER,
    /** Its class's reserve paid; who is ahead waits for other tokens. */
    RESERVE,
    /** It is small, and may pass a head that waits for tokens. */
    BACKFILL_SMALL,
    /** It takes little of what the head waits for. */
    BACKFILL_OTHER,
    /**
     * The breaker is open, and it was refused less often than who is first in line, or that one
     * gave a probe back.
     */
    PROBE
  }

  /**
   * What a grant means for the order.
   *
   * @param lane by which rule
   * @param tenant tenant that it was served under
   * @param leaseClass class that it was served as
   * @param passedAgentId agent of the head that was passed by backfill, or null
   * @param passedRequestId request of that head, or null
   * @param topVirtualTime virtual time of the quota's upper level after the grant
   * @param tenantTag start tag of the tenant after the grant; 0 in a quota without tenants
   */
  record Order(
      Lane lane,
      String tenant,
      String leaseClass,
      String passedAgentId,
      String passedRequestId,
      long topVirtualTime,
      long tenantTag) {}

  /**
   * A lease was granted.
   *
   * @param charged what was taken, per limited dimension
   * @param coldCache whether the cached prefix was charged
   * @param virtualTime virtual time among the agents of its tenant after the grant
   * @param order what it means for the order
   * @param taken what it took besides {@code charged}
   */
  record LeaseGranted(
      String quotaId,
      String requestId,
      String agentId,
      String leaseId,
      int attempt,
      Amounts charged,
      boolean coldCache,
      long grantedAtMs,
      long expiresAtMs,
      long virtualTime,
      OpaqueBytes correlation,
      Order order,
      Taken taken)
      implements Decision {}

  /**
   * A request waits. {@code position} from 1; {@code etaP90Ms} is null while it is not learned,
   * {@code waitsFor} where nothing can be named, and in journals of versions that did not tell it.
   */
  record LeaseQueued(
      String quotaId,
      String requestId,
      String agentId,
      int position,
      long etaMs,
      Long etaP90Ms,
      WaitsFor waitsFor,
      OpaqueBytes correlation)
      implements Decision {

    /** As journals of versions have it that did not tell what is waited for. */
    public LeaseQueued withoutWaitsFor() {
      return new LeaseQueued(
          quotaId, requestId, agentId, position, etaMs, etaP90Ms, null, correlation);
    }
  }

  /** A waiting request's ETA moved by more than a quarter; the same fields. */
  record EtaRevised(
      String quotaId,
      String requestId,
      String agentId,
      int position,
      long etaMs,
      Long etaP90Ms,
      WaitsFor waitsFor,
      OpaqueBytes correlation)
      implements Decision {

    /** As journals of versions have it that did not tell what is waited for. */
    public EtaRevised withoutWaitsFor() {
      return new EtaRevised(
          quotaId, requestId, agentId, position, etaMs, etaP90Ms, null, correlation);
    }
  }

  /**
   * A request was rejected; nothing was taken.
   *
   * @param detail what was expected, what was found, what to do
   * @param retryAtMs when to come back, or null for never or unknown
   * @param keptTag start tag kept for a retry, or null
   * @param contentHash hash of the request, or null if it is not remembered
   * @param attempt which attempt of its call it was
   * @param budgetTask task whose retry budget it would have been counted in, or null
   * @param tenant tenant in which its start tag is kept, or null where none is
   */
  record LeaseRejected(
      String quotaId,
      String requestId,
      String agentId,
      RejectReason reason,
      String detail,
      Long retryAtMs,
      Long keptTag,
      String contentHash,
      OpaqueBytes correlation,
      int attempt,
      String budgetTask,
      String tenant)
      implements Decision {}

  /** The same request again: its current decision once more. Changes nothing. */
  record DecisionRepeated(Decision decision) implements Event {
    @Override
    public String quotaId() {
      return decision.quotaId();
    }
  }

  /**
   * What a settlement moves besides the buckets of the lease's own quota and its agent's tag.
   *
   * @param also adjustments by quota id, of the other quotas that the lease took from
   * @param reserve adjustment of the reserve of its class
   * @param ceiling adjustment of its tenant's own bucket
   * @param tenantTag shift of its tenant's tag, in tag units
   */
  record Shift(Map<String, Amounts> also, Amounts reserve, Amounts ceiling, long tenantTag) {
    /** Nothing. */
    public static final Shift NONE = new Shift(Map.of(), Amounts.NONE, Amounts.NONE, 0);
  }

  /**
   * An open lease lives on.
   *
   * @param adjusted positive: refunded; negative: charged
   * @param told what interim settlements have told of the call by now
   * @param sendDelayMs grant to send, or null where no signal told it
   * @param shift what it moves elsewhere
   * @param tagShift what moves the finish tag of the agent's flow, in tag units
   * @param cost what the call costs in the fair queue by what is known now, or null: as before
   */
  record LeaseRenewed(
      String quotaId,
      String requestId,
      String agentId,
      String leaseId,
      Amounts adjusted,
      Told told,
      long expiresAtMs,
      Long sendDelayMs,
      Shift shift,
      long tagShift,
      Long cost)
      implements Event {}

  /**
   * A lease ended by settlement.
   *
   * @param actual what counts against the quota
   * @param adjusted positive: refunded; negative: charged
   * @param tagShift what the actual cost moves the finish tag of the agent's flow, in tag units
   * @param late whether it had expired before
   * @param sendDelayMs grant to send, or null where no signal told it
   * @param usedInput input tokens that counted, or null where nothing is to be learned from it
   * @param usedOutput output tokens produced, or null likewise
   * @param shift what it moves elsewhere
   */
  record LeaseSettled(
      String quotaId,
      String requestId,
      String agentId,
      String leaseId,
      Outcome outcome,
      Amounts actual,
      Amounts adjusted,
      long tagShift,
      boolean late,
      Long sendDelayMs,
      Long usedInput,
      Long usedOutput,
      Shift shift)
      implements Event {}

  /**
   * A request left the queue by its agent's wish; {@code wasWaiting} false: it had not arrived yet.
   */
  record LeaseCancelled(String quotaId, String requestId, String agentId, boolean wasWaiting)
      implements Event {}

  /** A request that had been cancelled before it arrived. */
  record RequestIgnored(String quotaId, String requestId, String agentId) implements Event {}

  /**
   * A lease was reaped; nothing is refunded. What it was told to have produced beyond what was
   * reserved is charged, and to the parts of its quota what calls usually take, where nobody told:
   * no amount is positive.
   *
   * @param tagShift what moves the finish tag of the agent's flow, in tag units
   * @param cost what the call costs in the fair queue, told nothing, or null: as before
   * @param adjusted adjustment of its own quota's buckets
   * @param shift what it moves elsewhere
   */
  record LeaseExpired(
      String quotaId,
      String requestId,
      String agentId,
      String leaseId,
      long tagShift,
      Long cost,
      Amounts adjusted,
      Shift shift)
      implements Event {}

  /**
   * A call made without a lease was charged.
   *
   * @param also charges by quota id, in other quotas
   * @param tenant tenant of the agent, or null where no tag moves
   * @param tagShift what moves the finish tag of the agent's flow, in tag units
   * @param tenantTag what moves the tag of its tenant, in tag units
   * @param ceiling what is charged to its tenant's own bucket
   * @param sentAtMs when it was sent, epoch milliseconds, or null if its report does not tell
   * @param refused whether its report tells of a 429
   */
  record UnleasedCharged(
      String quotaId,
      String requestId,
      String agentId,
      Amounts charged,
      Map<String, Amounts> also,
      String tenant,
      long tagShift,
      long tenantTag,
      Amounts ceiling,
      Long sentAtMs,
      boolean refused)
      implements Event {}

  /** Why a waiting request weighs something else now. */
  enum Reweighting {
    /** Other tasks wait for its task than before. */
    TASKS,
    /** What it has cached will soon be gone. */
    CACHE
  }

  /** A waiting request weighs something else; its start stays, and its finish follows. */
  record WaiterReweighted(
      String quotaId,
      String requestId,
      String agentId,
      Reweighting reason,
      int weightMilli,
      long finishTag)
      implements Event {}

  /**
   * An orchestrator told where a task stands.
   *
   * @param quotaId quota that the update named, or the key
   * @param role role that works on it, or null
   * @param blockedOn what is kept of the tasks that it waits for
   */
  record TaskUpdated(
      String quotaId, String taskId, String role, TaskUpdate.State state, List<String> blockedOn)
      implements Event {}

  /** A final settlement of a lease that is settled. Ids may be null where unknown. */
  record DuplicateIgnored(String quotaId, String requestId, String agentId, String leaseId)
      implements Event {}

  /** A settlement that changes nothing, and why. Ids may be null where unknown. */
  record SettlementIgnored(
      String quotaId, String requestId, String agentId, String leaseId, String reason)
      implements Event {}

  /** The margin shrank after a 429; basis points. */
  record MarginCut(String quotaId, int fromBp, int toBp) implements Event {}

  /** The margin recovered by one step; basis points. */
  record MarginRestored(String quotaId, int fromBp, int toBp) implements Event {}

  /** Another margin mode is in force for a dimension. */
  record MarginModeChanged(
      String quotaId, Dimension dimension, MarginModeName from, MarginModeName to)
      implements Event {}

  /** ADAPTIVE keeps more, or less, of what is uncertain free; standard deviations, thousandths. */
  record SafetyFactorChanged(String quotaId, int fromMilli, int toMilli) implements Event {}

  /**
   * Whether an agent's word for what it has cached is taken from now on: no longer after a call
   * that did not read it, and again after one that did.
   */
  record CacheClaimChecked(String quotaId, String agentId, boolean believed) implements Event {}

  /** Something that people should know of. */
  record AlertRaised(String quotaId, AlertKind kind, String subject, String detail)
      implements Event {}

  /** It is over. */
  record AlertCleared(String quotaId, AlertKind kind, String subject) implements Event {}

  /** Why a quota grants nothing for a while. */
  enum HoldReason {
    RATE_LIMITED,
    OVERLOADED,
    QUOTA_EXHAUSTED,
    BILLING
  }

  /** The quota grants nothing until then; null: until an operator clears it. */
  record QuotaHeld(String quotaId, HoldReason reason, Long untilMs) implements Event {}

  /** An operator ended a hold. */
  record QuotaReleased(String quotaId) implements Event {}

  /**
   * One dimension of a resync: the provider's level lies between {@code low} and {@code high}.
   *
   * @param low null where the provider's limit is above the quota's own: its number is a bound from
   *     above then, and says nothing of what is left of a smaller limit
   * @param outsideMilli what others take from now on, thousandths of a token per minute, or null
   *     where that was not sampled
   */
  record Resync(
      Dimension dimension, long before, Long low, long high, long after, Long outsideMilli) {}

  /**
   * Balances were set by the provider's own numbers.
   *
   * @param leaseId lease whose signal it was, or null
   * @param sentAtMs when that call was sent
   * @param answeredAtMs when the provider told its numbers
   */
  record BucketsResynced(
      String quotaId, String leaseId, long sentAtMs, long answeredAtMs, List<Resync> dimensions)
      implements Event {}

  /** The provider told when its window is reset. */
  record ResetLearned(String quotaId, Dimension dimension, long resetAtMs) implements Event {}

  /** The provider named a lower limit than the operator, or the same one again a while later. */
  record LimitLearned(String quotaId, Dimension dimension, long limitPerMinute) implements Event {}

  /** No answer has named a learned limit for a while: the operator's is in force again. */
  record LimitForgotten(String quotaId, Dimension dimension) implements Event {}

  /** A 429 that counts: another one soon opens the breaker. */
  record RefusalCounted(String quotaId, String leaseId) implements Event {}

  /** Why a breaker waits for its next probe. */
  enum BreakerCause {
    /** Two 429s in a row opened it. */
    REFUSALS,
    /** The probe was answered 429, too. */
    PROBE_REFUSED,
    /** The probe was not sent, or says nothing. */
    PROBE_NOT_SENT,
    /** The probe was not answered in time. */
    PROBE_SILENT
  }

  /**
   * The breaker is open: nothing is granted, and one probe at that time.
   *
   * @param failures waits of this episode that ended in another 429
   */
  record BreakerOpened(String quotaId, BreakerCause cause, int failures, long probeAtMs)
      implements Event {}

  /** A lease was granted as the breaker's probe; it hands its place on at that time. */
  record BreakerHalfOpen(String quotaId, String leaseId, long probeUntilMs) implements Event {}

  /**
   * Grants go out again.
   *
   * @param leaseId the call that the provider took, or null: an operator cleared the quota, or too
   *     many probes told nothing
   * @param trickleFromMs where too many probes told nothing, from when on grants trickle; else null
   */
  record BreakerClosed(String quotaId, String leaseId, Long trickleFromMs) implements Event {}

  /** Grants are paced from then on, at half the rate at first. */
  record RampStarted(String quotaId, long fromMs) implements Event {}

  /** The pace of grants is the rate again. */
  record RampEnded(String quotaId) implements Event {}

  /**
   * What an agent that was told a decision may use alone if the coordinator falls silent.
   *
   * @param agentId agent; on an {@code also} quota {@code QUOTA AGENT}: what the agent holds of it
   *     by asking for that quota
   * @param part share of {@code floor x limit}, in parts of {@link
   *     dev.fairway.admission.engine.capacity.Share#WHOLE}
   * @param perMinute that share per dimension that refills, and no more than the agent's share of
   *     any {@code also} quota
   * @param validUntilMs until when the agent may use it
   * @param countedUntilMs until when it counts as given away
   */
  record SafeCapacityTold(
      String quotaId,
      String agentId,
      long part,
      Amounts perMinute,
      long validUntilMs,
      long countedUntilMs)
      implements Event {}
}
