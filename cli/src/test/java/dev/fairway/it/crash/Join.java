package dev.fairway.it.crash;

import dev.fairway.agent.Charge;
import dev.fairway.cli.demo.emulator.LedgerEntry;
import dev.fairway.it.crash.Differences.Kind;
import dev.fairway.it.crash.Evidence.Agent;
import dev.fairway.it.crash.Evidence.Delivery;
import dev.fairway.it.crash.Evidence.Input;
import dev.fairway.it.crash.JournalView.Granted;
import dev.fairway.it.crash.JournalView.LeaseStory;
import dev.fairway.it.crash.JournalView.RequestKey;
import dev.fairway.it.crash.JournalView.Told;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.avro.specific.SpecificRecord;

/**
 * Joins what agents received, what the provider saw and what the journal says. Knows records only,
 * no class of the engine or the dispatcher.
 *
 * <p>One difference is legitimate, and counted apart: a decision that nobody could deliver while it
 * was worth anything, because the process was down. A grant is worth delivering until a second
 * after its lease ends, anything else for a minute. It counts as deliverable, and its absence as a
 * difference, if no kill came in that time, or if after it the process was ready for {@link
 * #DELIVERED_WITHIN_MS} at a stretch. Its lease must have ended unused.
 */
final class Join {
  /** Within this time of its being ready, the process has delivered what was left over. */
  static final long DELIVERED_WITHIN_MS = 5_000;

  private static final long GRANT_TOLERANCE_MS = 1_000;
  private static final long OTHERS_WORTH_MS = 60_000;

  private final Evidence evidence;
  private final JournalView journal;
  private final Differences differences = new Differences();
  private final Map<String, List<LedgerEntry>> callsByLease = new HashMap<>();
  private final Map<String, LeaseUse> usesByLease = new HashMap<>();
  private final Map<String, Set<Outcome>> settlementsByLease = new HashMap<>();
  private final Set<RequestKey> withdrawn = new HashSet<>();
  private final Set<String> undeliverableLeases = new HashSet<>();
  private int undeliverable;
  private int duplicates;

  private Join(Evidence evidence) {
    this.evidence = evidence;
    this.journal = new JournalView(evidence.journal());
  }

  /**
   * What the join found.
   *
   * @param undeliverableLeases leases whose grant nobody could deliver, however often it was told
   * @param undeliverable decisions that nobody could deliver, those grants included
   * @param duplicates deliveries of a decision that was delivered before
   */
  record Result(
      Differences differences,
      JournalView journal,
      int undeliverableLeases,
      int undeliverable,
      int duplicates) {}

  static Result of(Evidence evidence) {
    Join join = new Join(evidence);
    join.index();
    join.sequences();
    join.inputs();
    join.requests();
    join.leases();
    join.evidence.agents().forEach(join::deliveries);
    join.unreceived();
    join.uses();
    join.calls();
    join.settlements();
    return new Result(
        join.differences,
        join.journal,
        join.undeliverableLeases.size(),
        join.undeliverable,
        join.duplicates);
  }

  private void index() {
    for (LedgerEntry call : evidence.ledger()) {
      callsByLease.computeIfAbsent(call.call(), id -> new ArrayList<>()).add(call);
    }
    for (Agent agent : evidence.agents()) {
      for (LeaseUse use : agent.uses()) {
        if (usesByLease.putIfAbsent(use.leaseId(), use) != null) {
          differences.add(Kind.LEASE_REUSED, use.leaseId() + " was handed out twice");
        }
      }
    }
    for (Input input : evidence.inputs()) {
      if (input.value() instanceof Settlement settlement) {
        if (settlement.getOutcome() == Outcome.CANCELLED) {
          withdrawn.add(new RequestKey(settlement.getAgentId(), settlement.getRequestId()));
        } else {
          settlementsByLease
              .computeIfAbsent(settlement.getLeaseId(), id -> new HashSet<>())
              .add(settlement.getOutcome());
        }
      }
    }
  }

  // ---- the journal against itself and against its inputs

