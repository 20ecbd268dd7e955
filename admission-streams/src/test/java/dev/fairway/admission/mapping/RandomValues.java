package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Event.HoldReason;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.Rule;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Signal;
import dev.fairway.admission.engine.TaskUpdate;
import dev.fairway.admission.engine.WaitsFor;
import dev.fairway.admission.engine.alert.AlertKind;
import dev.fairway.admission.engine.alert.Traffic;
import dev.fairway.admission.engine.alert.Waves;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.breaker.Ramp;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.capacity.Share;
import dev.fairway.admission.engine.learn.ErrorTrend;
import dev.fairway.admission.engine.learn.RoleStats;
import dev.fairway.admission.engine.lease.Forecast;
import dev.fairway.admission.engine.lease.Told;
import dev.fairway.admission.engine.margin.OutsideRate;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Standing;
import dev.fairway.admission.engine.state.Taken;
import dev.fairway.admission.engine.state.Waiter;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;

/**
 * Random commands, events and rows of every kind: any value that the types allow, sensible or not.
 * Seeded by jqwik, so a failure repeats.
 */
public final class RandomValues extends RandomScalars {

  public RandomValues(Random random) {
    super(random);
  }

  /** Commands of every kind. */
  public static Arbitrary<Command> commands() {
    return Arbitraries.randomValue(random -> new RandomValues(random).command());
  }

  /** Events of every kind. */
  public static Arbitrary<Event> events() {
    return Arbitraries.randomValue(random -> new RandomValues(random).event());
  }

  /** Rows of every kind. */
  public static Arbitrary<Row> rows() {
    return Arbitraries.randomValue(random -> new RandomValues(random).row());
  }

  public Command command() {
    return this.<Supplier<Command>>oneOf(
            () -> new Command.DefineQuota(definition(), hex(32)),
            () -> new Command.RemoveQuota(quotaId()),
            () -> new Command.RequestLease(request(), number()),
            () -> new Command.RefuseRequest(request(), text()),
            () -> new Command.SettleLease(settlement(), number()),
            () -> new Command.UpdateTask(taskUpdate()),
            Command.Tick::new)
        .get();
  }

  public Event event() {
    return this.<Supplier<Event>>oneOf(
            () -> new Event.QuotaDefined(definition(), maybe(() -> hex(32)), ids()),
            () -> new Event.QuotaRemoved(quotaId()),
            () -> new Event.LeaseEnqueued(waiter(), maybe(() -> hex(32))),
            this::granted,
            this::queued,
            () ->
                new Event.EtaRevised(
                    quotaId(),
                    id(),
                    id(),
                    random.nextInt(),
                    number(),
                    maybe(this::number),
                    maybe(this::waitsFor),
                    maybe(this::bytes)),
            this::rejected,
            () -> new Event.DecisionRepeated(oneOf(granted(), queued(), rejected())),
            () ->
                new Event.LeaseRenewed(
                    quotaId(),
                    id(),
                    id(),
                    hex(32),
                    amounts(),
                    told(),
                    number(),
                    maybe(this::number),
                    shift(),
                    number(),
                    maybe(this::number)),
            () ->
                new Event.LeaseSettled(
                    quotaId(),
                    id(),
                    id(),
                    hex(32),
                    oneOf(Settlement.Outcome.values()),
                    amounts(),
                    amounts(),
                    number(),
                    random.nextBoolean(),
                    maybe(this::number),
                    maybe(this::number),
                    maybe(this::number),
                    shift()),
            () -> new Event.LeaseCancelled(quotaId(), id(), id(), random.nextBoolean()),
            () -> new Event.RequestIgnored(quotaId(), id(), id()),
            () ->
                new Event.LeaseExpired(
                    quotaId(),
                    id(),
                    id(),
                    hex(32),
                    number(),
                    maybe(this::number),
                    amounts(),
                    shift()),
            () ->
                new Event.UnleasedCharged(
                    quotaId(),
                    id(),
                    id(),
                    amounts(),
                    map(this::amounts),
                    maybe(this::id),
                    number(),
                    number(),
                    amounts(),
                    maybe(this::number),
                    random.nextBoolean()),
            () ->
                new Event.WaiterReweighted(
                    quotaId(),
                    id(),
                    id(),
                    oneOf(Event.Reweighting.values()),
                    random.nextInt(),
                    number()),
            () ->
                new Event.TaskUpdated(
                    quotaId(), id(), maybe(this::id), oneOf(TaskUpdate.State.values()), ids()),
            () ->
                new Event.DuplicateIgnored(
                    quotaId(), maybe(this::id), maybe(this::id), maybe(() -> hex(32))),
            () ->
                new Event.SettlementIgnored(
                    quotaId(), maybe(this::id), maybe(this::id), maybe(() -> hex(32)), text()),
            () -> new Event.MarginCut(quotaId(), random.nextInt(), random.nextInt()),
            () -> new Event.MarginRestored(quotaId(), random.nextInt(), random.nextInt()),
            () -> new Event.QuotaHeld(quotaId(), oneOf(HoldReason.values()), maybe(this::number)),
            () -> new Event.QuotaReleased(quotaId()),
            () ->
                new Event.BucketsResynced(
                    quotaId(), maybe(() -> hex(32)), number(), number(), list(this::resync)),
            () ->
                new Event.MarginModeChanged(
                    quotaId(),
                    oneOf(Dimension.values()),
                    oneOf(QuotaDefinition.MarginModeName.values()),
                    oneOf(QuotaDefinition.MarginModeName.values())),
            () -> new Event.SafetyFactorChanged(quotaId(), random.nextInt(), random.nextInt()),
            () -> new Event.CacheClaimChecked(quotaId(), id(), random.nextBoolean()),
            () -> new Event.ResetLearned(quotaId(), oneOf(Dimension.values()), number()),
            () -> new Event.AlertRaised(quotaId(), oneOf(AlertKind.values()), text(), text()),
            () -> new Event.AlertCleared(quotaId(), oneOf(AlertKind.values()), text()),
            () -> new Event.LimitLearned(quotaId(), oneOf(Dimension.values()), number()),
            () -> new Event.LimitForgotten(quotaId(), oneOf(Dimension.values())),
            () -> new Event.RefusalCounted(quotaId(), hex(32)),
            () ->
                new Event.BreakerOpened(
                    quotaId(), oneOf(Event.BreakerCause.values()), random.nextInt(), number()),
            () -> new Event.BreakerHalfOpen(quotaId(), hex(32), number()),
            () -> new Event.BreakerClosed(quotaId(), maybe(() -> hex(32)), maybe(this::number)),
            () -> new Event.RampStarted(quotaId(), number()),
            () -> new Event.RampEnded(quotaId()),
            () ->
                new Event.SafeCapacityTold(
                    quotaId(), id(), number(), amounts(), number(), number()))
        .get();
  }

