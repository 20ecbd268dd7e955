package dev.fairway.dispatcher;

import dev.fairway.schemas.AgentRegistration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The topic of agents as a table: who is registered, and who was retired lately. Used by the loop's
 * thread.
 *
 * <p>Both parts are bounded. A registration beyond the bound is not taken; of the retired the oldest are
 * forgotten, and then count as never registered.
 */
final class AgentTable {

  private final int agentsMax;
  private final Map<String, AgentRegistration> registered = new HashMap<>();
  private final LinkedHashMap<String, Long> retiredAtMs = new LinkedHashMap<>();

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
    return true;
  }

  /** The agent is gone since then. */
  void retire(String agentId, long atMs) {
    registered.remove(agentId);
    retiredAtMs.remove(agentId);
    retiredAtMs.put(agentId, atMs);
    if (retiredAtMs.size() > agentsMax) {
      retiredAtMs.remove(retiredAtMs.keySet().iterator().next());
    }
  }

  /** Registrations that the dispatcher made, last renewed before then; at most so many. */
  List<AgentRegistration> ownRegistrationsBefore(long beforeMs, int max) {
    return registered.values().stream()
        .filter(r -> r.getRegisteredBy().equals(AgentDirectory.REGISTERED_BY))
        .filter(r -> r.getRegisteredAtMs() < beforeMs)
        .limit(max)
        .toList();
  }

  /** Agents retired before then, the earliest first; at most so many. */
  List<String> retiredBefore(long beforeMs, int max) {
    List<String> agents = new ArrayList<>();
    for (Map.Entry<String, Long> entry : retiredAtMs.entrySet()) {
      if (agents.size() == max) {
        break;
      }
      if (entry.getValue() < beforeMs) {
        agents.add(entry.getKey());
      }
    }
    return agents;
  }
}
