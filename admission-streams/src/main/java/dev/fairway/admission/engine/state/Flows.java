package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.state.DueIndex.Due;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Finish tags of the agents of a quota. A tag lives while it is ahead of the virtual time: an agent
 * without one starts at the virtual time, so nobody saves up credit by staying away.
 */
final class Flows {
  private final Map<String, Long> tags = new HashMap<>();
  private final TreeSet<Due> byTag = new TreeSet<>();

  /** Finish tag of an agent, or null if it starts at the virtual time. */
  Long tag(String agentId) {
    return tags.get(agentId);
  }

  /** Sets a tag; one that is not ahead of the virtual time is forgotten. True if a tag lives. */
  boolean set(String agentId, long tag, long virtualTime) {
    Long old = tags.remove(agentId);
    if (old != null) {
      byTag.remove(new Due(old, agentId));
    }
    if (tag <= virtualTime) {
      return false;
    }
    tags.put(agentId, tag);
    byTag.add(new Due(tag, agentId));
    return true;
  }

  /** Forgets the tags that the virtual time has reached; returns their agents. */
  List<String> forgetUpTo(long virtualTime) {
    List<String> gone = new ArrayList<>();
    while (!byTag.isEmpty() && byTag.first().atMs() <= virtualTime) {
      String agent = byTag.pollFirst().name();
      tags.remove(agent);
      gone.add(agent);
    }
    return gone;
  }

  Map<String, Long> all() {
    return tags;
  }
}
