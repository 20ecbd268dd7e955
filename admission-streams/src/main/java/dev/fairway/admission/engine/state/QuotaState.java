package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.OrderPolicy;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.QuotaPolicy;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.alert.Traffic;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Bucket;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.bucket.FixedWindow;
import dev.fairway.admission.engine.capacity.Share;
import dev.fairway.admission.engine.margin.MarginMode;
import dev.fairway.admission.engine.margin.ModeChange;
import dev.fairway.admission.engine.margin.Need;
import dev.fairway.admission.engine.margin.OutsideRate;
import dev.fairway.admission.engine.margin.Overfill;
import dev.fairway.admission.engine.queue.AdmissionOrder;
import dev.fairway.admission.engine.state.DueIndex.Due;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * State of one quota. Everybody may read it; only this package changes it, and of this package only
 * {@link Applier} and {@link RowLoader} do.
 */
public final class QuotaState {
  /** How long after its grant a lease can matter to a resync. */
  public static final long RESYNC_WINDOW_MS = 60_000;

  final Bucket[] buckets = new Bucket[Dimension.count()];
  final Long[] learnedLimits = new Long[Dimension.count()];
  final Long[] learnedAtMs = new Long[Dimension.count()];
  final Long[] absorbedBeforeMs = new Long[Dimension.count()];
  final MarginModeName[] modes = new MarginModeName[Dimension.count()];
  final OutsideRate[] outside = new OutsideRate[Dimension.count()];
  final Long[] answeredAtMs = new Long[Dimension.count()];
  final Long[] resetAtMs = new Long[Dimension.count()];
  final Uncertain uncertainInput = new Uncertain(Dimension.INPUT_TOKENS);
  final Uncertain uncertainTokens = new Uncertain(Dimension.TOKENS);
  final LastMinute lastMinute = new LastMinute(this);
  final Statistics statistics = new Statistics();
  final AlertBook alerts = new AlertBook();
  final ServiceOrder order = new ServiceOrder(this);
  final TreeMap<String, TenantState> tenants = new TreeMap<>();
  final Reserves reserves = new Reserves(this);
  final CallWindow calls = new CallWindow();
  final Map<String, Integer> waitingPerAgent = new HashMap<>();
  final Map<String, Lease> leases = new HashMap<>();
  final Shares shares = new Shares();
  final DueIndex expiries = new DueIndex();
  final DueIndex sweeps = new DueIndex();
  final DueIndex sent = new DueIndex();
  final DueIndex deadlines = new DueIndex();
  final DueIndex arrivalTimes = new DueIndex();

  QuotaDefinition definition;
  QuotaPolicy policy;
  boolean removed;
  long refilledAtMs;
  int marginBp;
  Long lastCutAtMs;
  Long restoreFromMs;
  Long holdUntilMs;
  HoldReason holdReason;
  int overloads;
  int waiting;
  int heldByOthers;

  /** Virtual time among the tenants; not used while there are none. */
  long topVirtualTime;

  long arrivals;
  long sendDelayMeanUs;
  long sendDelayMaxMs;
  Long lastSignalSentAtMs;
  int zMilli = Need.START_Z_MILLI;
  Long zFallsFromMs;
  Long floorSinceMs;
  BreakerState breaker = BreakerState.NONE;
  Traffic traffic = Traffic.NONE;
  Amounts reserved = Amounts.NONE;
  int open;

  /** Calls without a lease that are kept. */
  int unleased;

  private final KeyState key;

  QuotaState(KeyState key) {
    this.key = key;
    Arrays.fill(outside, OutsideRate.NONE);
  }

  /** Its id, {@code key/name}. */
  public String id() {
    return definition.id();
  }

  /** As it was defined last; never null. */
  public QuotaDefinition definition() {
    return definition;
  }

  /** What its definition resolves to: no knob is null for want of being named. */
  public QuotaPolicy policy() {
    return policy;
  }

