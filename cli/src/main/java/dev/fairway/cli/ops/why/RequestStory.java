package dev.fairway.cli.ops.why;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.BreakerClosed;
import dev.fairway.schemas.BreakerHalfOpen;
import dev.fairway.schemas.BreakerOpened;
import dev.fairway.schemas.BucketsResynced;
import dev.fairway.schemas.DecisionRepeated;
import dev.fairway.schemas.DuplicateIgnored;
import dev.fairway.schemas.EtaRevised;
import dev.fairway.schemas.LeaseCancelled;
import dev.fairway.schemas.LeaseEnqueued;
import dev.fairway.schemas.LeaseExpired;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseQueued;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseRenewed;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.LimitForgotten;
import dev.fairway.schemas.LimitLearned;
import dev.fairway.schemas.MarginCut;
import dev.fairway.schemas.MarginRestored;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaDefined;
import dev.fairway.schemas.QuotaHeld;
import dev.fairway.schemas.QuotaReleased;
import dev.fairway.schemas.QuotaRemoved;
import dev.fairway.schemas.RampEnded;
import dev.fairway.schemas.RampStarted;
import dev.fairway.schemas.RefuseRequest;
import dev.fairway.schemas.RequestIgnored;
import dev.fairway.schemas.RequestLease;
import dev.fairway.schemas.SettleLease;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.SettlementIgnored;
import dev.fairway.schemas.UnleasedCharged;
import dev.fairway.schemas.WaiterRow;
import dev.fairway.schemas.WaitsFor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The story of one request out of the journal of its key: when it came, what it waited for, who was
 * served meanwhile and by which rule, and how it ended. Give it the journal in order with {@link
 * #accept}. Not thread-safe.
 */
public final class RequestStory {

  /** Entries kept; what comes after is only counted. */
  public static final int ENTRIES_MAX = 10_000;

  /** Quotas whose definition is kept; of more it is not said whether one is paused. */
  private static final int QUOTAS_MAX = 10_000;

  /** How often the request came again, and was told again what it had been told. */
  private record Repeats(long fromMs, long toMs, long arrivals, long answers) {
    static final Repeats NONE = new Repeats(0, 0, 0, 0);

    private boolean isNone() {
      return arrivals == 0 && answers == 0;
    }

    Repeats arrived(long atMs) {
      return new Repeats(isNone() ? atMs : fromMs, atMs, arrivals + 1, answers);
    }

    Repeats told(long atMs) {
      return new Repeats(isNone() ? atMs : fromMs, atMs, arrivals, answers + 1);
    }
  }

  private final String requestId;
  private final String agentId;
  private final Waiters waiters = new Waiters();
  private final List<StoryEntry> entries = new ArrayList<>();
  private long entriesDropped;
  private long servedMeanwhile;
  private String quota;
  private String agent;
  private WaiterRow waiting;
  private final Map<String, Quota> definitions = new HashMap<>();
  private Repeats repeats = Repeats.NONE;
  private int repeatsEntry = -1;
  private WaitsFor waitsFor;
  private Resyncs resyncs = new Resyncs();
  private int resyncsEntry = -1;
  private long arrivedAtMs;
  private String outcome = "unknown";

  /**
   * The story of a request id.
   *
   * @param agentId the agent that made it, or null for the first agent found with that id
   */
  public RequestStory(String requestId, String agentId) {
    this.requestId = requestId;
    this.agentId = agentId;
  }

  /**
   * Takes the next record of the journal; those of other keys are ignored once the request's key is
   * known.
   */
  public void accept(AdmissionEvent event) {
    if (event.getCommand() instanceof RequestLease command) {
      arrived(event, command.getRequest());
    } else if (event.getCommand() instanceof RefuseRequest command) {
      // Sent under a wrong record key: nothing is decided, and the agent is told so.
      arrived(event, command.getRequest());
    } else if (event.getCommand() instanceof SettleLease command) {
      if (!isFound()) {
        unleasedArrived(event, command.getSettlement());
      } else {
        settlementArrived(event, command);
      }
    }
    for (Object happened : event.getEvents()) {
      happened(event.getAtMs(), happened);
    }
  }

  /** Whether the request came by. */
  public boolean isFound() {
    return quota != null;
  }

  /** Quota of the request, or null before it was found. */
  public String quota() {
    return quota;
  }

  /** Agent of the request, or null before it was found. */
  public String agent() {
    return agent;
  }

  /** What happened, in order. */
  public List<StoryEntry> entries() {
    return List.copyOf(entries);
  }

  /** Entries beyond {@link #ENTRIES_MAX}. */
  public long entriesDropped() {
    return entriesDropped;
  }

  /** How many others were granted while this request waited. */
  public long servedMeanwhile() {
    return servedMeanwhile;
  }

  /**
   * How it ended, or how it stands: waiting, granted, settled, expired, rejected, cancelled or
   * unknown.
   */
  public String outcome() {
    return outcome;
  }

  private void arrived(AdmissionEvent event, LeaseRequest request) {
    if (!request.getRequestId().equals(requestId)
        || (agentId != null && !request.getAgentId().equals(agentId))) {
      return;
    }
    if (isFound()) {
      if (request.getAgentId().equals(agent)) {
        repeats = repeats.arrived(event.getAtMs());
        repeated();
      }
      return;
    }
    quota = request.getQuota();
    agent = request.getAgentId();
    arrivedAtMs = event.getAtMs();
    add(event.getAtMs(), "arrived", Phrases.arrival(request));
    // Who waits here already is ahead until the fair order says otherwise.
    waiters.keepOnly(quota);
  }

  /** A call without a lease has no request; its story begins with its settlement. */
  private void unleasedArrived(AdmissionEvent event, Settlement settlement) {
    if (settlement.getOutcome() != Outcome.UNLEASED
        || !requestId.equals(settlement.getRequestId())
        || (agentId != null && !agentId.equals(settlement.getAgentId()))) {
      return;
    }
    quota = settlement.getQuota();
    agent = settlement.getAgentId();
    arrivedAtMs = event.getAtMs();
    add(event.getAtMs(), "settlement", "reported by " + agent + " as a call without a lease");
    waiters.keepOnly(quota);
  }

  /** A refusal that is not remembered leaves what stands under the id as it is. */
  private void rejected(long atMs, LeaseRejected e) {
    if (e.getContentHash() == null && !outcome.equals("unknown")) {
      add(atMs, "refused", Phrases.rejection(e, atMs));
    } else {
      ended(atMs, "rejected", Phrases.rejection(e, atMs));
    }
  }

  private void settlementArrived(AdmissionEvent event, SettleLease command) {
    boolean itsOwn =
        requestId.equals(command.getSettlement().getRequestId())
            && agent.equals(command.getSettlement().getAgentId());
    if (itsOwn && event.getEvents().isEmpty()) {
      add(
          event.getAtMs(),
          "settlement",
          "a settlement arrived ("
              + command.getSettlement().getOutcome()
              + ") and changed nothing");
    }
  }

  private void happened(long atMs, Object event) {
    if (event instanceof QuotaDefined e && definitions.size() < QUOTAS_MAX) {
      definitions.put(e.getDefinition().getId(), e.getDefinition());
    }
    if (event instanceof LeaseEnqueued e) {
      enqueued(atMs, e.getWaiter());
    } else if (event instanceof LeaseGranted e) {
      granted(atMs, e);
    } else if (event instanceof LeaseRejected e) {
      left(e.getQuota(), e.getAgentId(), e.getRequestId());
      if (isMine(e.getQuota(), e.getAgentId(), e.getRequestId())) {
        rejected(atMs, e);
      }
    } else if (event instanceof UnleasedCharged e) {
      if (isMine(e.getQuota(), e.getAgentId(), e.getRequestId())) {
        ended(atMs, "settled", "charged as it is");
      }
    } else if (event instanceof LeaseCancelled e) {
      left(e.getQuota(), e.getAgentId(), e.getRequestId());
      if (isMine(e.getQuota(), e.getAgentId(), e.getRequestId())) {
        ended(atMs, "cancelled", "left the queue by its agent's wish");
      }
    } else if (!answered(atMs, event) && !leaseChanged(atMs, event) && waiting != null) {
      quotaChanged(atMs, event);
    }
  }

  private boolean answered(long atMs, Object event) {
    if (event instanceof LeaseQueued e) {
      if (isMine(e.getQuota(), e.getAgentId(), e.getRequestId())) {
        waitsFor = e.getWaitsFor();
        told(atMs, "queued", "told: in line", e.getPosition(), e.getEtaMs());
      }
    } else if (event instanceof EtaRevised e) {
      if (isMine(e.getQuota(), e.getAgentId(), e.getRequestId())) {
        waitsFor = e.getWaitsFor();
        told(atMs, "eta_revised", "told again: in line", e.getPosition(), e.getEtaMs());
      }
    } else if (event instanceof DecisionRepeated e) {
      if (isMineRepeated(e.getDecision())) {
        repeats = repeats.told(atMs);
        repeated();
      }
    } else if (event instanceof RequestIgnored e) {
      if (isMine(e.getQuota(), e.getAgentId(), e.getRequestId())) {
        ended(atMs, "cancelled", "had been cancelled before it arrived");
      }
    } else {
      return false;
    }
    return true;
  }

  private void told(long atMs, String kind, String how, int position, long etaMs) {
    add(atMs, kind, Phrases.eta(how, position, etaMs, waitsFor, quota, definitions.get(quota)));
  }

  private boolean leaseChanged(long atMs, Object event) {
    if (event instanceof LeaseRenewed e) {
      if (isMine(e.getQuota(), e.getAgentId(), e.getRequestId())) {
        add(atMs, "renewed", "renewed" + Phrases.adjusted(e.getAdjusted()));
      }
    } else if (event instanceof LeaseSettled e) {
      if (isMine(e.getQuota(), e.getAgentId(), e.getRequestId())) {
        ended(atMs, "settled", Phrases.settlement(e));
      }
    } else if (event instanceof LeaseExpired e) {
      if (isMine(e.getQuota(), e.getAgentId(), e.getRequestId())) {
        ended(
            atMs,
            "expired",
            "expired without a settlement; nothing is refunded, the tokens may have been spent"
                + (e.getAdjusted() == null ? "" : Phrases.adjusted(e.getAdjusted())));
      }
    } else if (event instanceof DuplicateIgnored e) {
      if (isMine(e.getQuota(), e.getAgentId(), e.getRequestId())) {
        add(atMs, "duplicate", "a second settlement was ignored: a lease is settled once");
      }
    } else if (event instanceof SettlementIgnored e) {
      if (isMine(e.getQuota(), e.getAgentId(), e.getRequestId())) {
        add(atMs, "settlement_ignored", "a settlement was ignored: " + e.getReason());
      }
    } else {
      return false;
    }
    return true;
  }

  private void quotaChanged(long atMs, Object event) {
    if (event instanceof QuotaHeld e && e.getQuota().equals(quota)) {
      add(atMs, "held", Phrases.hold(e, atMs));
    } else if (event instanceof QuotaReleased e && e.getQuota().equals(quota)) {
      add(atMs, "released", "an operator ended the hold");
    } else if (event instanceof BreakerOpened e && e.getQuota().equals(quota)) {
      add(atMs, "breaker_opened", Phrases.breakerOpened(e, atMs));
    } else if (event instanceof BreakerHalfOpen e && e.getQuota().equals(quota)) {
      add(atMs, "breaker_half_open", "one call goes as a probe; the others wait for its answer");
    } else if (event instanceof BreakerClosed e && e.getQuota().equals(quota)) {
      add(atMs, "breaker_closed", Phrases.breakerClosed(e));
    } else if (event instanceof RampStarted e && e.getQuota().equals(quota)) {
      add(atMs, "ramp_started", Phrases.rampStarted(e, atMs));
    } else if (event instanceof RampEnded e && e.getQuota().equals(quota)) {
      add(atMs, "ramp_ended", "grants are no longer paced");
    } else if (event instanceof MarginCut e && e.getQuota().equals(quota)) {
      add(atMs, "margin_cut", Phrases.margin("a 429 cut the margin", e.getFromBp(), e.getToBp()));
    } else if (event instanceof MarginRestored e && e.getQuota().equals(quota)) {
      add(
          atMs,
          "margin_restored",
          Phrases.margin("a clean interval restored the margin", e.getFromBp(), e.getToBp()));
    } else if (event instanceof LimitLearned e && e.getQuota().equals(quota)) {
      add(
          atMs,
          "limit_learned",
          "the provider named a lower limit: "
              + e.getLimit()
              + " "
              + e.getDimension()
              + " per minute");
    } else if (event instanceof LimitForgotten e && e.getQuota().equals(quota)) {
      add(
          atMs,
          "limit_forgotten",
          "no answer named the lower limit any more: the defined one of "
              + e.getDimension()
              + " is in force again");
    } else if (event instanceof BucketsResynced e) {
      resyncs.told(e, waitsFor, quota).ifPresent(text -> add(atMs, "resynced", text));
      resyncs.sum().ifPresent(text -> resyncedOthers(atMs, text));
    } else if (event instanceof QuotaDefined e && e.getDefinition().getId().equals(quota)) {
      add(
          atMs,
          "quota_defined",
          "an operator defined the quota anew (" + e.getDefinition().getState() + ")");
    } else if (event instanceof QuotaRemoved e && e.getQuota().equals(quota)) {
      add(atMs, "quota_removed", "an operator removed the quota");
    }
  }

  private void enqueued(long atMs, WaiterRow waiter) {
    LeaseRequest request = waiter.getRequest();
    if (isMine(request.getQuota(), request.getAgentId(), request.getRequestId())) {
      waiting = waiter;
      changed("waiting");
      add(atMs, "enqueued", Phrases.line(waiter, waiters.ahead(waiter)));
    } else if (!isFound() || request.getQuota().equals(quota)) {
      waiters.add(waiter);
    }
  }

  private void granted(long atMs, LeaseGranted grant) {
    if (isMine(grant.getQuota(), grant.getAgentId(), grant.getRequestId())) {
      waiting = null;
      changed("granted");
      add(atMs, "granted", Phrases.grant(grant, atMs - arrivedAtMs, servedMeanwhile));
      return;
    }
    WaiterRow other = left(grant.getQuota(), grant.getAgentId(), grant.getRequestId());
    if (waiting != null && grant.getQuota().equals(quota)) {
      servedMeanwhile++;
      add(atMs, "served_before", Phrases.servedBefore(grant, other, waiting));
    }
  }

  private WaiterRow left(String quotaId, String agentOf, String request) {
    return waiters.remove(quotaId, agentOf, request);
  }

  private boolean isMineRepeated(Object decision) {
    if (decision instanceof LeaseGranted e) {
      return isMine(e.getQuota(), e.getAgentId(), e.getRequestId());
    }
    if (decision instanceof LeaseQueued e) {
      return isMine(e.getQuota(), e.getAgentId(), e.getRequestId());
    }
    LeaseRejected e = (LeaseRejected) decision;
    return isMine(e.getQuota(), e.getAgentId(), e.getRequestId());
  }

  private boolean isMine(String quotaId, String agentOf, String request) {
    return isFound() && requestId.equals(request) && quota.equals(quotaId) && agent.equals(agentOf);
  }

  private void ended(long atMs, String kind, String text) {
    waiting = null;
    changed(kind);
    add(atMs, kind, text);
  }

  /** One entry, however often it comes, until something else becomes of the request. */
  private void repeated() {
    StoryEntry entry =
        new StoryEntry(
            repeats.fromMs(),
            repeats.answers() > 0 ? "repeated" : "sent_again",
            Phrases.repeats(
                repeats.arrivals(), repeats.answers(), repeats.toMs() - repeats.fromMs()));
    if (repeatsEntry >= 0) {
      entries.set(repeatsEntry, entry);
    } else if (entries.size() < ENTRIES_MAX) {
      repeatsEntry = entries.size();
      entries.add(entry);
    } else {
      entriesDropped++;
    }
  }

  /** One entry for all of a wait, where the first of them came. */
  private void resyncedOthers(long atMs, String text) {
    if (resyncsEntry >= 0) {
      long fromMs = entries.get(resyncsEntry).atMs();
      entries.set(resyncsEntry, new StoryEntry(fromMs, "resynced_others", text));
    } else if (entries.size() < ENTRIES_MAX) {
      resyncsEntry = entries.size();
      entries.add(new StoryEntry(atMs, "resynced_others", text));
    } else {
      entriesDropped++;
    }
  }

  private void changed(String newOutcome) {
    outcome = newOutcome;
    waitsFor = null;
    resyncs = new Resyncs();
    resyncsEntry = -1;
    repeats = Repeats.NONE;
    repeatsEntry = -1;
  }

  private void add(long atMs, String kind, String text) {
    if (entries.size() < ENTRIES_MAX) {
      entries.add(new StoryEntry(atMs, kind, text));
    } else {
      entriesDropped++;
    }
  }
}
