package dev.fairway.it.crash;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.CauseKind;
import dev.fairway.schemas.DecisionRepeated;
import dev.fairway.schemas.EtaRevised;
import dev.fairway.schemas.LeaseCancelled;
import dev.fairway.schemas.LeaseExpired;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseQueued;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.RequestIgnored;
import dev.fairway.schemas.TakeSnapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a journal says, by lease, by request and by decision. It only sorts, and judges nothing. */
final class JournalView {
  /** All that became of one lease id, in the journal's order. */
  static final class LeaseStory {
    final List<Granted> grants = new ArrayList<>();
    final List<LeaseSettled> settled = new ArrayList<>();
    final List<Long> expiredAtMs = new ArrayList<>();

    /** The kinds of its ends in their order. */
    final List<String> ends = new ArrayList<>();
  }

  /** A grant and its record. */
  record Granted(LeaseGranted event, String decisionId, long atMs) {}

  /** A decision to be delivered; {@code told} is the event that it tells. */
  record Told(String decisionId, String agentId, String requestId, Object told, long atMs) {}

  /** An agent's request. */
  record RequestKey(String agentId, String requestId) {}

  final Map<String, LeaseStory> leases = new LinkedHashMap<>();
  final Map<String, Told> decisions = new LinkedHashMap<>();
  final Map<RequestKey, List<LeaseGranted>> grantsByRequest = new HashMap<>();
  final Map<RequestKey, List<Object>> answers = new HashMap<>();
  final Map<Coordinates, Integer> handled = new HashMap<>();
  final Map<String, List<Long>> sequences = new HashMap<>();

  JournalView(List<AdmissionEvent> journal) {
    for (AdmissionEvent record : journal) {
      if (!(record.getCommand() instanceof TakeSnapshot)) {
        sequences
            .computeIfAbsent(record.getKey(), key -> new ArrayList<>())
            .add(record.getSequence());
        if (record.getCause().getKind() == CauseKind.RECORD) {
          handled.merge(
              new Coordinates(
                  record.getCause().getTopic(),
                  record.getCause().getPartition(),
                  record.getCause().getOffset()),
              1,
              Integer::sum);
        }
        List<?> events = record.getEvents();
        for (int i = 0; i < events.size(); i++) {
          add(record, i, events.get(i));
        }
      }
    }
  }

  private void add(AdmissionEvent record, int index, Object event) {
    String decisionId =
        record.getKey() + ":" + record.getEpoch() + ":" + record.getSequence() + ":" + index;
    if (event instanceof LeaseGranted e) {
      story(e.getLeaseId()).grants.add(new Granted(e, decisionId, record.getAtMs()));
      grantsByRequest.computeIfAbsent(key(e), k -> new ArrayList<>()).add(e);
      answer(e.getAgentId(), e.getRequestId(), e);
    } else if (event instanceof LeaseSettled e) {
      story(e.getLeaseId()).settled.add(e);
      story(e.getLeaseId()).ends.add(e.getLate() ? "settled late" : "settled");
    } else if (event instanceof LeaseExpired e) {
      story(e.getLeaseId()).expiredAtMs.add(record.getAtMs());
      story(e.getLeaseId()).ends.add("expired");
    } else if (event instanceof LeaseRejected e) {
      answer(e.getAgentId(), e.getRequestId(), e);
    } else if (event instanceof LeaseCancelled e) {
      answer(e.getAgentId(), e.getRequestId(), e);
    } else if (event instanceof RequestIgnored e) {
      answer(e.getAgentId(), e.getRequestId(), e);
    }
    decision(record.getAtMs(), decisionId, event);
  }

  private void decision(long atMs, String decisionId, Object event) {
    Object told = event instanceof DecisionRepeated repeated ? repeated.getDecision() : event;
    Told decision = null;
    if (told instanceof LeaseGranted e) {
      decision = new Told(decisionId, e.getAgentId(), e.getRequestId(), e, atMs);
    } else if (told instanceof LeaseQueued e) {
      decision = new Told(decisionId, e.getAgentId(), e.getRequestId(), e, atMs);
    } else if (told instanceof EtaRevised e) {
      decision = new Told(decisionId, e.getAgentId(), e.getRequestId(), e, atMs);
    } else if (told instanceof LeaseRejected e) {
      decision = new Told(decisionId, e.getAgentId(), e.getRequestId(), e, atMs);
    }
    if (decision != null) {
      decisions.put(decisionId, decision);
    }
  }

  private LeaseStory story(String leaseId) {
    return leases.computeIfAbsent(leaseId, id -> new LeaseStory());
  }

  private void answer(String agentId, String requestId, Object event) {
    answers
        .computeIfAbsent(new RequestKey(agentId, requestId), key -> new ArrayList<>())
        .add(event);
  }

  private static RequestKey key(LeaseGranted e) {
    return new RequestKey(e.getAgentId(), e.getRequestId());
  }
}
