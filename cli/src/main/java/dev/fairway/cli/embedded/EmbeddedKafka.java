package dev.fairway.cli.embedded;

import dev.fairway.admission.TransactionSettings;
import dev.fairway.schemas.service.FileTrouble;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.metadata.storage.Formatter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Kafka broker and controller in this process, on loopback only, that keeps its data in one
 * folder.
 *
 * <p>The folder is formatted when it is used for the first time and taken as it is afterwards, also
 * after the process was killed: a broker started again on the same folder serves the same topics,
 * offsets and transactions. The ports are kept in the folder too, so that clients find a restarted
 * broker where it was; a kept port that somebody else has taken since is replaced by a free one.
 *
 * <p>Topics are never created by the way: whoever needs one creates it. Safe to start several in
 * one process, each on its own folder. {@link #close()} may be called from any thread, and more
 * than once.
 */
public final class EmbeddedKafka implements AutoCloseable {

  /**
   * Broker-wide bound on one record batch, in bytes. Topics that clients write to have a lower one
   * of their own.
   */
  public static final int MESSAGE_MAX_BYTES = 4 * 1024 * 1024;

  private static final Logger log = LoggerFactory.getLogger(EmbeddedKafka.class);
  private static final int NODE_ID = 1;
  private static final int START_ATTEMPTS_MAX = 3;

  /**
   * Kafka holds a process-wide hook for fatal faults; starts take turns so that each sees its own.
   */
  private static final Object START_LOCK = new Object();

  /** Where clients come in, and where the broker talks to its own controller. */
  private record Ports(int broker, int controller) {

    String bootstrap() {
      return "127.0.0.1:" + broker;
    }

    boolean areFree() {
      return RememberedPorts.isFree(broker) && RememberedPorts.isFree(controller);
    }
  }

  private final SingleNode server;
  private final Ports ports;
  private boolean closed;

  private EmbeddedKafka(SingleNode server, Ports ports) {
    this.server = server;
    this.ports = ports;
  }

  /**
   * Starts a broker on the port that the folder remembers, or on a free one.
   *
   * @param folder where the broker keeps its data; created if absent
   * @throws EmbeddedKafkaException if it does not start; nothing is left running then
   */
  public static EmbeddedKafka start(Path folder) {
    return start(folder, 0, Map.of());
  }

  /**
   * Starts a broker.
   *
   * @param folder where the broker keeps its data; created if absent
   * @param port port for clients, or 0 for the one the folder remembers, or else a free one
   * @param overrides broker settings that replace the ones chosen here; may be empty
   * @throws EmbeddedKafkaException if it does not start; nothing is left running then
   */
  public static EmbeddedKafka start(Path folder, int port, Map<String, String> overrides) {
    EmbeddedKafkaException last = null;
    for (int attempt = 1; attempt <= START_ATTEMPTS_MAX; attempt++) {
      RememberedPorts remembered = RememberedPorts.read(folder.resolve("fairway-ports.properties"));
      Ports ports =
          new Ports(
              remembered.choose("broker", port, "--port"),
              remembered.choose("controller", 0, null));
      try {
        format(folder);
        EmbeddedKafka kafka = startOnce(folder, ports, overrides);
        remembered.save();
        return kafka;
      } catch (EmbeddedKafkaException e) {
        // A port that was free when it was chosen may be taken by the time the broker binds it:
        // choose again.
        last = e;
        if (ports.areFree()) {
          break;
        }
      }
    }
    throw last;
  }

  private static EmbeddedKafka startOnce(Path folder, Ports ports, Map<String, String> overrides) {
    synchronized (START_LOCK) {
      // Kafka halts the process when a start fails; here that is an error like any other, for the
      // caller to tell.
      Exit.setHaltProcedure(EmbeddedKafka::refuseToEnd);
      Exit.setExitProcedure(EmbeddedKafka::refuseToEnd);
      SingleNode server = null;
      try {
        KafkaConfig config = KafkaConfig.apply(settings(folder, ports, overrides), false);
        server = new SingleNode(config);
        server.startup();
        return new EmbeddedKafka(server, ports);
      } catch (RuntimeException e) {
        if (server != null) {
          shutdownAfterFailure(server);
        }
        throw new EmbeddedKafkaException(
            "Expected the embedded Kafka to start in "
                + folder
                + " on "
                + ports.bootstrap()
                + ", but: "
                + rootOf(e),
            e);
      } finally {
        Exit.resetHaltProcedure();
        Exit.resetExitProcedure();
      }
    }
  }

  private static void refuseToEnd(int status, String message) {
    throw new EmbeddedKafkaException(
        message == null ? "Kafka gave up with status " + status : message, null);
  }

  private static void shutdownAfterFailure(SingleNode server) {
    try {
      server.shutdown();
    } catch (RuntimeException e) {
      log.debug("Shutdown after a failed start failed as well", e);
    }
  }

  private static void format(Path folder) {
    try {
      Files.createDirectories(folder);
      // Written last and atomically: with it the folder is formatted, without it a format was cut
      // short.
      if (Files.exists(folder.resolve("meta.properties"))) {
        return;
      }
      new Formatter()
          .setPrintStream(
              new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
          .setNodeId(NODE_ID)
          .setClusterId(Uuid.randomUuid().toString())
          .addDirectory(folder.toString())
          .setMetadataLogDirectory(folder.toString())
          .setControllerListenerName("CONTROLLER")
          .setIgnoreFormatted(true)
          .run();
    } catch (IOException e) {
      throw new EmbeddedKafkaException(
          "Expected a folder that can be written at "
              + folder
              + ", but: "
              + FileTrouble.of(e)
              + ". Choose another with --data.",
          e);
    } catch (Exception e) {
      throw new EmbeddedKafkaException(
          "Expected to format " + folder + " for Kafka, but: " + rootOf(e), e);
    }
  }

  private static Map<String, String> settings(
      Path folder, Ports ports, Map<String, String> overrides) {
    Map<String, Object> p = new HashMap<>();
    p.put("process.roles", "broker,controller");
    p.put("node.id", NODE_ID);
    p.put("controller.quorum.voters", NODE_ID + "@127.0.0.1:" + ports.controller());
    p.put(
        "listeners",
        "PLAINTEXT://127.0.0.1:"
            + ports.broker()
            + ",CONTROLLER://127.0.0.1:"
            + ports.controller());
    p.put("advertised.listeners", "PLAINTEXT://127.0.0.1:" + ports.broker());
    p.put("controller.listener.names", "CONTROLLER");
    p.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
    p.put("inter.broker.listener.name", "PLAINTEXT");
    p.put("log.dirs", folder.toString());
    p.put("server.max.startup.time.ms", 120_000);

    // One node: no replicas, and few partitions of the inner topics, which all have to be loaded at
    // a start.
    p.put("default.replication.factor", 1);
    p.put("offsets.topic.replication.factor", 1);
    p.put("offsets.topic.num.partitions", 4);
    p.put("transaction.state.log.replication.factor", 1);
    p.put("transaction.state.log.min.isr", 1);
    p.put("transaction.state.log.num.partitions", 4);
    p.put("share.coordinator.state.topic.replication.factor", 1);
    p.put("share.coordinator.state.topic.min.isr", 1);
    p.put("share.coordinator.state.topic.num.partitions", 1);
    p.put("auto.create.topics.enable", false);

    // Nobody else could lead, so a broker that stood still, with its laptop asleep say, is not to
    // be fenced for it: while it is, transactions lose their markers (see SingleNode).
    p.put("broker.session.timeout.ms", 24 * 60 * 60 * 1_000);
    p.put("broker.heartbeat.interval.ms", 500);

    // Groups start at once, and a member that died is noticed soon.
    p.put("group.initial.rebalance.delay.ms", 0);
    p.put("group.streams.initial.rebalance.delay.ms", 0);
    p.put("group.min.session.timeout.ms", 1_000);

    // Early commits pay only with these (see TransactionSettings); the last one ends what a killed
    // producer left open.
    TransactionSettings.RECOMMENDED.forEach(p::put);
    p.put("transaction.abort.timed.out.transaction.cleanup.interval.ms", 1_000);

    // Small: segments that retention can delete in time, indexes and buffers that fit a laptop.
    p.put("message.max.bytes", MESSAGE_MAX_BYTES);
    p.put("log.segment.bytes", 64 * 1024 * 1024);
    p.put("log.index.size.max.bytes", 1024 * 1024);
    p.put("log.cleaner.dedupe.buffer.size", 2_097_152);
    p.put("num.network.threads", 2);
    p.put("num.io.threads", 4);
    p.put("background.threads", 2);
    p.putAll(overrides);
    // Kafka parses text into the type it wants, and refuses an int where it wants a short.
    Map<String, String> text = new HashMap<>();
    p.forEach((name, value) -> text.put(name, value.toString()));
    return text;
  }

  /** Why it failed, in words. */
  static String rootOf(Throwable thrown) {
    Throwable root = thrown;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    if (root instanceof IOException trouble) {
      return FileTrouble.of(trouble);
    }
    return root.getMessage() == null
        ? "Kafka gave no reason (" + root.getClass().getSimpleName() + ")"
        : root.getMessage();
  }

  /** Address for {@code bootstrap.servers}. */
  public String bootstrapServers() {
    return ports.bootstrap();
  }

  /** Port for clients. */
  public int port() {
    return ports.broker();
  }

  /** Stops the broker cleanly and waits until it has stopped. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    server.shutdown();
    server.awaitShutdown();
  }
}
