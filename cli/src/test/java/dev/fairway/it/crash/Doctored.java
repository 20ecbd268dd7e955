package dev.fairway.it.crash;

import dev.fairway.cli.demo.emulator.LedgerEntry;
import dev.fairway.it.crash.Differences.Kind;
import dev.fairway.it.crash.Evidence.Agent;
import dev.fairway.it.crash.Evidence.Delivery;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.LeaseExpired;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RequestLease;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TakeSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificRecord;
import org.apache.avro.specific.SpecificRecordBase;

/** Ways to make good evidence bad, each with the difference that has to be found then. */
enum Doctored {
  JOURNAL_RECORD_MISSING(Kind.SEQUENCE, e -> e.withJournal(without(e.journal(), settles(e)))),
  JOURNAL_RECORD_DOUBLED(
      Kind.SEQUENCE,
      e -> {
        List<AdmissionEvent> doubled = new ArrayList<>(e.journal());
        int at = indexOf(doubled, grants());
        doubled.add(at, doubled.get(at));
        return e.withJournal(doubled);
      }),
  INPUT_HANDLED_TWICE(
      Kind.INPUT_UNHANDLED,
      e -> {
        List<AdmissionEvent> journal = new ArrayList<>(e.journal());
        AdmissionEvent again = copy(journal.get(indexOf(journal, grants())));
        again.put("sequence", last(journal, again.getKey()) + 1);
        journal.add(again);
        return e.withJournal(journal);
      }),
  REQUEST_UNANSWERED(
      Kind.UNDECIDED,
      e -> e.withJournal(altered(e.journal(), grants(), r -> setEvents(r, List.of())))),
  CHARGE_ALTERED(
      Kind.DECISION_UNKNOWN,
      e ->
          e.withJournal(
              altered(
                  e.journal(),
                  grants(),
                  r -> {
                    LeaseGranted grant = own(r, LeaseGranted.class);
                    Amounts charged = copy(grant.getCharged());
                    charged.put("input_tokens", charged.getInputTokens() + 1);
                    grant.put("charged", charged);
                  }))),
  GRANTED_TWICE(
      Kind.ATTEMPT,
      e ->
          e.withJournal(
              altered(
                  e.journal(),
                  grants(),
                  r -> {
                    LeaseGranted other = copy(first(r, LeaseGranted.class));
                    other.put("lease_id", "other");
                    List<Object> events = new ArrayList<>(r.getEvents());
                    events.add(other);
                    setEvents(r, events);
                  }))),
  END_MISSING(
      Kind.LEASE_END, e -> e.withJournal(altered(e.journal(), settles(e), Doctored::dropEnds))),
  SETTLEMENT_LOST(
      Kind.SETTLEMENT_LOST,
      e -> e.withJournal(altered(e.journal(), settles(e), Doctored::dropEnds))),
  SETTLED_OTHERWISE(
      Kind.SETTLEMENT_UNKNOWN,
      e ->
          e.withJournal(
              altered(
                  e.journal(),
                  settles(e),
                  r -> own(r, LeaseSettled.class).put("outcome", Outcome.OVERLOADED)))),
  USAGE_ALTERED(
      Kind.USAGE,
      e ->
          e.withJournal(
              altered(
                  e.journal(),
                  settles(e),
                  r -> {
                    LeaseSettled settled = own(r, LeaseSettled.class);
                    Amounts actual = copy(settled.getActual());
                    actual.put("output_tokens", actual.getOutputTokens() + 1);
                    settled.put("actual", actual);
                  }))),
  ACKNOWLEDGED_LOST(
      Kind.INPUT_LOST,
      e ->
          e.withAgents(
              firstAgent(
                  e,
                  a -> {
                    List<Coordinates> more = new ArrayList<>(a.acknowledged());
                    Coordinates any = more.get(0);
                    more.add(new Coordinates(any.topic(), any.partition(), Integer.MAX_VALUE));
                    return new Agent(a.agentId(), a.sent(), more, a.received(), a.uses());
                  }))),
  SENT_IN_VAIN(
      Kind.NEVER_SENT,
      e ->
          new Evidence(
              e.journal(),
              e.inputs().stream()
                  .filter(input -> !input.value().equals(e.inputs().get(0).value()))
                  .toList(),
              e.deadLetters(),
              e.replies(),
              e.agents(),
              e.ledger(),
              e.lives())),
  DEAD_LETTERED(
      Kind.DEAD_LETTER,
      e ->
          new Evidence(e.journal(), e.inputs(), 1, e.replies(), e.agents(), e.ledger(), e.lives())),
  GRANT_NOT_RECEIVED(
      Kind.DECISION_UNDELIVERED,
      e -> {
        // One of the last, after which nobody was killed.
        Agent agent = e.agents().get(0);
        Delivery gone = lastGrant(agent);
        return e.withAgents(
            firstAgent(
                e,
                a ->
                    received(
                        a,
                        a.received().stream()
                            .filter(
                                d ->
                                    !d.decision()
                                        .getDecisionId()
                                        .equals(gone.decision().getDecisionId()))
                            .toList())));
      }),
  REPLY_NOT_READ(
      Kind.REPLY_UNREAD,
      e ->
          e.withAgents(
              firstAgent(e, a -> received(a, a.received().subList(1, a.received().size()))))),
  GRANT_OF_NOWHERE(
      Kind.DECISION_UNKNOWN,
      e ->
          e.withAgents(
              firstAgent(
                  e,
                  a -> {
                    List<Delivery> more = new ArrayList<>(a.received());
                    Delivery any = lastGrant(a);
                    Decision decision = copy(any.decision());
                    Grant grant = copy(decision.getGranted());
                    grant.put("lease_id", "nowhere");
                    decision.put("granted", grant);
                    more.add(new Delivery(any.at(), decision, any.receivedAtMs()));
                    return received(a, more);
                  }))),
  GRANT_DROPPED(
      Kind.GRANT_FORGOTTEN,
      e ->
          e.withAgents(
              firstAgent(
                  e,
                  a -> {
                    String lease = lastGrant(a).decision().getGranted().getLeaseId();
                    return new Agent(
                        a.agentId(),
                        a.sent().stream().filter(sent -> !names(sent, lease)).toList(),
                        a.acknowledged(),
                        a.received(),
                        a.uses().stream().filter(use -> !use.leaseId().equals(lease)).toList());
                  }))),
  HANDED_TWICE(
      Kind.LEASE_REUSED,
      e ->
          e.withAgents(
              firstAgent(
                  e,
                  a -> {
                    List<LeaseUse> more = new ArrayList<>(a.uses());
                    more.add(more.get(0));
                    return new Agent(a.agentId(), a.sent(), a.acknowledged(), a.received(), more);
                  }))),
  CALLED_TWICE(
      Kind.LEASE_REUSED,
      e -> {
        List<LedgerEntry> more = new ArrayList<>(e.ledger());
        more.add(more.get(0));
        return e.withLedger(more);
      }),
  CALL_OF_NOWHERE(
      Kind.CALL_WITHOUT_GRANT, e -> e.withLedger(firstCall(e, c -> call(c, "nowhere", 0)))),
  CALL_MISSING(Kind.CALL_UNACCOUNTED, e -> e.withLedger(firstCall(e, c -> null))),
  CALL_LARGER(Kind.USAGE, e -> e.withLedger(firstCall(e, c -> call(c, c.call(), 1)))),
  CALL_TOO_LATE(
      Kind.CALL_AFTER_END,
      e ->
          e.withJournal(
              altered(
                  e.journal(),
                  settles(e),
                  r -> {
                    LeaseSettled settled = first(r, LeaseSettled.class);
                    List<Object> events = new ArrayList<>(r.getEvents());
                    events.add(
                        0,
                        new LeaseExpired(
                            settled.getQuota(),
                            settled.getRequestId(),
                            settled.getAgentId(),
                            settled.getLeaseId(),
                            0L,
                            0L,
                            null,
                            null,
                            Map.of(),
                            null,
                            null));
                    setEvents(r, events);
                    r.put("at_ms", 0L);
                  })));

