package dev.fairway.dispatcher;

import dev.fairway.schemas.AgentRegistration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The topic of agents as a table: who is registered, and who was retired lately. Used by the loop's
 * thread.
 *
 * <p>Both parts are bounded. A registration beyond the bound is not taken; of the retired the
 * oldest are forgotten, and then count as never registered.
 */
final class AgentTable {

  private final int agentsMax;
  private final Map<String, AgentRegistration> registered = new HashMap<>();
  private final Map<String, Long> retiredAtMs = new LinkedHashMap<>();
  private final Map<String, Long> topicsLeftSinceMs = new LinkedHashMap<>();

  AgentTable(int agentsMax) {
    this.agentsMax = agentsMax;
  }

  /** The agent's registration; null if it is not registered. */
  AgentRegistration get(String agentId) {
    return registered.get(agentId);
  }

  boolean isRetired(String agentId) {
    return retiredAtMs.containsKey(agentId);
  }

  boolean isFull() {
    return registered.size() >= agentsMax;
  }

  int size() {
    return registered.size();
  }

  /**
   * Takes a registration, new or changed.
   *
   * @return false if the table is full and does not know the agent
   */
  boolean put(AgentRegistration registration) {
    String agentId = registration.getAgentId();
    if (isFull() && !registered.containsKey(agentId)) {
      return false;
    }
    registered.put(agentId, registration);
    retiredAtMs.remove(agentId);
    topicsLeftSinceMs.remove(agentId);
    return true;
  }

  /** The agent is gone since then. */
  void retire(String agentId, long atMs) {
    registered.remove(agentId);
    putNewest(retiredAtMs, agentId, atMs);
    putNewest(topicsLeftSinceMs, agentId, atMs);
  }

  /** The retired agent has left no topic of its own, or no longer. */
  void topicDeleted(String agentId) {
    topicsLeftSinceMs.remove(agentId);
  }

  /** Registrations that the dispatcher made, last renewed before then; at most so many. */
  List<AgentRegistration> ownRegistrationsBefore(long beforeMs, int max) {
    return registered.values().stream()
        .filter(r -> r.getRegisteredBy().equals(AgentDirectory.REGISTERED_BY))
        .filter(r -> r.getRegisteredAtMs() < beforeMs)
        .limit(max)
        .toList();
  }

  /** Agents retired before then whose reply topic is still there; at most so many. */
  List<String> topicsLeftBefore(long beforeMs, int max) {
    return topicsLeftSinceMs.entrySet().stream()
        .filter(entry -> entry.getValue() <= beforeMs)
        .limit(max)
        .map(Map.Entry::getKey)
        .toList();
  }

  /** Reply topics that registrations name themselves. */
  Set<String> namedTopics() {
    return registered.values().stream()
        .map(AgentRegistration::getReplyTopic)
        .filter(Objects::nonNull)
        .collect(Collectors.toSet());
  }

  private void putNewest(Map<String, Long> timesMs, String agentId, long atMs) {
    timesMs.remove(agentId);
    timesMs.put(agentId, atMs);
    if (timesMs.size() > agentsMax) {
      timesMs.remove(timesMs.keySet().iterator().next());
    }
  }
}
