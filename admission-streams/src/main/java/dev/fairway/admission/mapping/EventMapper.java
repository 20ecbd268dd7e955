package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.WaitsFor;
import dev.fairway.admission.engine.alert.AlertKind;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.schemas.AlertCleared;
import dev.fairway.schemas.AlertRaised;
import dev.fairway.schemas.BucketsResynced;
import dev.fairway.schemas.CacheClaimChecked;
import dev.fairway.schemas.DecisionRepeated;
import dev.fairway.schemas.DimensionResync;
import dev.fairway.schemas.DuplicateIgnored;
import dev.fairway.schemas.EtaRevised;
import dev.fairway.schemas.HoldReason;
import dev.fairway.schemas.LeaseCancelled;
import dev.fairway.schemas.LeaseEnqueued;
import dev.fairway.schemas.LeaseExpired;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseQueued;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseRenewed;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.LimitForgotten;
import dev.fairway.schemas.LimitLearned;
import dev.fairway.schemas.MarginCut;
import dev.fairway.schemas.MarginMode;
import dev.fairway.schemas.MarginModeChanged;
import dev.fairway.schemas.MarginRestored;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.QuotaDefined;
import dev.fairway.schemas.QuotaHeld;
import dev.fairway.schemas.QuotaReleased;
import dev.fairway.schemas.QuotaRemoved;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.RequestIgnored;
import dev.fairway.schemas.ResetLearned;
import dev.fairway.schemas.SafeCapacityTold;
import dev.fairway.schemas.SafetyFactorChanged;
import dev.fairway.schemas.SettlementIgnored;
import dev.fairway.schemas.TaskUpdated;
import dev.fairway.schemas.UnleasedCharged;
import dev.fairway.schemas.WaitReason;
import dev.fairway.schemas.WaiterReweighted;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Events, to and from the types of {@code AdmissionEvent.events}. Thread-safe.
 *
 * <p>An agent id that is not known is the empty string in the journal and null in the engine. A
 * repeated {@code EtaRevised} is journalled as the {@code LeaseQueued} that it tells.
 */
public final class EventMapper {
  private static final Map<Class<?>, Function<Event, Object>> TO_AVRO = new HashMap<>();
  private static final Map<Class<?>, Function<Object, Event>> TO_ENGINE = new HashMap<>();