  /** Whether it was removed and only lives on for who still waits or holds a lease. */
  public boolean removed() {
    return removed;
  }

  /** Share of the limit that is used, in basis points, from the floor to the start. */
  public int marginBp() {
    return marginBp;
  }

  /** Margin mode in force for a limited dimension. */
  public MarginMode marginMode(Dimension d) {
    return MarginMode.of(modes[d.ordinal()]);
  }

  /** Whether a limited dimension that refills is in that mode. */
  public boolean anyIn(MarginModeName mode) {
    for (int i = 0; i < Dimension.count(); i++) {
      if (modes[i] == mode && limits(Dimension.of(i)) && Dimension.of(i).refills()) {
        return true;
      }
    }
    return false;
  }

  /** When the provider last told its level, or null. */
  public Long answeredAtMs(Dimension d) {
    return answeredAtMs[d.ordinal()];
  }

  /** A reset of the provider's window as it told it, or null. */
  public Long resetAtMs(Dimension d) {
    return resetAtMs[d.ordinal()];
  }

  /** What others take of a limit, as far as it is learned. */
  public OutsideRate outside(Dimension d) {
    return outside[d.ordinal()];
  }

  /** Safety factor of ADAPTIVE, thousandths. */
  public int zMilli() {
    return zMilli;
  }

  /** When the safety factor falls by one step, or {@link Long#MAX_VALUE}. */
  public long zFallDueMs() {
    return zFallsFromMs == null ? Long.MAX_VALUE : zFallsFromMs + Need.CLEAN_MS;
  }

  /** Since when the margin lies at its floor, or null. */
  public Long floorSinceMs() {
    return floorSinceMs;
  }

  /** What is learned of its calls. */
  public Statistics statistics() {
    return statistics;
  }

  /** Alerts that are raised. */
  public AlertBook alerts() {
    return alerts;
  }

  /** Time of the last cut, or null. */
  public Long lastCutAtMs() {
    return lastCutAtMs;
  }

  /** When the margin recovers by one step, or {@link Long#MAX_VALUE}: never by steps of nothing. */
  public long restoreDueMs() {
    return restoreFromMs == null || policy.marginCreepBp() == 0
        ? Long.MAX_VALUE
        : restoreFromMs + policy.cleanIntervalMs();
  }

  /** Why nothing is granted at that time, or null. */
  public HoldReason holdReason(long atMs) {
    return holdReason != null && (holdUntilMs == null || holdUntilMs > atMs) ? holdReason : null;
  }

  /** Whether the provider refuses the quota, or the key, for longer than anybody waits. */
  public boolean isExhausted(long atMs) {
    HoldReason hold = holdReason(atMs);
    return hold == HoldReason.QUOTA_EXHAUSTED
        || hold == HoldReason.BILLING
        || isLongPause(hold, atMs);
  }

  private boolean isLongPause(HoldReason hold, long atMs) {
    return hold == HoldReason.OVERLOADED
        && holdUntilMs != null
        && holdUntilMs - atMs > policy.maxQueueWaitMs();
  }

  /** End of the hold, null for one that waits for an operator; ask {@link #holdReason} first. */
  public Long holdUntilMs() {
    return holdUntilMs;
  }

  /** What calls came to, in windows, at that time. */
  public Traffic traffic(long atMs) {
    return traffic.at(atMs, arrivals, statistics.pool().calls());
  }

  /** What 429s and overloads left behind. */
  public BreakerState breaker() {
    return breaker;
  }

  /** OVERLOADED answers since the last success. */
  public int overloads() {
    return overloads;
  }

  /** Virtual time of its upper level: among the tenants, or without them among the agents. */
  public long virtualTime() {
    return policy.order().hasTenants()
        ? topVirtualTime
        : tenant(OrderPolicy.DEFAULT_TENANT).virtualTime;
  }

  /** The tenant of that name; there is one for each that is defined, and the default. */
  public TenantState tenant(String name) {
    return tenants.get(name);
  }

