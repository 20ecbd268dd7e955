package dev.fairway.dispatcher;

import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.Ids;
import dev.fairway.schemas.Topics;
import java.util.regex.Pattern;

/**
 * Says where an agent's decisions go. The address comes from the table of registrations and never
 * from a request: a request that named its own could have another agent's lease ids delivered to
 * its writer.
 *
 * <p>A registration may speak for members, whose ids begin with its own and a colon: thousands of
 * short-lived agents of one trust boundary need neither a topic nor a registration each.
 *
 * <p>In open mode an agent that is not registered is registered here, and one that keeps asking is
 * renewed, so that the table itself says who was seen lately, on every dispatcher and after a
 * restart.
 */
final class AgentDirectory {

  /** Who registered an agent in open mode. */
  static final String REGISTERED_BY = "dispatcher";

  private static final Pattern TOPIC_GRAMMAR = Pattern.compile("[A-Za-z0-9._-]{1,249}");

  private final Topics names;
  private final boolean open;
  private final long renewAfterMs;
  private final AgentTable table;
  private final RegistrationWriter writer;

  /**
   * A directory over a table that somebody else keeps up to date.
   *
   * @param open whether an agent may register by asking
   * @param renewAfterMs age at which the registration of an agent seen again is renewed
   * @param writer where registrations are published
   */
  AgentDirectory(
      Topics names, boolean open, long renewAfterMs, AgentTable table, RegistrationWriter writer) {
    this.names = names;
    this.open = open;
    this.renewAfterMs = renewAfterMs;
    this.table = table;
    this.writer = writer;
  }

  /** Whether this agent has an address without being registered now. */
  boolean knows(String agentId) {
    AgentRegistration registration = table.get(agentId);
    return registration != null || groupOf(agentId, null) != null;
  }

  /**
   * Where this agent's decisions go, or why they go nowhere.
   *
   * @param asked whether the decision answers a request that the agent just made
   */
  Resolution resolve(String agentId, boolean asked, long nowMs) {
    if (!Ids.isId(agentId)) {
      return Resolution.refused(DropReason.INVALID_AGENT);
    }
    AgentRegistration registration = table.get(agentId);
    AgentRegistration group = groupOf(agentId, registration);
    if (group != null) {
      registration = group;
    } else if (registration == null) {
      if (!open) {
        return Resolution.refused(
            table.isRetired(agentId) ? DropReason.RETIRED : DropReason.UNREGISTERED);
      }
      if (table.isRetired(agentId) && !asked) {
        return Resolution.refused(DropReason.RETIRED);
      }
      registration = register(agentId, nowMs);
      if (registration == null) {
        return Resolution.refused(DropReason.REGISTRY_FULL);
      }
    } else if (asked && isStale(registration, nowMs)) {
      register(agentId, nowMs);
    }
    Route route = routeOf(registration);
    return route == null ? Resolution.refused(DropReason.BAD_ROUTE) : Resolution.to(route);
  }

  /**
   * The address in a registration; null if the dispatcher must not write there: an impossible name
   * or partition, or a topic of the protocol that is no reply topic.
   */
  Route routeOf(AgentRegistration registration) {
    String agentId = registration.getAgentId();
    String topic = registration.getReplyTopic();
    Integer partition = registration.getReplyPartition();
    if (!Ids.isId(agentId)) {
      return null;
    }
    if (topic == null) {
      return partition == null ? new Route(names.reply(agentId), 0, true) : null;
    }
    if (partition != null && partition < 0) {
      return null;
    }
    boolean ofProtocol = topic.startsWith(names.prefix()) && !topic.startsWith(names.replyPrefix());
    if (!isTopicName(topic) || (ofProtocol && !topic.equals(names.reply(agentId)))) {
      return null;
    }
    return new Route(topic, partition == null ? 0 : partition, partition == null);
  }

  /**
   * The registration whose members' decisions include this agent's; null if there is none, or an
   * operator said something else about this very agent.
   */
  private AgentRegistration groupOf(String agentId, AgentRegistration own) {
    int colon = agentId.indexOf(':');
    boolean ownCounts =
        own == null ? table.isRetired(agentId) : !own.getRegisteredBy().equals(REGISTERED_BY);
    if (colon < 1 || ownCounts) {
      return null;
    }
    AgentRegistration group = table.get(agentId.substring(0, colon));
    return group != null && group.getMembers() ? group : null;
  }

  private AgentRegistration register(String agentId, long nowMs) {
    AgentRegistration registration =
        AgentRegistration.newBuilder()
            .setAgentId(agentId)
            .setRegisteredBy(REGISTERED_BY)
            .setRegisteredAtMs(nowMs)
            .build();
    if (!table.put(registration)) {
      return null;
    }
    writer.publish(agentId, registration);
    return registration;
  }

  private boolean isStale(AgentRegistration registration, long nowMs) {
    return open
        && registration.getRegisteredBy().equals(REGISTERED_BY)
        && nowMs - registration.getRegisteredAtMs() > renewAfterMs;
  }

  /** Whether Kafka takes this as the name of a topic, and it is none of Kafka's own. */
  private static boolean isTopicName(String topic) {
    return TOPIC_GRAMMAR.matcher(topic).matches()
        && !topic.equals(".")
        && !topic.equals("..")
        && !topic.startsWith("__");
  }

  /** Publishes registrations to the other dispatchers and to the next run. */
  interface RegistrationWriter {

    /**
     * Writes an agent's registration, sooner or later; does not wait.
     *
     * @param registration null retires the agent
     */
    void publish(String agentId, AgentRegistration registration);
  }

  /**
   * An address, or the reason why there is none; exactly one is set.
   *
   * @param route null if refused
   * @param refusal null if there is a route
   */
  record Resolution(Route route, DropReason refusal) {

    static Resolution to(Route route) {
      return new Resolution(route, null);
    }

    static Resolution refused(DropReason reason) {
      return new Resolution(null, reason);
    }
  }
}