  static {
    pair(Event.QuotaDefined.class, EventMapper::avro, QuotaDefined.class, EventMapper::engine);
    pair(
        Event.QuotaRemoved.class,
        e -> new QuotaRemoved(e.quotaId()),
        QuotaRemoved.class,
        a -> new Event.QuotaRemoved(a.getQuota()));
    pair(
        Event.LeaseEnqueued.class,
        e -> new LeaseEnqueued(RowMapper.waiter(e.waiter()), e.retries()),
        LeaseEnqueued.class,
        a -> new Event.LeaseEnqueued(RowMapper.waiter(a.getWaiter()), a.getRetries()));
    pair(
        Event.WaiterReweighted.class,
        OrderMapper::reweighted,
        WaiterReweighted.class,
        OrderMapper::reweighted);
    pair(Event.TaskUpdated.class, OrderMapper::updated, TaskUpdated.class, OrderMapper::updated);
    pair(Event.LeaseGranted.class, EventMapper::avro, LeaseGranted.class, EventMapper::engine);
    pair(Event.LeaseQueued.class, EventMapper::avro, LeaseQueued.class, EventMapper::engine);
    pair(Event.EtaRevised.class, EventMapper::avro, EtaRevised.class, EventMapper::engine);
    pair(Event.LeaseRejected.class, EventMapper::avro, LeaseRejected.class, EventMapper::engine);
    pair(
        Event.DecisionRepeated.class,
        e -> new DecisionRepeated(toAvro(repeated(e.decision()))),
        DecisionRepeated.class,
        a -> new Event.DecisionRepeated((Event.Decision) toEngine(a.getDecision())));
    pair(Event.LeaseRenewed.class, EventMapper::avro, LeaseRenewed.class, EventMapper::engine);
    pair(Event.LeaseSettled.class, EventMapper::avro, LeaseSettled.class, EventMapper::engine);
    pair(
        Event.LeaseCancelled.class,
        e -> new LeaseCancelled(e.quotaId(), e.requestId(), e.agentId(), e.wasWaiting()),
        LeaseCancelled.class,
        a ->
            new Event.LeaseCancelled(
                a.getQuota(), a.getRequestId(), a.getAgentId(), a.getWasWaiting()));
    pair(
        Event.RequestIgnored.class,
        e -> new RequestIgnored(e.quotaId(), e.requestId(), e.agentId()),
        RequestIgnored.class,
        a -> new Event.RequestIgnored(a.getQuota(), a.getRequestId(), a.getAgentId()));
    pair(
        Event.LeaseExpired.class,
        e ->
            new LeaseExpired(
                e.quotaId(),
                e.requestId(),
                e.agentId(),
                e.leaseId(),
                e.tagShift(),
                e.shift().tenantTag(),
                e.cost(),
                orNull(e.adjusted()),
                Values.map(e.shift().also(), Values::amounts),
                orNull(e.shift().ceiling()),
                orNull(e.shift().reserve())),
        LeaseExpired.class,
        a ->
            new Event.LeaseExpired(
                a.getQuota(),
                a.getRequestId(),
                a.getAgentId(),
                a.getLeaseId(),
                a.getTagShift(),
                a.getCost(),
                orNone(a.getAdjusted()),
                new Event.Shift(
                    Values.map(a.getAlso(), Values::amounts),
                    orNone(a.getReserve()),
                    orNone(a.getCeiling()),
                    a.getTenantTag())));
    pair(
        Event.UnleasedCharged.class,
        e ->
            new UnleasedCharged(
                e.quotaId(),
                e.requestId(),
                e.agentId(),
                Values.amounts(e.charged()),
                Values.map(e.also(), Values::amounts),
                e.tenant(),
                e.tagShift(),
                e.tenantTag(),
                Values.amounts(e.ceiling()),
                e.sentAtMs(),
                e.refused()),
        UnleasedCharged.class,
        a ->
            new Event.UnleasedCharged(
                a.getQuota(),
                a.getRequestId(),
                a.getAgentId(),
                Values.amounts(a.getCharged()),
                Values.map(a.getAlso(), Values::amounts),
                a.getTenant(),
                a.getTagShift(),
                a.getTenantTag(),
                orNone(a.getCeiling()),
                a.getSentAtMs(),
                a.getRefused()));
    pair(
        Event.DuplicateIgnored.class,
        e -> new DuplicateIgnored(e.quotaId(), e.requestId(), orEmpty(e.agentId()), e.leaseId()),
        DuplicateIgnored.class,
        a ->
            new Event.DuplicateIgnored(
                a.getQuota(), a.getRequestId(), orNull(a.getAgentId()), a.getLeaseId()));
    pair(
        Event.SettlementIgnored.class,
        e ->
            new SettlementIgnored(
                e.quotaId(), e.requestId(), orEmpty(e.agentId()), e.leaseId(), e.reason()),
        SettlementIgnored.class,
        a ->
            new Event.SettlementIgnored(
                a.getQuota(),
                a.getRequestId(),
                orNull(a.getAgentId()),
                a.getLeaseId(),
                a.getReason()));
    pair(
        Event.MarginCut.class,
        e -> new MarginCut(e.quotaId(), e.fromBp(), e.toBp()),
        MarginCut.class,
        a -> new Event.MarginCut(a.getQuota(), a.getFromBp(), a.getToBp()));
    pair(
        Event.MarginRestored.class,
        e -> new MarginRestored(e.quotaId(), e.fromBp(), e.toBp()),
        MarginRestored.class,
        a -> new Event.MarginRestored(a.getQuota(), a.getFromBp(), a.getToBp()));
    pair(
        Event.QuotaHeld.class,
        e -> new QuotaHeld(e.quotaId(), Values.symbol(e.reason(), HoldReason.class), e.untilMs()),
        QuotaHeld.class,
        a ->
            new Event.QuotaHeld(
                a.getQuota(),
                Values.symbol(a.getReason(), Event.HoldReason.class),
                a.getUntilMs()));
    pair(
        Event.QuotaReleased.class,
        e -> new QuotaReleased(e.quotaId()),
        QuotaReleased.class,
        a -> new Event.QuotaReleased(a.getQuota()));
    pair(
        Event.BucketsResynced.class, EventMapper::avro, BucketsResynced.class, EventMapper::engine);
    pair(
        Event.LimitLearned.class,
        e -> new LimitLearned(e.quotaId(), e.dimension().wireName(), e.limitPerMinute()),
        LimitLearned.class,
        a ->
            new Event.LimitLearned(a.getQuota(), Values.dimension(a.getDimension()), a.getLimit()));
    pair(
        Event.LimitForgotten.class,
        e -> new LimitForgotten(e.quotaId(), e.dimension().wireName()),
        LimitForgotten.class,
        a -> new Event.LimitForgotten(a.getQuota(), Values.dimension(a.getDimension())));
    pair(
        Event.MarginModeChanged.class,
        e ->
            new MarginModeChanged(
                e.quotaId(),
                e.dimension().wireName(),
                Values.symbol(e.from(), MarginMode.class),
                Values.symbol(e.to(), MarginMode.class)),
        MarginModeChanged.class,
        a ->
            new Event.MarginModeChanged(
                a.getQuota(),
                Values.dimension(a.getDimension()),
                Values.symbol(a.getFrom(), MarginModeName.class),
                Values.symbol(a.getTo(), MarginModeName.class)));
    pair(
        Event.SafetyFactorChanged.class,
        e -> new SafetyFactorChanged(e.quotaId(), e.fromMilli(), e.toMilli()),
        SafetyFactorChanged.class,
        a -> new Event.SafetyFactorChanged(a.getQuota(), a.getFromMilli(), a.getToMilli()));
    pair(
        Event.CacheClaimChecked.class,
        e -> new CacheClaimChecked(e.quotaId(), e.agentId(), e.believed()),
        CacheClaimChecked.class,
        a -> new Event.CacheClaimChecked(a.getQuota(), a.getAgentId(), a.getBelieved()));
    pair(
        Event.ResetLearned.class,
        e -> new ResetLearned(e.quotaId(), e.dimension().wireName(), e.resetAtMs()),
        ResetLearned.class,
        a ->
            new Event.ResetLearned(
                a.getQuota(), Values.dimension(a.getDimension()), a.getResetAtMs()));
    pair(
        Event.AlertRaised.class,
        e -> new AlertRaised(e.quotaId(), e.kind().name(), e.subject(), e.detail()),
        AlertRaised.class,
        a ->
            new Event.AlertRaised(
                a.getQuota(), AlertKind.valueOf(a.getKind()), a.getSubject(), a.getDetail()));
    pair(
        Event.AlertCleared.class,
        e -> new AlertCleared(e.quotaId(), e.kind().name(), e.subject()),
        AlertCleared.class,
        a -> new Event.AlertCleared(a.getQuota(), AlertKind.valueOf(a.getKind()), a.getSubject()));
    BreakerMapper.pairs(EventMapper::pair);
    pair(
        Event.SafeCapacityTold.class,
        e ->
            new SafeCapacityTold(
                e.quotaId(),
                e.agentId(),
                e.part(),
                Values.amounts(e.perMinute()),
                e.validUntilMs(),
                e.countedUntilMs()),
        SafeCapacityTold.class,
        a ->
            new Event.SafeCapacityTold(
                a.getQuota(),
                a.getAgentId(),
                a.getPart(),
                Values.amounts(a.getPerMinute()),
                a.getValidUntilMs(),
                a.getCountedUntilMs()));
  }