  public Row row() {
    return this.<Supplier<Row>>oneOf(
            () -> new Row.KeyRow(id(), number(), number(), random.nextInt(), maybe(() -> hex(32))),
            () -> new Row.DefinitionRow(definition()),
            this::balance,
            () -> new Row.BreakerRow(quotaId(), breaker()),
            () ->
                new Row.ShareRow(
                    quotaId(), id(), new Share(number(), number(), number(), number())),
            () -> new Row.TrafficRow(quotaId(), traffic()),
            () -> new Row.LeaseRow(lease()),
            () -> new Row.WaiterRow(waiter()),
            () -> new Row.FlowRow(quotaId(), id(), number(), id(), number(), number()),
            () ->
                new Row.TaskRow(
                    id(),
                    random.nextInt(),
                    number(),
                    random.nextInt(),
                    maybe(this::id),
                    maybe(() -> new Row.TaskNode(oneOf(TaskUpdate.State.values()), ids()))),
            () ->
                new Row.TenantRow(
                    quotaId(), id(), number(), number(), number(), list(this::bucket)),
            () -> new Row.ReserveRow(quotaId(), id(), number(), list(this::bucket)),
            () -> new Row.RetriesRow(id(), list(this::number), list(this::number), number()),
            () -> new Row.RoleRow(quotaId(), id(), stats(), number(), list(this::number)),
            () -> new Row.OutputsRow(quotaId(), id(), random.nextInt(), list(this::number)),
            () -> new Row.AgentRow(quotaId(), id(), trend(), random.nextBoolean(), number()),
            () -> new Row.AlertRow(quotaId(), oneOf(AlertKind.values()), text(), number()),
            () ->
                new Row.RememberedRow(
                    quotaId(),
                    hex(32),
                    maybe(() -> hex(32)),
                    oneOf(Row.Ending.values()),
                    maybe(() -> hex(32)),
                    maybe(() -> oneOf(RejectReason.values())),
                    maybe(this::number),
                    maybe(this::number),
                    number(),
                    random.nextInt(),
                    maybe(this::id),
                    random.nextBoolean(),
                    maybe(this::id),
                    maybe(this::id),
                    number()))
        .get();
  }