  /** The tenant that the agent's requests of late claimed, or null if its id alone tells it. */
  public String claimedTenant(String agentId) {
    String claimed = null;
    long latestMs = key.nowMs;
    for (TenantState tenant : tenants.values()) {
      long untilMs = tenant.flows.keptUntilMs(agentId);
      if (untilMs > latestMs) {
        claimed = tenant.name;
        latestMs = untilMs;
      }
    }
    return claimed;
  }

  /** What classes keep for themselves. */
  public Reserves reserves() {
    return reserves;
  }

  /** What calls took within the last minute, where the provider adds up exactly that. */
  public LastMinute lastMinute() {
    return lastMinute;
  }

  /** The quotas that a lease of this one takes from too; null where one is not defined. */
  public List<QuotaState> also() {
    return key.alsoOf(this);
  }

  /** Those of them whose limits are known, be one removed by now. */
  public List<QuotaState> alsoKnown() {
    return key.knownAlsoOf(this);
  }

  /**
   * Whether it takes from others too, or others take from it: all of those are drained in one
   * order, in which costs and tags count shares of a minute.
   */
  public boolean inSharedOrder() {
    return !policy.order().also().isEmpty() || key.isTakenFrom(this);
  }

  /** Whether anybody waits here or in a quota that is drained together with this one. */
  public boolean isWanted() {
    return key.sharing(this).stream().anyMatch(each -> each.waiting > 0);
  }

  /** Whether its leases may count in the last minute of another quota. */
  boolean takesFromOthers() {
    return !policy.order().also().isEmpty();
  }

  /**
   * Where an agent's next request starts in a tenant. In a quota of one level that takes from
   * others too, never behind the virtual time of those.
   */
  public long startTag(String tenant, String agentId) {
    long own = tenant(tenant).startTag(agentId);
    return policy.order().hasTenants() ? own : Math.max(own, SharedOrder.virtualTime(key, this));
  }

  /**
   * The place that is kept for a request that is rejected now: no later than where it stands, and
   * where it would start now if its agent had nothing else. What the agent was served, owes or has
   * in line counts when it comes back, in whatever order it does, and not twice. Without strict
   * places it is kept where it stands.
   */
  public long keptTag(String tenant, long startTag) {
    if (!policy.rules().has(Rule.STRICT_PLACES)) {
      return startTag;
    }
    long own = tenant(tenant).virtualTime();
    long now =
        policy.order().hasTenants() ? own : Math.max(own, SharedOrder.virtualTime(key, this));
    return Math.min(startTag, now);
  }

  /** Where a tenant starts whose first request comes now. */
  long startOf(TenantState tenant) {
    return Math.max(tenant.tag, Math.max(topVirtualTime, SharedOrder.virtualTime(key, this)));
  }

  /** Calls and retries lately. */
  public CallWindow calls() {
    return calls;
  }

  /** Arrival number that the next request gets. */
  public long nextArrival() {
    return arrivals;
  }

  /** Mean time from grant to send, milliseconds. */
  public long sendDelayMeanMs() {
    return sendDelayMeanUs / 1000;
  }

  /** How far a send may lie from the mean, milliseconds. */
  public long sendDelaySpreadMs() {
    return Math.max(0, sendDelayMaxMs - sendDelayMeanMs());
  }

  /** Send time of the newest signal applied, or null. */
  public Long lastSignalSentAtMs() {
    return lastSignalSentAtMs;
  }

  /** Whether it is defined with a limit for that dimension. */
  public boolean limits(Dimension d) {
    return policy.limits().has(d);
  }

  /** Limit in force: the operator's, or a lower one that the provider named. */
  public long limit(Dimension d) {
    Long learned = learnedLimits[d.ordinal()];
    long configured = policy.limits().get(d);
    return learned == null ? configured : Math.min(learned, configured);
  }

  /** Since when a limit below the operator's is in force, or last confirmed; null if none is. */
  public Long learnedSinceMs(Dimension d) {
    return limit(d) < policy.limits().get(d) ? learnedAtMs[d.ordinal()] : null;
  }

