package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.breaker.Ramp;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.schemas.BreakerCause;
import dev.fairway.schemas.BreakerClosed;
import dev.fairway.schemas.BreakerHalfOpen;
import dev.fairway.schemas.BreakerOpened;
import dev.fairway.schemas.BreakerPhase;
import dev.fairway.schemas.BreakerRow;
import dev.fairway.schemas.RampEnded;
import dev.fairway.schemas.RampStarted;
import dev.fairway.schemas.RefusalCounted;

/** Events and the row of breaker and ramp, both ways. Thread-safe. */
final class BreakerMapper {
  private BreakerMapper() {}

  /** Names each pair of an event and its record. */
  static void pairs(EventMapper.Pairs pairs) {
    pairs.pair(
        Event.RefusalCounted.class,
        e -> new RefusalCounted(e.quotaId(), e.leaseId()),
        RefusalCounted.class,
        a -> new Event.RefusalCounted(a.getQuota(), a.getLeaseId()));
    pairs.pair(
        Event.BreakerOpened.class,
        e ->
            new BreakerOpened(
                e.quotaId(),
                Values.symbol(e.cause(), BreakerCause.class),
                e.failures(),
                e.probeAtMs()),
        BreakerOpened.class,
        a ->
            new Event.BreakerOpened(
                a.getQuota(),
                Values.symbol(a.getCause(), Event.BreakerCause.class),
                a.getFailures(),
                a.getProbeAtMs()));
    pairs.pair(
        Event.BreakerHalfOpen.class,
        e -> new BreakerHalfOpen(e.quotaId(), e.leaseId(), e.probeUntilMs()),
        BreakerHalfOpen.class,
        a -> new Event.BreakerHalfOpen(a.getQuota(), a.getLeaseId(), a.getProbeUntilMs()));
    pairs.pair(
        Event.BreakerClosed.class,
        e -> new BreakerClosed(e.quotaId(), e.leaseId(), e.trickleFromMs()),
        BreakerClosed.class,
        a -> new Event.BreakerClosed(a.getQuota(), a.getLeaseId(), a.getTrickleFromMs()));
    pairs.pair(
        Event.RampStarted.class,
        e -> new RampStarted(e.quotaId(), e.fromMs()),
        RampStarted.class,
        a -> new Event.RampStarted(a.getQuota(), a.getFromMs()));
    pairs.pair(
        Event.RampEnded.class,
        e -> new RampEnded(e.quotaId()),
        RampEnded.class,
        a -> new Event.RampEnded(a.getQuota()));
  }

  static BreakerRow row(Row.BreakerRow from) {
    BreakerState state = from.state();
    Ramp ramp = state.ramp();
    return new BreakerRow(
        from.quotaId(),
        Values.symbol(state.phase(), BreakerPhase.class),
        state.failures(),
        state.openedAtMs(),
        state.untilMs(),
        state.probeLeaseId(),
        state.lastRefusedAtMs(),
        state.pausedAtMs(),
        ramp == null ? null : (Long) ramp.fromMs(),
        ramp == null ? null : (Long) ramp.nextPhase(),
        state.trickles(),
        state.idleProbes());
  }

  static Row.BreakerRow row(BreakerRow from) {
    Ramp ramp =
        from.getRampFromMs() == null
            ? null
            : new Ramp(
                from.getRampFromMs(),
                from.getRampNextPhase() == null ? 0 : from.getRampNextPhase(),
                from.getRampTrickles());
    return new Row.BreakerRow(
        from.getQuota(),
        new BreakerState(
            Values.symbol(from.getPhase(), BreakerState.Phase.class),
            from.getFailures(),
            from.getOpenedAtMs(),
            from.getUntilMs(),
            from.getProbeLeaseId(),
            from.getLastRefusedAtMs(),
            from.getPausedAtMs(),
            ramp,
            from.getIdleProbes()));
  }
}