  private final Kind kind;
  private final UnaryOperator<Evidence> change;

  Doctored(Kind kind, UnaryOperator<Evidence> change) {
    this.kind = kind;
    this.change = change;
  }

  /** What has to be found, besides what else may be. */
  Kind kind() {
    return kind;
  }

  /** A bad copy; the evidence itself stays as it is. */
  Evidence alter(Evidence evidence) {
    return change.apply(evidence);
  }

  // ---- the journal

  private interface Change {
    void apply(AdmissionEvent record);
  }

  private static Predicate<AdmissionEvent> grants() {
    return r ->
        r.getCommand() instanceof RequestLease
            && r.getEvents().stream().anyMatch(LeaseGranted.class::isInstance);
  }

  /** A success that an agent settled. */
  private static Predicate<AdmissionEvent> settles(Evidence evidence) {
    return r ->
        r.getEvents().stream()
            .anyMatch(
                event ->
                    event instanceof LeaseSettled settled
                        && settled.getOutcome() == Outcome.SUCCEEDED
                        && !settled.getLate()
                        && evidence.agents().stream()
                            .flatMap(agent -> agent.uses().stream())
                            .anyMatch(use -> use.leaseId().equals(settled.getLeaseId())));
  }

  private static int indexOf(List<AdmissionEvent> journal, Predicate<AdmissionEvent> which) {
    for (int i = 0; i < journal.size(); i++) {
      if (which.test(journal.get(i))) {
        return i;
      }
    }
    throw new IllegalStateException("Expected such a record in the journal");
  }

