package dev.fairway.cli.up;

import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionClientConfig;
import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.gateway.Gateway;
import dev.fairway.agent.gateway.GatewayConfig;
import dev.fairway.cli.CliException;
import dev.fairway.cli.config.GatewaySection;
import dev.fairway.cli.ops.AgentStore;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.Topics;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.common.KafkaException;

/** The gateway of {@code fairway up}, with the client through which it asks. */
final class GatewayProcess implements AutoCloseable {
  private static final int DECISION_THREADS = 2;
  private static final int OTHERS_MAX = 20_000;

  private final ExecutorService decisions;
  private final AdmissionClient client;
  private final RegistrationModes modes;
  private final Gateway gateway;

  private GatewayProcess(
      ExecutorService decisions, AdmissionClient client, RegistrationModes modes, Gateway gateway) {
    this.decisions = decisions;
    this.client = client;
    this.modes = modes;
    this.gateway = gateway;
  }

  /** Has the decisions for all agents behind the gateway come to it, unless they do already. */
  static void register(String id, Pipeline pipeline) {
    AgentStore agents = new AgentStore(pipeline);
    AgentRegistration known = agents.all().get(id);
    if (known == null || !known.getMembers()) {
      agents.put(
          AgentRegistration.newBuilder()
              .setAgentId(id)
              .setReplyTopic(known == null ? null : known.getReplyTopic())
              .setReplyPartition(known == null ? null : known.getReplyPartition())
              .setMembers(true)
              .setGatewayModes(known == null ? Map.of() : known.getGatewayModes())
              .setRegisteredAtMs(System.currentTimeMillis())
              .build());
    }
  }

  /**
   * Says what would keep it from starting, as far as that can be known before anything else runs.
   *
   * @throws CliException if something would, with a message for people
   */
  static void check(GatewaySection section) {
    try {
      Gateway.check(section.config());
    } catch (IllegalArgumentException e) {
      throw new CliException("The gateway cannot start. " + e.getMessage(), e);
    }
  }

  /**
   * Starts it.
   *
   * @param port to listen on, instead of the section's
   * @param handover file that it leaves to the next one, should it be killed
   * @throws CliException if it cannot be started, with a message for people
   */
  static GatewayProcess start(
      GatewaySection section,
      int port,
      String bootstrap,
      String registry,
      Topics topics,
      Path handover,
      Map<String, String> clientSettings) {
    ExecutorService decisions =
        Executors.newFixedThreadPool(
            DECISION_THREADS,
            task -> {
              Thread thread = new Thread(task, "fairway-gateway-decisions");
              thread.setDaemon(true);
              return thread;
            });
    AdmissionClient client = null;
    RegistrationModes modes = null;
    try {
      GatewayConfig config = section.config().withPort(port);
      // Leases over HTTP, and calls that outlive their clients, come on top of the open ones.
      int callsMax = config.bounds().openCalls() + OTHERS_MAX;
      client =
          AdmissionClient.start(
              AdmissionClientConfig.of(bootstrap, registry, section.id())
                  .topicPrefix(topics.prefix())
                  .bounds(callsMax, 2 * callsMax)
                  .fallback(section.fallback())
                  .completionExecutor(decisions)
                  .handover(handover)
                  .clientProperties(clientSettings)
                  .build());
      modes = new RegistrationModes(section.id(), bootstrap, registry, topics, clientSettings);
      return new GatewayProcess(decisions, client, modes, Gateway.start(config, client, modes));
    } catch (IllegalArgumentException | AdmissionException | KafkaException e) {
      if (modes != null) {
        modes.close();
      }
      if (client != null) {
        client.close();
      }
      decisions.shutdownNow();
      throw new CliException("The gateway did not start. " + e.getMessage(), e);
    }
  }

  /** Base URL for clients. */
  String url() {
    return gateway.url();
  }

  @Override
  public void close() {
    try {
      gateway.close();
    } finally {
      modes.close();
      client.close();
      decisions.shutdown();
    }
  }
}
