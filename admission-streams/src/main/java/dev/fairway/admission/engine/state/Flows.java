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
 * settlements moved its waiting requests by lives as long as any of them waits. Where places of
 * rejected requests are kept, the tag stays that long: each of them starts no sooner.
 */
final class Flows {
  private record Flow(long tag, long shift, long keptUntilMs) {}

  private final Map<String, Flow> flows = new HashMap<>();
  private final TreeSet<Due> byTag = new TreeSet<>();

  /** Of those that virtual time has passed, the ones that stay for a while. */
  private final TreeSet<Due> kept = new TreeSet<>();

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

  /** Until when an agent's tag stays, wherever virtual time is, or 0. */
  long keptUntilMs(String agentId) {
    Flow flow = flows.get(agentId);
    return flow == null ? 0 : flow.keptUntilMs;
  }

  void put(String agentId, long tag, long shift, long keptUntilMs) {
    remove(agentId);
    flows.put(agentId, new Flow(tag, shift, keptUntilMs));
    byTag.add(new Due(tag, agentId));
  }

  void remove(String agentId) {
    Flow old = flows.remove(agentId);
    if (old != null) {
      byTag.remove(new Due(old.tag, agentId));
      kept.remove(new Due(old.keptUntilMs, agentId));
    }
  }

  /**
   * Forgets the tags that the virtual time has reached, but not how far an agent's line was moved
   * that still waits, nor behind which places are kept; returns their agents.
   */
  List<String> forgetUpTo(long virtualTime, long nowMs, Predicate<String> waits) {
    List<String> gone = new ArrayList<>();
    List<Due> passed = new ArrayList<>();
    for (Due due : byTag) {
      if (due.atMs() > virtualTime) {
        break;
      }
      passed.add(due);
    }
    for (Due due : passed) {
      Flow flow = flows.get(due.name());
      if (flow.keptUntilMs >= nowMs) {
        byTag.remove(due);
        kept.add(new Due(flow.keptUntilMs, due.name()));
      } else if (flow.shift == 0 || !waits.test(due.name())) {
        gone.add(due.name());
      }
    }
    while (!kept.isEmpty() && kept.first().atMs() < nowMs) {
      String agent = kept.pollFirst().name();
      if (shift(agent) == 0 || !waits.test(agent)) {
        gone.add(agent);
      } else {
        byTag.add(new Due(flows.get(agent).tag, agent));
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