  private static long last(List<AdmissionEvent> journal, String key) {
    return journal.stream()
        .filter(r -> r.getKey().equals(key) && !(r.getCommand() instanceof TakeSnapshot))
        .mapToLong(AdmissionEvent::getSequence)
        .max()
        .orElse(0);
  }

  private static List<AdmissionEvent> without(
      List<AdmissionEvent> journal, Predicate<AdmissionEvent> which) {
    List<AdmissionEvent> left = new ArrayList<>(journal);
    left.remove(indexOf(left, which));
    return left;
  }

  private static List<AdmissionEvent> altered(
      List<AdmissionEvent> journal, Predicate<AdmissionEvent> which, Change change) {
    List<AdmissionEvent> changed = new ArrayList<>(journal);
    int at = indexOf(changed, which);
    AdmissionEvent record = copy(changed.get(at));
    change.apply(record);
    changed.set(at, record);
    return changed;
  }

  private static <T> T first(AdmissionEvent record, Class<T> type) {
    return record.getEvents().stream().filter(type::isInstance).map(type::cast).findFirst().get();
  }

  /** The first event of a type, as a copy that is in the record in its place. */
  private static <T extends SpecificRecordBase> T own(AdmissionEvent record, Class<T> type) {
    T event = first(record, type);
    T copied = copy(event);
    List<Object> events = new ArrayList<>(record.getEvents());
    events.set(events.indexOf(event), copied);
    setEvents(record, events);
    return copied;
  }

  /** A copy of the record alone, not of what is in it. */
  private static <T extends SpecificRecordBase> T copy(T record) {
    try {
      @SuppressWarnings("unchecked")
      T copied = (T) record.getClass().getDeclaredConstructor().newInstance();
      for (Schema.Field field : record.getSchema().getFields()) {
        copied.put(field.pos(), record.get(field.pos()));
      }
      return copied;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void dropEnds(AdmissionEvent record) {
    List<Object> events = new ArrayList<>(record.getEvents());
    events.removeIf(LeaseSettled.class::isInstance);
    setEvents(record, events);
  }

  private static void setEvents(AdmissionEvent record, List<Object> events) {
    record.put("events", events);
  }

  // ---- agents

  private static List<Agent> firstAgent(Evidence evidence, UnaryOperator<Agent> change) {
    List<Agent> agents = new ArrayList<>(evidence.agents());
    agents.set(0, change.apply(agents.get(0)));
    return agents;
  }

  private static Agent received(Agent agent, List<Delivery> received) {
    return new Agent(agent.agentId(), agent.sent(), agent.acknowledged(), received, agent.uses());
  }

  private static Delivery lastGrant(Agent agent) {
    return agent.received().stream()
        .filter(delivery -> delivery.decision().getGranted() != null)
        .reduce((one, later) -> later)
        .orElseThrow();
  }

  private static boolean names(SpecificRecord sent, String leaseId) {
    return sent instanceof Settlement settlement && leaseId.equals(settlement.getLeaseId());
  }

  // ---- the provider

  private static List<LedgerEntry> firstCall(Evidence evidence, UnaryOperator<LedgerEntry> change) {
    List<String> succeeded =
        evidence.agents().stream()
            .flatMap(agent -> agent.uses().stream())
            .filter(use -> use.outcome() == Outcome.SUCCEEDED)
            .map(LeaseUse::leaseId)
            .toList();
    List<LedgerEntry> calls = new ArrayList<>(evidence.ledger());
    for (int i = 0; i < calls.size(); i++) {
      if (succeeded.contains(calls.get(i).call())) {
        LedgerEntry changed = change.apply(calls.remove(i));
        if (changed != null) {
          calls.add(changed);
        }
        return calls;
      }
    }
    throw new IllegalStateException("Expected a call that succeeded");
  }

  private static LedgerEntry call(LedgerEntry call, String leaseId, long moreTokens) {
    return new LedgerEntry(
        call.seq(),
        leaseId,
        call.turn(),
        call.agent(),
        call.arrivedNs(),
        call.finishedNs(),
        call.status(),
        call.inputTokens() + moreTokens,
        call.outputTokens(),
        call.refusedBy(),
        call.retryAfterS());
  }
}