  private void sequences() {
    journal.sequences.forEach(
        (key, sequences) -> {
          for (int i = 0; i < sequences.size(); i++) {
            if (sequences.get(i) != i + 1) {
              differences.add(
                  Kind.SEQUENCE,
                  "key " + key + " has " + sequences.get(i) + " in place " + (i + 1));
              return;
            }
          }
        });
  }

  private void inputs() {
    Set<Coordinates> there = new HashSet<>();
    Set<SpecificRecord> values = new HashSet<>();
    Set<String> topics = new HashSet<>();
    for (Input input : evidence.inputs()) {
      there.add(input.at());
      topics.add(input.at().topic());
      values.add(input.value());
      int times = journal.handled.getOrDefault(input.at(), 0);
      if (times != 1) {
        differences.add(Kind.INPUT_UNHANDLED, input.at() + " was handled " + times + " times");
      }
    }
    for (Coordinates handled : journal.handled.keySet()) {
      if (topics.contains(handled.topic()) && !there.contains(handled)) {
        differences.add(Kind.INPUT_UNHANDLED, handled + " was handled, and is not in its topic");
      }
    }
    for (Agent agent : evidence.agents()) {
      for (Coordinates acknowledged : agent.acknowledged()) {
        if (!there.contains(acknowledged)) {
          differences.add(Kind.INPUT_LOST, acknowledged + " of " + agent.agentId());
        }
      }
      for (SpecificRecord sent : Set.copyOf(agent.sent())) {
        if (!values.contains(sent)) {
          differences.add(Kind.NEVER_SENT, sent.toString());
        }
      }
    }
    for (long i = 0; i < evidence.deadLetters(); i++) {
      differences.add(Kind.DEAD_LETTER, "number " + (i + 1));
    }
  }

  private void requests() {
    Set<RequestKey> requests = new HashSet<>();
    for (Input input : evidence.inputs()) {
      if (input.value() instanceof LeaseRequest request) {
        requests.add(new RequestKey(request.getAgentId(), request.getRequestId()));
      }
    }
    for (RequestKey request : requests) {
      if (!journal.answers.containsKey(request)) {
        differences.add(Kind.UNDECIDED, request.toString());
      }
    }
    journal.grantsByRequest.forEach(
        (request, grants) -> {
          // The first is above 1 where the request repeats one that failed; then one by one.
          int first = grants.get(0).getAttempt();
          for (int i = 0; i < grants.size(); i++) {
            if (first < 1 || grants.get(i).getAttempt() != first + i) {
              differences.add(
                  Kind.ATTEMPT,
                  request + " has attempt " + grants.get(i).getAttempt() + " in place " + (i + 1));
            }
          }
          if (!requests.contains(request)) {
            differences.add(Kind.ATTEMPT, request + " was granted, and nobody asked");
          }
        });
  }

  /** Settled, expired, or expired and then settled late: nothing else, and nothing twice. */
  private void leases() {
    Set<List<String>> proper =
        Set.of(List.of("settled"), List.of("expired"), List.of("expired", "settled late"));
    journal.leases.forEach(
        (id, lease) -> {
          if (lease.grants.size() != 1) {
            differences.add(Kind.ATTEMPT, id + " was granted " + lease.grants.size() + " times");
          }
          if (!proper.contains(lease.ends)) {
            differences.add(Kind.LEASE_END, id + " ended as " + lease.ends);
          }
        });
  }

  // ---- what agents received

  private void deliveries(Agent agent) {
    Set<String> ids = new HashSet<>();
    Set<Coordinates> read = new HashSet<>();
    Set<String> returned = new HashSet<>();
    for (SpecificRecord sent : agent.sent()) {
      if (sent instanceof Settlement settlement && settlement.getLeaseId() != null) {
        returned.add(settlement.getLeaseId());
      }
    }
    for (Delivery delivery : agent.received()) {
      Decision decision = delivery.decision();
      read.add(delivery.at());
      if (!ids.add(decision.getDecisionId())) {
        duplicates++;
      }
      Told told = journal.decisions.get(decision.getDecisionId());
      if (told == null || !agent.agentId().equals(told.agentId()) || !tells(decision, told)) {
        differences.add(Kind.DECISION_UNKNOWN, decision + ", journal: " + told);
      }
      if (decision.getGranted() != null
          && !usesByLease.containsKey(decision.getGranted().getLeaseId())
          && !returned.contains(decision.getGranted().getLeaseId())) {
        differences.add(Kind.GRANT_FORGOTTEN, decision.toString());
      }
    }
    for (Coordinates reply : evidence.replies()) {
      if (reply.topic().endsWith("." + agent.agentId()) && !read.contains(reply)) {
        differences.add(Kind.REPLY_UNREAD, reply.toString());
      }
    }
  }