  public QuotaDefinition definition() {
    return new QuotaDefinition(
        quotaId(),
        text(),
        oneOf(QuotaDefinition.Preset.values()),
        ids(),
        ids(),
        oneOf(QuotaDefinition.Window.values()),
        amounts(),
        maybe(this::amounts),
        maybe(this::amounts),
        maybe(
            () ->
                new QuotaDefinition.Margin(
                    maybe(() -> oneOf(QuotaDefinition.MarginModeName.values())),
                    maybe(random::nextDouble),
                    maybe(random::nextDouble),
                    maybe(random::nextDouble),
                    maybe(random::nextDouble),
                    maybe(this::number))),
        maybe(this::number),
        maybe(this::number),
        maybe(() -> oneOf(QuotaDefinition.OutputReservation.values())),
        maybe(this::number),
        maybe(random::nextInt),
        maybe(random::nextBoolean),
        maybe(this::number),
        maybe(random::nextInt),
        maybe(random::nextInt),
        maybe(
            () ->
                new QuotaDefinition.Budgets(
                    maybe(random::nextInt), maybe(random::nextInt), maybe(random::nextDouble))),
        map(random::nextDouble),
        map(
            () ->
                new QuotaDefinition.Tenant(
                    random.nextDouble(),
                    maybe(random::nextDouble),
                    ids(),
                    ids(),
                    ids(),
                    maybe(random::nextInt),
                    maybe(this::text))),
        map(random::nextDouble),
        maybe(
            () ->
                new QuotaDefinition.Rules(
                    maybe(() -> oneOf(QuotaDefinition.Cost.values())), switched())),
        oneOf(QuotaDefinition.State.values()),
        random.nextInt());
  }

  private Map<Rule, Boolean> switched() {
    Map<Rule, Boolean> switched = new EnumMap<>(Rule.class);
    for (Rule rule : Rule.values()) {
      Boolean on = maybe(random::nextBoolean);
      if (on != null) {
        switched.put(rule, on);
      }
    }
    return switched;
  }

  public LeaseRequest request() {
    return new LeaseRequest(
        id(),
        id(),
        quotaId(),
        maybe(this::id),
        id(),
        id(),
        maybe(this::id),
        random.nextInt(),
        maybe(random::nextInt),
        new LeaseRequest.Estimate(
            maybe(this::number), number(), maybe(this::number), maybe(this::number), text()),
        maybe(this::id),
        maybe(this::number),
        maybe(this::bytes),
        maybe(this::bytes));
  }

  public Settlement settlement() {
    return new Settlement(
        maybe(() -> hex(32)),
        maybe(this::id),
        id(),
        quotaId(),
        oneOf(Settlement.Outcome.values()),
        maybe(
            () ->
                new Settlement.Usage(
                    maybe(this::number),
                    maybe(this::number),
                    maybe(this::number),
                    maybe(this::number),
                    random.nextBoolean())),
        random.nextBoolean(),
        maybe(this::signal));
  }

  private Signal signal() {
    Map<Dimension, Signal.Reading> limits = new EnumMap<>(Dimension.class);
    for (Dimension dimension : Dimension.values()) {
      // A provider has no header for calls in flight, and the protocol no field.
      if (dimension.refills() && random.nextBoolean()) {
        limits.put(
            dimension,
            new Signal.Reading(maybe(this::number), maybe(this::number), maybe(this::number)));
      }
    }
    return new Signal(
        maybe(random::nextInt),
        maybe(() -> oneOf(Signal.Kind.values())),
        maybe(() -> oneOf(Dimension.values())),
        maybe(this::number),
        maybe(this::number),
        maybe(this::number),
        limits);
  }

  private TaskUpdate taskUpdate() {
    return new TaskUpdate(
        id(),
        maybe(this::quotaId),
        maybe(this::id),
        maybe(this::id),
        oneOf(TaskUpdate.State.values()),
        ids());
  }

  private Event.LeaseGranted granted() {
    return new Event.LeaseGranted(
        quotaId(),
        id(),
        id(),
        hex(32),
        random.nextInt(),
        amounts(),
        random.nextBoolean(),
        number(),
        number(),
        number(),
        maybe(this::bytes),
        new Event.Order(
            oneOf(Event.Lane.values()),
            id(),
            id(),
            maybe(this::id),
            maybe(this::id),
            number(),
            number()),
        taken());
  }

  private Taken taken() {
    return random.nextBoolean()
        ? Taken.NOTHING
        : new Taken(
            map(this::amounts),
            amounts(),
            amounts(),
            random.nextBoolean(),
            maybe(() -> hex(32)),
            random.nextBoolean());
  }

  private Event.Shift shift() {
    return random.nextBoolean()
        ? Event.Shift.NONE
        : new Event.Shift(map(this::amounts), amounts(), amounts(), number());
  }