  /** Takes the pairs of an event and its record. */
  interface Pairs {
    <T extends Event, A> void pair(
        Class<T> engineType,
        Function<T, A> toAvro,
        Class<A> avroType,
        Function<A, ? extends Event> toEngine);
  }

  private EventMapper() {}

  /** The journal's form of an event. */
  public static Object toAvro(Event event) {
    return find(TO_AVRO, event).apply(event);
  }

  /**
   * The event of the journal's form.
   *
   * @throws IllegalArgumentException if it is none, or names a dimension that does not exist
   */
  public static Event toEngine(Object event) {
    return find(TO_ENGINE, event).apply(event);
  }

  private static <T extends Event, A> void pair(
      Class<T> engineType,
      Function<T, A> toAvro,
      Class<A> avroType,
      Function<A, ? extends Event> toEngine) {
    TO_AVRO.put(engineType, event -> toAvro.apply(engineType.cast(event)));
    TO_ENGINE.put(avroType, event -> toEngine.apply(avroType.cast(event)));
  }

  private static <F> F find(Map<Class<?>, F> mappers, Object event) {
    F mapper = event == null ? null : mappers.get(event.getClass());
    if (mapper == null) {
      throw new IllegalArgumentException(
          "Expected an event but found "
              + (event == null ? "null" : event.getClass().getSimpleName()));
    }
    return mapper;
  }