  /** Depth at the limit in force, in tokens, requests or slots; the dimension must be limited. */
  public long depth(Dimension d) {
    return policy.depth(d, limit(d));
  }

  /** Highest balance that refill and refund reach. */
  public long cap(Dimension d) {
    return cap(d, marginBp);
  }

  /** The same at another margin. */
  long cap(Dimension d, int atMarginBp) {
    return cap(policy, d, limit(d), atMarginBp);
  }

  /** The same under another policy, at another limit; the mode is the one in force. */
  long cap(QuotaPolicy other, Dimension d, long limit, int atMarginBp) {
    return capOfMode(d, other.depth(d, limit), atMarginBp)
        + Overfill.of(other, d, modes[d.ordinal()], limit);
  }

  private long capOfMode(Dimension d, long depth, int atMarginBp) {
    return d.refills() ? marginMode(d).cap(depth, atMarginBp) : depth;
  }

  /** Highest usable balance that a bucket as deep as its depth has. */
  public long usableCap(Dimension d) {
    return d.refills()
        ? marginMode(d).usable(d, capOfMode(d, depth(d), marginBp), depth(d), marginBp)
        : depth(d);
  }

  /** Highest usable balance that there can be: where a full bucket goes on counting, above that. */
  public long highestUsable(Dimension d) {
    return d.refills() ? marginMode(d).usable(d, cap(d), depth(d), marginBp) : depth(d);
  }

  /** Largest charge that can ever fit: above it a request is rejected for good. */
  public long largest(Dimension d) {
    return Math.max(limit(d), depth(d));
  }

  /** The same by the operator's own limit, whatever the provider named. */
  public long largestDefined(Dimension d) {
    long limit = policy.limits().get(d);
    return Math.max(limit, policy.depth(d, limit));
  }

  /** Refill of a limited dimension; of a provider that refills at resets, its mean. */
  public long unitsPerMs(Dimension d) {
    return unitsPerMs(d, outsideMilli(d));
  }

  /** What others take of a limit as of now, thousandths a minute; nothing once it is forgotten. */
  public long outsideMilli(Dimension d) {
    return key.nowMs < outsideUntilMs(d) ? outside(d).perMinuteMilli() : 0;
  }

  /** Until when what others take counts, if no header comes meanwhile. */
  long outsideUntilMs(Dimension d) {
    return outside(d).knownUntilMs(answeredAtMs(d));
  }

  /** The same as if nobody outside took anything. */
  long unitsPerMsAlone(Dimension d) {
    return unitsPerMs(d, 0);
  }

  /** The same as if others took so much, thousandths a minute. */
  long unitsPerMs(Dimension d, long outsideMilli) {
    int rateBp = policy.rateBp(d, limit(d));
    return marginMode(d).unitsPerMs(limit(d), rateBp, marginBp, outsideMilli);
  }

  /** The bucket with its refill up to that time. */
  public Bucket bucketAt(Dimension d, long atMs) {
    return RefillTimes.bucketAt(this, d, atMs);
  }

  /** Any one reset of the provider's window, or null where it refills bit by bit. */
  public Long resetPhaseMs(Dimension d) {
    if (policy.window() != Window.FIXED) {
      return null;
    }
    Long reset = resetAtMs[d.ordinal()];
    return reset == null ? (Long) 0L : reset;
  }

  /** The first time from that one on that no limited dimension has just been reset at. */
  public long afterResetsMs(long atMs) {
    return RefillTimes.afterResetsMs(this, atMs);
  }

  /** Usable balance at that time. */
  public long usable(Dimension d, long atMs) {
    return usable(d, bucketAt(d, atMs));
  }

  /** What of a bucket's balance is usable. */
  long usable(Dimension d, Bucket bucket) {
    return d.refills()
        ? marginMode(d).usable(d, bucket.balance(), depth(d), marginBp)
        : bucket.balance();
  }

