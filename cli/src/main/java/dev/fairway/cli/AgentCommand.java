package dev.fairway.cli;

import dev.fairway.agent.gateway.GatewayConfig.Mode;
import dev.fairway.cli.ops.AgentStore;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.QuotaStore;
import dev.fairway.cli.ops.ReplyTopics;
import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.Ids;
import dev.fairway.schemas.Topics;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code fairway agent}: who may ask for leases, and where the answers go. */
@Command(
    name = "agent",
    description = "Register, retire and list agents.",
    subcommands = {
      AgentCommand.Add.class,
      AgentCommand.SwitchMode.class,
      AgentCommand.Retire.class,
      AgentCommand.ListAll.class
    },
    footer = {"", "Example:", "  fairway agent add worker-7"})
final class AgentCommand extends GroupCommand {

  /** {@code agent add}. */
  @Command(
      name = "add",
      description =
          "Register agents, each with a reply topic of its own or a partition of a shared one.",
      footer = {
        "",
        "Example:",
        "  fairway agent add worker-7 worker-8",
        "  fairway agent add burst-1 --reply-topic pool-replies --reply-partition 3   (a topic that"
            + " exists)",
        "  fairway agent add gateway --members"
      })
  static final class Add extends BaseCommand {

    @Mixin private ConnectionOptions connection;
    @Spec private CommandSpec spec;

    @Parameters(arity = "1..*", paramLabel = "AGENT", description = "Agent ids.")
    private List<String> ids;

    @Option(
        names = "--reply-topic",
        paramLabel = "TOPIC",
        description = "Shared reply topic (default: one of its own).")
    private String replyTopic;

    @Option(
        names = "--reply-partition",
        paramLabel = "N",
        description = "Partition of the shared reply topic.")
    private Integer replyPartition;

    @Option(
        names = "--members",
        description =
            "Also for every agent whose id begins with this one and a colon, as a gateway's do.")
    private boolean members;

    @Override
    public Integer call() {
      check();
      try (Pipeline pipeline = connection.open()) {
        if (replyTopic != null) {
          new ReplyTopics(pipeline).require(replyTopic, replyPartition);
        }
        AgentStore store = new AgentStore(pipeline);
        Map<String, AgentRegistration> known = store.all();
        List<Object> results = new ArrayList<>();
        for (String id : ids) {
          AgentRegistration agent =
              AgentRegistration.newBuilder()
                  .setAgentId(id)
                  .setReplyTopic(replyTopic)
                  .setReplyPartition(replyPartition)
                  .setMembers(members)
                  .setGatewayModes(
                      known.containsKey(id) ? known.get(id).getGatewayModes() : Map.of())
                  .setRegisteredAtMs(System.currentTimeMillis())
                  .build();
          store.put(agent);
          say(id + ": registered, replies on " + replyAddress(agent, pipeline.topics()));
          results.add(result(agent, pipeline.topics()));
        }
        writeJson(Map.of("agents", results));
      }
      return 0;
    }

    private void check() {
      for (String id : ids) {
        if (!Ids.isId(id)) {
          throw new ParameterException(
              spec.commandLine(),
              "Expected an agent id of 1 to 100 letters, digits, '.', '_', ':' and '-', but found '"
                  + id
                  + "'.");
        }
      }
      if ((replyTopic == null) != (replyPartition == null)) {
        throw new ParameterException(
            spec.commandLine(),
            "Expected --reply-topic and --reply-partition together, but found only one of them.");
      }
      if (replyPartition != null && (replyPartition < 0 || ids.size() > 1)) {
        throw new ParameterException(
            spec.commandLine(),
            "Expected one agent and a partition from 0 on, but found "
                + ids.size()
                + " agents on partition "
                + replyPartition
                + ".");
      }
    }
  }

  /** {@code agent mode}. */
  @Command(
      name = "mode",
      description =
          "Switch what gateways do with a quota's calls: hold them until they are granted, or pass"
              + " them and only observe. All gateways with the id follow within seconds.",
      footer = {
        "",
        "Example:",
        "  fairway agent mode gateway anthropic.prod-1/sonnet OBSERVE",
        "  fairway agent mode gateway anthropic.prod-1/sonnet --unset"
      })
  static final class SwitchMode extends BaseCommand {

    @Mixin private ConnectionOptions connection;
    @Spec private CommandSpec spec;

    @Parameters(
        index = "0",
        paramLabel = "GATEWAY",
        description = "Id of the gateways, 'gateway' unless their configuration says another.")
    private String id;

    @Parameters(index = "1", paramLabel = "QUOTA", description = "Quota id.")
    private String quota;