  private static Event repeated(Event.Decision decision) {
    return decision instanceof Event.EtaRevised e
        ? new Event.LeaseQueued(
            e.quotaId(),
            e.requestId(),
            e.agentId(),
            e.position(),
            e.etaMs(),
            e.etaP90Ms(),
            e.waitsFor(),
            e.correlation())
        : decision;
  }

  private static String orEmpty(String id) {
    return id == null ? "" : id;
  }

  private static dev.fairway.schemas.Amounts orNull(Amounts amounts) {
    return amounts.isEmpty() ? null : Values.amounts(amounts);
  }

  private static Amounts orNone(dev.fairway.schemas.Amounts amounts) {
    return amounts == null ? Amounts.NONE : Values.amounts(amounts);
  }

  private static String orNull(String id) {
    return id.isEmpty() ? null : id;
  }

  private static QuotaDefined avro(Event.QuotaDefined e) {
    return new QuotaDefined(QuotaMapper.toAvro(e.definition()), e.salt(), e.notEnforced());
  }

  private static Event.QuotaDefined engine(QuotaDefined a) {
    return new Event.QuotaDefined(
        QuotaMapper.toEngine(a.getDefinition()), a.getSalt(), List.copyOf(a.getNotEnforced()));
  }

  private static LeaseGranted avro(Event.LeaseGranted e) {
    return new LeaseGranted(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        e.leaseId(),
        e.attempt(),
        Values.amounts(e.charged()),
        e.coldCache(),
        e.grantedAtMs(),
        e.expiresAtMs(),
        e.virtualTime(),
        Values.bytes(e.correlation()),
        OrderMapper.order(e.order()),
        OrderMapper.taken(e.taken()));
  }

  private static Event.LeaseGranted engine(LeaseGranted a) {
    return new Event.LeaseGranted(
        a.getQuota(),
        a.getRequestId(),
        a.getAgentId(),
        a.getLeaseId(),
        a.getAttempt(),
        Values.amounts(a.getCharged()),
        a.getColdCache(),
        a.getGrantedAtMs(),
        a.getExpiresAtMs(),
        a.getVirtualTime(),
        Values.bytes(a.getCorrelation()),
        OrderMapper.order(a.getOrder(), a.getVirtualTime()),
        OrderMapper.taken(a.getTaken()));
  }

  private static LeaseQueued avro(Event.LeaseQueued e) {
    return new LeaseQueued(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        e.position(),
        e.etaMs(),
        e.etaP90Ms(),
        Values.bytes(e.correlation()),
        avro(e.waitsFor()));
  }

  private static Event.LeaseQueued engine(LeaseQueued a) {
    return new Event.LeaseQueued(
        a.getQuota(),
        a.getRequestId(),
        a.getAgentId(),
        a.getPosition(),
        a.getEtaMs(),
        a.getEtaP90Ms(),
        engine(a.getWaitsFor()),
        Values.bytes(a.getCorrelation()));
  }

  private static EtaRevised avro(Event.EtaRevised e) {
    return new EtaRevised(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        e.position(),
        e.etaMs(),
        e.etaP90Ms(),
        Values.bytes(e.correlation()),
        avro(e.waitsFor()));
  }

  private static Event.EtaRevised engine(EtaRevised a) {
    return new Event.EtaRevised(
        a.getQuota(),
        a.getRequestId(),
        a.getAgentId(),
        a.getPosition(),
        a.getEtaMs(),
        a.getEtaP90Ms(),
        engine(a.getWaitsFor()),
        Values.bytes(a.getCorrelation()));
  }

  private static dev.fairway.schemas.WaitsFor avro(WaitsFor from) {
    return from == null
        ? null
        : new dev.fairway.schemas.WaitsFor(
            Values.symbol(from.reason(), WaitReason.class),
            from.quotaId(),
            from.dimension() == null ? null : from.dimension().wireName());
  }

