package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.capacity.Share;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** What the agents of a quota may use alone, and how much of the whole that is. */
final class Shares {
  private final Map<String, Share> byAgent = new HashMap<>();
  private final DueIndex due = new DueIndex();
  private long counted;

  Share of(String agentId) {
    return byAgent.get(agentId);
  }

  int size() {
    return byAgent.size();
  }

  /** What of the whole nobody holds. */
  long free() {
    return Math.max(0, Share.WHOLE - counted);
  }

  /** Sets a share; null takes it away. */
  void set(String agentId, Share share) {
    Share old = share == null ? byAgent.remove(agentId) : byAgent.put(agentId, share);
    if (old != null) {
      counted -= old.counted();
      due.remove(old.dueMs(), agentId);
    }
    if (share != null) {
      counted += share.counted();
      due.add(share.dueMs(), agentId);
    }
  }

  /** When the next share shrinks by itself, or {@link Long#MAX_VALUE}. */
  long firstDueMs() {
    return due.firstMs();
  }

  String firstDueAgent() {
    return due.firstName();
  }

  /** All shares, by agent. */
  Map<String, Share> all() {
    return new TreeMap<>(byAgent);
  }
}
