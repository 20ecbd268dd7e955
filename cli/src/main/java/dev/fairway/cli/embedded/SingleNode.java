package dev.fairway.cli.embedded;

import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import kafka.server.BrokerServer;
import kafka.server.ControllerServer;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.server.Server;
import kafka.server.SharedServer;
import kafka.server.StandardFaultHandlerFactory;
import org.apache.kafka.common.errors.BrokerIdNotRegisteredException;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.controller.ControllerRequestContext;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.metadata.properties.MetaPropertiesEnsemble;
import org.apache.kafka.raft.QuorumConfig;
import org.apache.kafka.server.ServerSocketFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;

/**
 * A controller and a broker in this process, as {@link KafkaRaftServer} runs them, but started one
 * after the other, with the broker of the last time forgotten in between.
 *
 * <p>A broker that was killed is still registered as the leader of everything. Started as it is,
 * the new one takes itself for that leader, completes the transactions that the kill interrupted,
 * and loses the leadership while it does, because the controller ends the old registration before
 * it admits the new one. In this moment Kafka 4.3 takes a partition without a leader for a deleted
 * one, leaves out its transaction marker and calls the transaction complete: its readers, or the
 * consumer group, then wait for that marker for ever. A broker that starts without any leadership
 * gets it in one step and keeps it.
 *
 * <p>Not thread-safe.
 */
final class SingleNode {
  private static final Logger log = LoggerFactory.getLogger(SingleNode.class);
  private static final long CONTROLLER_S_MAX = 60;
  private static final long ACTIVE_CHECK_MS = 10;

  private final int nodeId;
  private final ControllerServer controller;
  private final BrokerServer broker;

  /** Creates it from a formatted folder, without starting anything. */
  SingleNode(KafkaConfig config) {
    nodeId = config.nodeId();
    Tuple2<MetaPropertiesEnsemble, BootstrapMetadata> folders =
        KafkaRaftServer.initializeLogDirs(config, log, "");
    QuorumConfig quorum = config.quorumConfig();
    SharedServer shared =
        new SharedServer(
            config,
            folders._1(),
            Time.SYSTEM,
            Server.initializeMetrics(config, Time.SYSTEM, folders._1().clusterId().orElseThrow()),
            CompletableFuture.completedFuture(QuorumConfig.parseVoterConnections(quorum.voters())),
            QuorumConfig.parseBootstrapServers(quorum.bootstrapServers()),
            new StandardFaultHandlerFactory(),
            ServerSocketFactory.INSTANCE);
    broker = new BrokerServer(shared);
    controller = new ControllerServer(shared, KafkaRaftServer.configSchema(), folders._2());
  }

  /** Starts it; {@link #shutdown()} is needed even if that fails. */
  void startup() {
    controller.startup();
    forgetLastBroker();
    broker.startup();
  }

  /** Stops the broker, then the controller. */
  void shutdown() {
    broker.shutdown();
    controller.shutdown();
  }

  /** Waits until both have stopped. */
  void awaitShutdown() {
    broker.awaitShutdown();
    controller.awaitShutdown();
  }

  private void forgetLastBroker() {
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(CONTROLLER_S_MAX);
    try {
      while (!controller.controller().isActive()) {
        if (System.nanoTime() - deadlineNanos >= 0) {
          throw new EmbeddedKafkaException(
              "the controller was not active after " + CONTROLLER_S_MAX + " s", null);
        }
        TimeUnit.MILLISECONDS.sleep(ACTIVE_CHECK_MS);
      }
      controller
          .controller()
          .unregisterBroker(
              new ControllerRequestContext(
                  new RequestHeaderData(), KafkaPrincipal.ANONYMOUS, OptionalLong.empty()),
              nodeId)
          .get(CONTROLLER_S_MAX, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof BrokerIdNotRegisteredException)) {
        throw new EmbeddedKafkaException(
            "the controller could not forget the broker of last time: " + e.getCause(), e);
      }
    } catch (TimeoutException e) {
      throw new EmbeddedKafkaException(
          "the controller did not answer within " + CONTROLLER_S_MAX + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EmbeddedKafkaException("interrupted", e);
    }
  }
}