    @Parameters(
        index = "2",
        arity = "0..1",
        paramLabel = "MODE",
        description = "${COMPLETION-CANDIDATES}.")
    private Mode mode;

    @Option(names = "--unset", description = "As the gateways' configuration says, again.")
    private boolean unset;

    @Override
    public Integer call() {
      if (!Ids.isQuotaId(quota)) {
        throw new ParameterException(
            spec.commandLine(), "Expected a quota id such as key/name, but found '" + quota + "'.");
      }
      if ((mode == null) != unset) {
        throw new ParameterException(
            spec.commandLine(),
            "Expected a MODE or --unset, but found " + (unset ? "both." : "neither."));
      }
      try (Pipeline pipeline = connection.open()) {
        AgentStore agents = new AgentStore(pipeline);
        // A quota that is gone may still have been switched, and can be unset.
        if (!unset || !agents.isSwitched(id, quota)) {
          new QuotaStore(pipeline).existing(quota);
        }
        AgentRegistration changed = agents.switchMode(id, quota, unset ? null : mode.name());
        say(quota + ": " + (unset ? "as configured" : mode) + " at every gateway '" + id + "'");
        writeJson(Map.of("gateway", id, "modes", changed.getGatewayModes()));
      }
      return 0;
    }
  }

  /** {@code agent retire}. */
  @Command(
      name = "retire",
      description =
          "Retire agents: their decisions are delivered no more, and their reply topics go.",
      footer = {"", "Example:", "  fairway agent retire worker-7"})
  static final class Retire extends BaseCommand {

    @Mixin private ConnectionOptions connection;

    @Parameters(arity = "1..*", paramLabel = "AGENT", description = "Agent ids.")
    private List<String> ids;

    @Override
    public Integer call() {
      try (Pipeline pipeline = connection.open()) {
        AgentStore store = new AgentStore(pipeline);
        Map<String, AgentRegistration> known = store.all();
        List<String> unknown = ids.stream().filter(id -> !known.containsKey(id)).toList();
        if (!unknown.isEmpty()) {
          throw new CliException(
              "Expected registered agents, but "
                  + unknown
                  + " are not. See 'fairway agent list'; nothing was changed.");
        }
        for (String id : ids) {
          store.retire(id);
          say(id + ": retired");
          if (known.get(id).getMembers()) {
            note(
                "fairway: "
                    + id
                    + " spoke for all its members; a gateway with that id that still runs gets no"
                    + " leases until it is started again");
          }
        }
        writeJson(Map.of("retired", ids));
      }
      return 0;
    }
  }

  /** {@code agent list}. */
  @Command(
      name = "list",
      description = "List the registered agents.",
      footer = {"", "Example:", "  fairway agent list"})
  static final class ListAll extends BaseCommand {

    @Mixin private ConnectionOptions connection;

    @Override
    public Integer call() {
      try (Pipeline pipeline = connection.open()) {
        List<Object> results = new ArrayList<>();
        Table table = new Table("AGENT", "MEMBERS", "REPLIES ON", "REGISTERED BY", "AT");
        for (AgentRegistration agent : new AgentStore(pipeline).all().values()) {
          table.add(
              agent.getAgentId(),
              agent.getMembers() ? "yes" : "no",
              replyAddress(agent, pipeline.topics()),
              agent.getRegisteredBy(),
              agent.getRegisteredAtMs() == 0
                  ? null
                  : Instant.ofEpochMilli(agent.getRegisteredAtMs()));
          results.add(result(agent, pipeline.topics()));
        }
        table.lines().forEach(this::say);
        writeJson(Map.of("agents", results));
      }
      return 0;
    }
  }

  private static String replyAddress(AgentRegistration agent, Topics topics) {
    return agent.getReplyTopic() == null
        ? topics.reply(agent.getAgentId())
        : agent.getReplyTopic()
            + (agent.getReplyPartition() == null ? "" : "[" + agent.getReplyPartition() + "]");
  }

  private static Map<String, Object> result(AgentRegistration agent, Topics topics) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("agent", agent.getAgentId());
    result.put(
        "reply_topic",
        agent.getReplyTopic() == null ? topics.reply(agent.getAgentId()) : agent.getReplyTopic());
    result.put(
        "reply_partition",
        agent.getReplyPartition() == null ? (Object) 0 : agent.getReplyPartition());
    result.put("members", agent.getMembers());
    result.put("registered_by", agent.getRegisteredBy());
    result.put("registered_at_ms", agent.getRegisteredAtMs());
    return result;
  }
}