  private static boolean tells(Decision decision, Told told) {
    if (!decision.getRequestId().equals(told.requestId())
        || !decision.getAgentId().equals(told.agentId())) {
      return false;
    }
    if (told.told() instanceof LeaseGranted grant) {
      return decision.getGranted() != null
          && decision.getQuota().equals(grant.getQuota())
          && decision.getGranted().getLeaseId().equals(grant.getLeaseId())
          && decision.getGranted().getAttempt() == grant.getAttempt()
          && decision.getGranted().getCharged().equals(grant.getCharged())
          && decision.getGranted().getExpiresAtMs() == grant.getExpiresAtMs();
    }
    if (told.told() instanceof LeaseRejected rejected) {
      return decision.getRejected() != null
          && decision.getRejected().getReason() == rejected.getReason();
    }
    return decision.getQueued() != null;
  }

  private void unreceived() {
    Set<String> received = new HashSet<>();
    Set<String> deliveredLeases = new HashSet<>();
    for (Agent agent : evidence.agents()) {
      for (Delivery delivery : agent.received()) {
        received.add(delivery.decision().getDecisionId());
        if (delivery.decision().getGranted() != null) {
          deliveredLeases.add(delivery.decision().getGranted().getLeaseId());
        }
      }
    }
    for (Told told : journal.decisions.values()) {
      if (received.contains(told.decisionId())) {
        continue;
      }
      long worthUntilMs =
          told.told() instanceof LeaseGranted granted
              ? granted.getExpiresAtMs() + GRANT_TOLERANCE_MS
              : told.atMs() + OTHERS_WORTH_MS;
      if (deliverable(told.atMs(), worthUntilMs)) {
        differences.add(Kind.DECISION_UNDELIVERED, told.toString());
        continue;
      }
      undeliverable++;
      if (told.told() instanceof LeaseGranted granted
          && !deliveredLeases.contains(granted.getLeaseId())) {
        undeliverableLeases.add(granted.getLeaseId());
      }
    }
    for (String leaseId : undeliverableLeases) {
      if (callsByLease.containsKey(leaseId) || usesByLease.containsKey(leaseId)) {
        differences.add(Kind.CALL_WITHOUT_GRANT, leaseId + " was used, and never delivered");
      }
    }
  }

  private boolean deliverable(long fromMs, long untilMs) {
    boolean killed = false;
    for (Life life : evidence.lives()) {
      killed |= life.endedAtMs() >= fromMs && life.endedAtMs() <= untilMs;
      if (life.readyAtMs() != null) {
        long upFromMs = Math.max(fromMs, life.readyAtMs());
        if (Math.min(untilMs, life.endedAtMs()) - upFromMs >= DELIVERED_WITHIN_MS) {
          return true;
        }
      }
    }
    return !killed;
  }

  // ---- what agents did, and what the provider saw

  private void uses() {
    for (LeaseUse use : usesByLease.values()) {
      LeaseStory lease = journal.leases.get(use.leaseId());
      LeaseGranted grant =
          lease == null || lease.grants.isEmpty() ? null : lease.grants.get(0).event();
      if (grant == null
          || !grant.getAgentId().equals(use.agentId())
          || !grant.getRequestId().equals(use.requestId())
          || grant.getAttempt() != use.attempt()
          || !charge(grant.getCharged()).equals(use.charged())) {
        differences.add(Kind.DECISION_UNKNOWN, use + ", journal: " + grant);
        continue;
      }
      if (use.sentAtMs() != null
          && lease.expiredAtMs.stream().anyMatch(endedAtMs -> endedAtMs < use.sentAtMs())) {
        differences.add(Kind.CALL_AFTER_END, use + ", journal: " + lease.expiredAtMs);
      }
      LeaseSettled settled = lease.settled.isEmpty() ? null : lease.settled.get(0);
      if (use.acknowledged() != LeaseUse.Acknowledged.NO
          && (settled == null || settled.getOutcome() != use.outcome())) {
        differences.add(Kind.SETTLEMENT_LOST, use + ", journal: " + settled);
      }
      List<LedgerEntry> calls = callsByLease.getOrDefault(use.leaseId(), List.of());
      if (!agree(use, calls)) {
        differences.add(Kind.CALL_UNACCOUNTED, use + ", provider: " + calls);
      }
    }
  }

