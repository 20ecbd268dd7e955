package dev.fairway.it.agent;

import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionClientConfig;
import dev.fairway.agent.Lease;
import dev.fairway.agent.LeaseCall;
import dev.fairway.it.TestCluster;
import dev.fairway.schemas.LeaseRequest;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** Clients and a coordinator on the shared broker, with topics of their own in each test. */
abstract class AgentIntegration {
  static final String QUOTA = "key-1/sonnet";
  static final Duration PATIENCE = Duration.ofSeconds(30);

  final String prefix = TestCluster.newPrefix("agent");

  FakeCoordinator coordinator(BiConsumer<FakeCoordinator, LeaseRequest> onRequest) {
    return new FakeCoordinator(TestCluster.bootstrapServers(), prefix, onRequest);
  }

  static LeaseCall.Builder call() {
    return LeaseCall.of(QUOTA).inputTokens(100).maxOutputTokens(20).timeout(PATIENCE);
  }

  static Lease lease(CompletableFuture<Lease> future) {
    return future.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
  }

  ClientSetup client(String agentId) {
    return new ClientSetup(agentId);
  }

  /** A client about to start. */
  final class ClientSetup {
    private final String agentId;
    private String bootstrap = TestCluster.bootstrapServers();
    private String sharedTopic;
    private int sharedPartition;
    private Duration callTimeout = PATIENCE;
    private Duration startTimeout = PATIENCE;

    private ClientSetup(String agentId) {
      this.agentId = agentId;
    }

    ClientSetup bootstrap(String address) {
      this.bootstrap = address;
      return this;
    }

    ClientSetup shared(String topic, int partition) {
      this.sharedTopic = topic;
      this.sharedPartition = partition;
      return this;
    }

    ClientSetup callTimeout(Duration timeout) {
      this.callTimeout = timeout;
      return this;
    }

    ClientSetup startTimeout(Duration timeout) {
      this.startTimeout = timeout;
      return this;
    }

    AdmissionClient start() {
      AdmissionClientConfig.Builder config =
          AdmissionClientConfig.of(bootstrap, "http://127.0.0.1:1", agentId)
              .topicPrefix(prefix)
              .callTimeout(callTimeout)
              .startTimeout(startTimeout)
              .clientProperties(
                  Map.of(
                      "value.serializer", SharedRegistrySerializer.class.getName(),
                      "value.deserializer", SharedRegistryDeserializer.class.getName()));
      if (sharedTopic != null) {
        config.sharedReplyTopic(sharedTopic, sharedPartition);
      }
      return AdmissionClient.start(config.build());
    }
  }
}