  private Standing standing() {
    return new Standing(
        id(),
        id(),
        id(),
        maybe(this::id),
        random.nextBoolean(),
        amounts(),
        amounts(),
        maybe(this::amounts));
  }

  private Row.BucketRow bucket() {
    return new Row.BucketRow(
        oneOf(Dimension.values()),
        number(),
        number(),
        maybe(this::number),
        maybe(this::number),
        number(),
        maybe(() -> oneOf(QuotaDefinition.MarginModeName.values())),
        maybe(this::number),
        maybe(this::number),
        new OutsideRate(number(), maybe(this::number), number()),
        maybe(this::number));
  }

  private Event.LeaseQueued queued() {
    return new Event.LeaseQueued(
        quotaId(),
        id(),
        id(),
        random.nextInt(),
        number(),
        maybe(this::number),
        maybe(this::waitsFor),
        maybe(this::bytes));
  }

  private WaitsFor waitsFor() {
    return new WaitsFor(
        oneOf(WaitsFor.Reason.values()), quotaId(), maybe(() -> oneOf(Dimension.values())));
  }

  private Event.LeaseRejected rejected() {
    return new Event.LeaseRejected(
        quotaId(),
        id(),
        id(),
        oneOf(RejectReason.values()),
        text(),
        maybe(this::number),
        maybe(this::number),
        maybe(() -> hex(32)),
        maybe(this::bytes),
        random.nextInt(),
        maybe(this::id),
        maybe(this::id));
  }

  private Event.Resync resync() {
    return new Event.Resync(
        oneOf(Dimension.values()),
        number(),
        maybe(this::number),
        number(),
        number(),
        maybe(this::number));
  }

  private RoleStats stats() {
    return new RoleStats(
        number(),
        random.nextDouble(),
        random.nextDouble(),
        number(),
        random.nextDouble(),
        number(),
        random.nextDouble(),
        number(),
        random.nextDouble(),
        trend(),
        number());
  }

  private ErrorTrend trend() {
    return new ErrorTrend(random.nextDouble(), maybe(this::number));
  }

  private Waiter waiter() {
    return new Waiter(
        request(),
        hex(32),
        number(),
        random.nextInt(),
        number(),
        number(),
        number(),
        amounts(),
        number(),
        random.nextInt(),
        number(),
        number(),
        maybe(this::number),
        maybe(this::number),
        maybe(this::number),
        new Forecast(number(), number()),
        standing(),
        number());
  }

  private Told told() {
    Long input = maybe(this::number);
    return new Told(
        input != null || random.nextBoolean(),
        input,
        maybe(this::number),
        maybe(() -> oneOf(Signal.Kind.values())),
        maybe(this::number));
  }

  private Lease lease() {
    return new Lease(
        request(),
        hex(32),
        number(),
        number(),
        hex(32),
        random.nextInt(),
        oneOf(Lease.Status.values()),
        number(),
        number(),
        maybe(this::number),
        amounts(),
        told(),
        random.nextBoolean(),
        number(),
        random.nextInt(),
        number(),
        number(),
        random.nextBoolean(),
        number(),
        new Forecast(number(), number()),
        random.nextInt(),
        random.nextBoolean(),
        standing(),
        taken());
  }

  private Row.BalanceRow balance() {
    return new Row.BalanceRow(
        quotaId(),
        random.nextBoolean(),
        list(this::bucket),
        number(),
        random.nextInt(),
        maybe(this::number),
        maybe(this::number),
        maybe(this::number),
        maybe(() -> oneOf(HoldReason.values())),
        random.nextInt(),
        number(),
        number(),
        number(),
        number(),
        maybe(this::number),
        random.nextInt(),
        maybe(this::number),
        maybe(this::number),
        new Row.OrderRow(
            number(),
            number(),
            random.nextInt(),
            random.nextInt(),
            random.nextInt(),
            random.nextInt()));
  }

  private Traffic traffic() {
    return new Traffic(
        number(),
        number(),
        number(),
        random.nextInt(),
        random.nextInt(),
        number(),
        window(),
        window(),
        list(this::waves),
        List.of(waves(), waves(), waves()));
  }

  private Waves waves() {
    return new Waves(number(), random.nextInt(), random.nextDouble(), 0.5);
  }

  private Traffic.Window window() {
    return new Traffic.Window(number(), number(), random.nextInt(), random.nextInt(), number());
  }

  private BreakerState breaker() {
    return new BreakerState(
        oneOf(BreakerState.Phase.values()),
        random.nextInt(),
        maybe(this::number),
        number(),
        maybe(() -> hex(32)),
        maybe(this::number),
        maybe(this::number),
        maybe(() -> new Ramp(number(), number(), random.nextBoolean())),
        random.nextInt());
  }
}