  /** Who hung up does not know whether the provider saw the call. */
  private static boolean agree(LeaseUse use, List<LedgerEntry> calls) {
    if (use.sentAtMs() == null) {
      return calls.isEmpty();
    }
    if (use.status() == null) {
      return calls.size() <= 1;
    }
    return calls.size() == 1
        && calls.get(0).status() == use.status()
        && (use.status() != 200
            || (Objects.equals(calls.get(0).inputTokens(), use.inputTokens())
                && Objects.equals(calls.get(0).outputTokens(), use.outputTokens())));
  }

  private void calls() {
    callsByLease.forEach(
        (leaseId, calls) -> {
          LeaseStory lease = journal.leases.get(leaseId);
          if (lease == null || lease.grants.isEmpty()) {
            differences.add(Kind.CALL_WITHOUT_GRANT, calls.toString());
            return;
          }
          if (calls.size() > 1) {
            differences.add(Kind.LEASE_REUSED, calls.toString());
          }
          Granted grant = lease.grants.get(0);
          LedgerEntry call = calls.get(0);
          LeaseUse use = usesByLease.get(leaseId);
          if (use == null
              || use.sentAtMs() == null
              || !grant.event().getAgentId().equals(call.agent())) {
            differences.add(Kind.CALL_UNACCOUNTED, call + ", agent: " + use);
          }
        });
  }

  // ---- what was settled

  private void settlements() {
    journal.leases.forEach(
        (leaseId, lease) -> {
          for (LeaseSettled settled : lease.settled) {
            boolean sent =
                settlementsByLease.getOrDefault(leaseId, Set.of()).contains(settled.getOutcome());
            boolean withdrawnGrant =
                settled.getOutcome() == Outcome.NOT_SENT
                    && withdrawn.contains(
                        new RequestKey(settled.getAgentId(), settled.getRequestId()));
            if (!sent && !withdrawnGrant) {
              differences.add(Kind.SETTLEMENT_UNKNOWN, settled.toString());
            }
            usage(settled, callsByLease.getOrDefault(leaseId, List.of()));
          }
        });
  }

  private void usage(LeaseSettled settled, List<LedgerEntry> calls) {
    LedgerEntry call = calls.isEmpty() ? null : calls.get(0);
    Amounts actual = settled.getActual();
    boolean right =
        switch (settled.getOutcome()) {
          case SUCCEEDED ->
              call != null
                  && call.status() == 200
                  && actual.getRequests() == 1
                  && Objects.equals(actual.getInputTokens(), call.inputTokens())
                  && Objects.equals(actual.getOutputTokens(), call.outputTokens());
          case RATE_LIMITED ->
              call != null
                  && call.status() == 429
                  && actual.getInputTokens() == 0
                  && actual.getOutputTokens() == 0;
          case NOT_SENT ->
              call == null
                  && actual.getRequests() == 0
                  && actual.getInputTokens() == 0
                  && actual.getOutputTokens() == 0;
          // Usage unknown: it stays as charged, whatever the provider saw.
          case FAILED_AFTER_SEND -> actual.getRequests() == 1;
          default -> false;
        };
    if (!right) {
      differences.add(Kind.USAGE, settled + ", provider: " + calls);
    }
  }

  private static Charge charge(Amounts amounts) {
    return new Charge(
        amounts.getRequests(),
        amounts.getInputTokens(),
        amounts.getOutputTokens(),
        amounts.getTokens(),
        amounts.getConcurrentRequests());
  }
}