  /**
   * Usable balance at which a charge of a call of that role fits. One above the usable cap fits a
   * full bucket and leaves debt.
   */
  public long need(Dimension d, String role, Amounts charge) {
    long estimate = charge.get(d);
    if (!d.refills() || modes[d.ordinal()] != MarginModeName.ADAPTIVE) {
      return Math.min(estimate, usableCap(d));
    }
    switch (d) {
      case INPUT_TOKENS:
      case TOKENS:
        double sigma = statistics.sigma(role);
        if (cap(d) > depth(d)) {
          // A shallow bucket: a call as large as all of it waits until it was full for a while.
          long kept = Need.keptFree(estimate, sigma, zMilli, uncertain(d), needFloor(d));
          return Math.min(estimate + kept, cap(d));
        }
        return Need.tokens(estimate, sigma, zMilli, uncertain(d), needFloor(d), depth(d));
      case REQUESTS:
        // A call is one request, no more and no less; only those of others are unknown.
        return Math.min(Amounts.saturatedAdd(estimate, depth(d) / 16), usableCap(d));
      default:
        return Math.min(estimate, usableCap(d));
    }
  }

  /** What a full bucket keeps free of a dimension beside a call of the usual size. */
  public long keptFree(Dimension d) {
    boolean adaptive = modes[d.ordinal()] == MarginModeName.ADAPTIVE;
    if (adaptive && (d == Dimension.INPUT_TOKENS || d == Dimension.TOKENS)) {
      long usual = Math.min(depth(d), Math.round(statistics.meanInput()));
      long need = Need.tokens(usual, 0, zMilli, uncertain(d), needFloor(d), depth(d));
      return Math.max(0, need - usual);
    }
    return depth(d) - usableCap(d);
  }

  private double needFloor(Dimension d) {
    return Need.floor(statistics.meanInput(), depth(d));
  }

  long uncertain(Dimension d) {
    return d == Dimension.TOKENS ? uncertainTokens.squares() : uncertainInput.squares();
  }

  /**
   * Whether a call is in the provider's own number already, so that its settlement moves the
   * balance no further. Never for output: that counts as it is produced, after the number was told.
   */
  boolean absorbed(Dimension d, Lease lease) {
    Long before = absorbedBeforeMs[d.ordinal()];
    if (before == null || d == Dimension.OUTPUT_TOKENS) {
      return false;
    }
    return lease.sendKnown() || signalled(lease)
        ? lease.sentAtMs() <= before
        : lease.sentAtMs() + lease.sendGuardMs() < before;
  }

  /**
   * Whether what a call took came back already, all of it, when the provider's minute was over: a
   * refund would lift the balance of another minute. Only exact windows know of that.
   */
  private boolean cameBack(Dimension d, Lease lease) {
    Long resetAtMs = resetPhaseMs(d);
    return resetAtMs != null
        && limits(d)
        && policy.rules().has(Rule.EXACT_WINDOWS)
        && FixedWindow.resets(resetAtMs, lease.grantedAtMs(), key.nowMs) > 0;
  }

  /**
   * What of the difference between charge and use of a call moves the balance: nothing where the
   * provider's own number has the call already, and no refund of a minute that is over.
   *
   * @param difference charged less used
   */
  public long moves(Dimension d, Lease lease, long difference) {
    return absorbed(d, lease) || (difference > 0 && cameBack(d, lease)) ? 0 : difference;
  }

  /** A lease of another quota, that takes from this one too, has its signals there. */
  private boolean signalled(Lease lease) {
    return lease.signalled() && lease.request().quotaId().equals(id());
  }

  /** Who waits, in order of service. */
  public AdmissionOrder order() {
    return order;
  }

  /** How many requests of an agent wait. */
  public int waitingOf(String agentId) {
    return waitingPerAgent.getOrDefault(agentId, 0);
  }

  /** The lease, in whatever status, or null if unknown or forgotten. */
  public Lease lease(String leaseId) {
    return leases.get(leaseId);
  }

