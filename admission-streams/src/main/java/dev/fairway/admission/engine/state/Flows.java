package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.state.DueIndex.Due;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Finish tags of the agents of a quota. A tag lives while it is ahead of the virtual time: an agent
 * without one starts at the virtual time, so nobody saves up credit by staying away. What
 * settlements moved its waiting requests by lives as long as any of them waits.
 */
final class Flows {
  private record Flow(long tag, long shift) {}

  private final Map<String, Flow> flows = new HashMap<>();
  private final TreeSet<Due> byTag = new TreeSet<>();

  /** Finish tag of an agent, or null if it starts at the virtual time. */
  Long tag(String agentId) {
    Flow flow = flows.get(agentId);
    return flow == null ? null : (Long) flow.tag;
  }

  /** What settlements moved an agent's waiting requests by. */
  long shift(String agentId) {
    Flow flow = flows.get(agentId);
    return flow == null ? 0 : flow.shift;
  }

  void put(String agentId, long tag, long shift) {
    remove(agentId);
    flows.put(agentId, new Flow(tag, shift));
    byTag.add(new Due(tag, agentId));
  }

  void remove(String agentId) {
    Flow old = flows.remove(agentId);
    if (old != null) {
      byTag.remove(new Due(old.tag, agentId));
    }
  }

  /**
   * Forgets the tags that the virtual time has reached, but not how far an agent's line was moved
   * that still waits; returns their agents.
   */
  List<String> forgetUpTo(long virtualTime, Predicate<String> waits) {
    List<String> gone = new ArrayList<>();
    for (Due due : byTag) {
      if (due.atMs() > virtualTime) {
        break;
      }
      if (shift(due.name()) == 0 || !waits.test(due.name())) {
        gone.add(due.name());
      }
    }
    gone.forEach(this::remove);
    return gone;
  }

  /** Agents that have a tag, sorted. */
  Iterable<String> agents() {
    return new TreeSet<>(flows.keySet());
  }
}
