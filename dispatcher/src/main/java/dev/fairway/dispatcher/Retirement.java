package dev.fairway.dispatcher;

import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.Topics;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Retires agents that registered themselves and fell silent, and deletes the topics of retired
 * agents after a time of grace. Done by one dispatcher for all. Used by the loop's thread.
 */
final class Retirement {

  private static final Logger log = LoggerFactory.getLogger(Retirement.class);

  /**
   * Each turn does a part, so that a thousand agents that leave together don't hold up the others.
   */
  private static final int AGENTS_PER_TURN_MAX = 100;

  private final Topics names;
  private final boolean open;
  private final long idleMs;
  private final long graceMs;
  private final AgentTable table;
  private final AgentDirectory.RegistrationWriter writer;
  private final KafkaReplyTopics topics;
  private final Deliveries deliveries;
  private final Set<String> beingDeleted = new HashSet<>();

  Retirement(
      DispatcherConfig config,
      AgentTable table,
      AgentDirectory.RegistrationWriter writer,
      KafkaReplyTopics topics,
      Deliveries deliveries) {
    this.names = config.topics();
    this.open = config.openMode();
    this.idleMs = config.agentIdleMs();
    this.graceMs = config.retireGraceMs();
    this.table = table;
    this.writer = writer;
    this.topics = topics;
    this.deliveries = deliveries;
  }

  /** Does what is due. */
  void turn(long nowMs) {
    if (open) {
      for (AgentRegistration idle :
          table.ownRegistrationsBefore(nowMs - idleMs, AGENTS_PER_TURN_MAX)) {
        String agentId = idle.getAgentId();
        log.info("Agent {} is retired: it has not asked for {} s", agentId, idleMs / 1_000);
        table.retire(agentId, nowMs);
        deliveries.retire(agentId);
        writer.publish(agentId, null);
      }
    }
    List<String> left = table.topicsLeftBefore(nowMs - graceMs, AGENTS_PER_TURN_MAX);
    if (!left.isEmpty()) {
      Set<String> named = table.namedTopics();
      left.forEach(agentId -> delete(agentId, named));
    }
  }

  private void delete(String agentId, Set<String> topicsNamedByOthers) {
    String topic = names.reply(agentId);
    if (topicsNamedByOthers.contains(topic)) {
      table.topicDeleted(agentId);
    } else if (beingDeleted.add(agentId)) {
      topics.delete(
          topic,
          gone -> {
            beingDeleted.remove(agentId);
            // An agent that came back meanwhile is not in the list; its topic is made again.
            if (gone) {
              table.topicDeleted(agentId);
            }
          });
    }
  }
}