  private static WaitsFor engine(dev.fairway.schemas.WaitsFor from) {
    return from == null
        ? null
        : new WaitsFor(
            Values.symbol(from.getReason(), WaitsFor.Reason.class),
            from.getQuota(),
            from.getDimension() == null ? null : Values.dimension(from.getDimension()));
  }

  private static LeaseRejected avro(Event.LeaseRejected e) {
    return new LeaseRejected(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        Values.symbol(e.reason(), RejectReason.class),
        e.detail(),
        e.retryAtMs(),
        e.keptTag(),
        e.contentHash(),
        Values.bytes(e.correlation()),
        e.attempt(),
        e.budgetTask(),
        e.tenant());
  }

  private static Event.LeaseRejected engine(LeaseRejected a) {
    return new Event.LeaseRejected(
        a.getQuota(),
        a.getRequestId(),
        a.getAgentId(),
        Values.symbol(a.getReason(), dev.fairway.admission.engine.RejectReason.class),
        a.getDetail(),
        a.getRetryAtMs(),
        a.getKeptTag(),
        a.getContentHash(),
        Values.bytes(a.getCorrelation()),
        a.getAttempt(),
        a.getBudgetTask(),
        a.getTenant());
  }

  private static LeaseRenewed avro(Event.LeaseRenewed e) {
    return new LeaseRenewed(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        e.leaseId(),
        Values.amounts(e.adjusted()),
        e.expiresAtMs(),
        e.sendDelayMs(),
        OrderMapper.shift(e.shift()),
        e.tagShift(),
        e.cost(),
        e.told().sent(),
        e.told().input(),
        e.told().output(),
        OrderMapper.refusal(e.told()),
        e.told().untilMs());
  }

  private static Event.LeaseRenewed engine(LeaseRenewed a) {
    return new Event.LeaseRenewed(
        a.getQuota(),
        a.getRequestId(),
        a.getAgentId(),
        a.getLeaseId(),
        Values.amounts(a.getAdjusted()),
        OrderMapper.told(
            a.getToldSent(),
            a.getToldInput(),
            a.getToldOutput(),
            a.getToldRefusal(),
            a.getToldUntilMs()),
        a.getExpiresAtMs(),
        a.getSendDelayMs(),
        OrderMapper.shift(a.getShift()),
        a.getTagShift(),
        a.getCost());
  }

  private static LeaseSettled avro(Event.LeaseSettled e) {
    return new LeaseSettled(
        e.quotaId(),
        e.requestId(),
        e.agentId(),
        e.leaseId(),
        Values.symbol(e.outcome(), Outcome.class),
        Values.amounts(e.actual()),
        Values.amounts(e.adjusted()),
        e.tagShift(),
        e.late(),
        e.sendDelayMs(),
        e.usedInput(),
        e.usedOutput(),
        OrderMapper.shift(e.shift()));
  }

  private static Event.LeaseSettled engine(LeaseSettled a) {
    return new Event.LeaseSettled(
        a.getQuota(),
        a.getRequestId(),
        a.getAgentId(),
        a.getLeaseId(),
        Values.symbol(a.getOutcome(), Settlement.Outcome.class),
        Values.amounts(a.getActual()),
        Values.amounts(a.getAdjusted()),
        a.getTagShift(),
        a.getLate(),
        a.getSendDelayMs(),
        a.getUsedInput(),
        a.getUsedOutput(),
        OrderMapper.shift(a.getShift()));
  }

  private static BucketsResynced avro(Event.BucketsResynced e) {
    return new BucketsResynced(
        e.quotaId(),
        e.leaseId(),
        e.sentAtMs(),
        e.answeredAtMs(),
        Values.list(
            e.dimensions(),
            d ->
                new DimensionResync(
                    d.dimension().wireName(),
                    d.before(),
                    d.low(),
                    d.high(),
                    d.after(),
                    d.outsideMilli())));
  }

  private static Event.BucketsResynced engine(BucketsResynced a) {
    return new Event.BucketsResynced(
        a.getQuota(),
        a.getLeaseId(),
        a.getSentAtMs(),
        a.getAnsweredAtMs(),
        Values.list(
            a.getDimensions(),
            d ->
                new Event.Resync(
                    Values.dimension(d.getDimension()),
                    d.getBefore(),
                    d.getLow(),
                    d.getHigh(),
                    d.getAfter(),
                    d.getOutsideMilli())));
  }
}