  /** Leases not yet forgotten, in no order. */
  public Collection<Lease> leases() {
    return leases.values();
  }

  /** What an agent was told that it may use alone, or null if nothing or no longer. */
  public Share share(String agentId) {
    return shares.of(agentId);
  }

  /** Agents that may use a share alone: those that were told a decision lately. */
  public int agentsWithShare() {
    return shares.size();
  }

  /** What of {@link Share#WHOLE} nobody may use alone. */
  public long freeShare() {
    return shares.free();
  }

  /** How many leases are neither settled nor expired. */
  public int openLeases() {
    return open;
  }

  /** Sum of what open leases hold. */
  public Amounts reserved() {
    return reserved;
  }

  /** When the next lease expires, or {@link Long#MAX_VALUE}. */
  public long nextExpiryMs() {
    return expiries.firstMs();
  }

  /** The lease that expires next; there must be one. */
  public Lease nextToExpire() {
    return leases.get(expiries.firstName());
  }

  /** When the next waiter's deadline passes, or {@link Long#MAX_VALUE}. */
  public long nextWaiterDeadlineMs() {
    return deadlines.firstMs();
  }

  /** Request identity of the waiter whose deadline is next; there must be one. */
  public String nextWaiterAtDeadline() {
    return deadlines.firstName();
  }

  /** When the longest waiting request was enqueued, or null. */
  public Long oldestEnqueuedAtMs() {
    return arrivalTimes.size() == 0 ? null : arrivalTimes.firstMs();
  }

  /**
   * Visits what calls hold of this quota, its own and those of quotas that take from it too, that
   * were granted or settled lately and sent from then on, or may have been.
   */
  public void forEachSentFrom(long atMs, BiConsumer<Lease, Amounts> visitor) {
    for (Due due : sent.from(atMs - sendDelaySpreadMs())) {
      Lease lease = leases.get(due.name());
      visitor.accept(lease, lease.charged());
    }
    for (QuotaState taker : key.takersOf(this)) {
      for (Due due : taker.sent.from(atMs - taker.sendDelaySpreadMs())) {
        Lease lease = taker.leases.get(due.name());
        Amounts held = lease.taken().also().get(id());
        if (held != null) {
          visitor.accept(lease, held);
        }
      }
    }
  }

  /**
   * Milliseconds from that time until the bucket holds that much if nothing else happens; 0 if it
   * does. What others take is forgotten meanwhile where no header tells of it.
   */
  public long msUntil(Dimension d, long amount, long atMs) {
    return RefillTimes.msUntil(this, d, amount, outsideUntilMs(d), atMs);
  }

  /** The same as is to be expected: while headers are fresh, others are taken to go on. */
  public long expectedMsUntil(Dimension d, long amount, long atMs) {
    Long answered = answeredAtMs(d);
    boolean fresh = answered != null && key.nowMs - answered < ModeChange.FRESH_MS;
    return RefillTimes.msUntil(this, d, amount, fresh ? Long.MAX_VALUE : outsideUntilMs(d), atMs);
  }

  /** The operator's limit is in force again. */
  void forgetLimit(Dimension d) {
    boolean learned = learnedLimits[d.ordinal()] != null;
    learnedLimits[d.ordinal()] = null;
    learnedAtMs[d.ordinal()] = learned ? (Long) key.nowMs : learnedAtMs[d.ordinal()];
  }

  /** Puts what a lease holds of this quota among what is uncertain, if it is. */
  void indexUncertain(Lease lease, Amounts held) {
    boolean told = signalled(lease);
    uncertainInput.add(lease, held, told, absorbedBeforeMs[Dimension.INPUT_TOKENS.ordinal()]);
    uncertainTokens.add(lease, held, told, absorbedBeforeMs[Dimension.TOKENS.ordinal()]);
  }

  void unindexUncertain(String leaseId) {
    uncertainInput.remove(leaseId);
    uncertainTokens.remove(leaseId);
  }
}
