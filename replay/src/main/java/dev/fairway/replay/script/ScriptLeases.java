package dev.fairway.replay.script;

import dev.fairway.admission.engine.Event;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which agent and which lease a script means by a request id. Requests that wait or hold a lease
 * are all known; those that ended are known up to a bound, the latest ones.
 */
final class ScriptLeases {
  /** How many ended requests can still be named; the oldest is forgotten first. */
  static final int ENDED_MAX = 100_000;

  /** A request, the agent that made it, and its latest lease or null. */
  record Named(String requestId, String agentId, String leaseId) {}

  private record RequestKey(String quotaId, String requestId, String agentId) {}

  private final Map<RequestKey, Named> live = new HashMap<>();
  private final Map<RequestKey, Named> ended =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<RequestKey, Named> eldest) {
          return size() > ENDED_MAX;
        }
      };

  /** Takes in what an event says of a request. */
  void apply(Event event) {
    if (event instanceof Event.LeaseEnqueued e) {
      live(e.quotaId(), e.waiter().request().requestId(), e.waiter().request().agentId(), null);
    } else if (event instanceof Event.LeaseGranted e) {
      live(e.quotaId(), e.requestId(), e.agentId(), e.leaseId());
    } else if (event instanceof Event.LeaseSettled e) {
      end(e.quotaId(), e.requestId(), e.agentId());
    } else if (event instanceof Event.LeaseExpired e) {
      end(e.quotaId(), e.requestId(), e.agentId());
    } else if (event instanceof Event.LeaseRejected e) {
      end(e.quotaId(), e.requestId(), e.agentId());
    } else if (event instanceof Event.LeaseCancelled e) {
      end(e.quotaId(), e.requestId(), e.agentId());
    } else if (event instanceof Event.RequestIgnored e) {
      end(e.quotaId(), e.requestId(), e.agentId());
    } else if (event instanceof Event.UnleasedCharged e) {
      end(e.quotaId(), e.requestId(), e.agentId());
    }
  }

  /**
   * The latest of that id.
   *
   * @param agentId agent, or null: whoever made the latest request of that id
   * @return null if no such request is known
   */
  Named find(String quotaId, String requestId, String agentId) {
    RequestKey key = new RequestKey(quotaId, requestId, agentId);
    Named named = live.get(key);
    return named != null ? named : ended.get(key);
  }

  private void live(String quotaId, String requestId, String agentId, String leaseId) {
    for (RequestKey key : keys(quotaId, requestId, agentId)) {
      Named before = ended.remove(key);
      before = before != null ? before : live.get(key);
      boolean same = before != null && before.agentId().equals(agentId);
      String latest = leaseId == null && same ? before.leaseId() : leaseId;
      live.put(key, new Named(requestId, agentId, latest));
    }
  }

  private void end(String quotaId, String requestId, String agentId) {
    for (RequestKey key : keys(quotaId, requestId, agentId)) {
      Named named = live.get(key);
      if (named == null) {
        ended.merge(
            key,
            new Named(requestId, agentId, null),
            (before, latest) -> before.agentId().equals(agentId) ? before : latest);
      } else if (named.agentId().equals(agentId)) {
        live.remove(key);
        ended.put(key, named);
      }
    }
  }

  /** Every request is found with its agent, and without one. */
  private static RequestKey[] keys(String quotaId, String requestId, String agentId) {
    return new RequestKey[] {
      new RequestKey(quotaId, requestId, agentId), new RequestKey(quotaId, requestId, null)
    };
  }
}
