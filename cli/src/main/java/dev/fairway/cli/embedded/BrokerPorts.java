package dev.fairway.cli.embedded;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Properties;

/**
 * The two loopback ports of an embedded broker, kept in its folder.
 *
 * @param broker port for clients
 * @param controller port the broker uses to talk to its own controller
 */
record BrokerPorts(int broker, int controller) {

  private static final String FILE = "fairway-ports.properties";

  /**
   * The asked port, else the remembered one if nobody has it, else a free one.
   *
   * @param asked 0: none asked
   * @throws EmbeddedKafkaException if the asked port is taken
   */
  static BrokerPorts choose(Path folder, int asked) {
    if (asked != 0 && !isFree(asked)) {
      throw new EmbeddedKafkaException(
          "Expected port "
              + asked
              + " of 127.0.0.1 to be free, but another process listens on it."
              + " Stop that process, or choose another port.",
          null);
    }
    Properties kept = read(folder);
    int broker = asked != 0 ? asked : keptOrFree(kept.getProperty("broker"));
    int controller = keptOrFree(kept.getProperty("controller"));
    while (controller == broker) {
      controller = freePort();
    }
    return new BrokerPorts(broker, controller);
  }

  String bootstrap() {
    return "127.0.0.1:" + broker;
  }

  boolean areFree() {
    return isFree(broker) && isFree(controller);
  }

  /**
   * Keeps the ports in the folder; replaced in one step, so that a crash leaves the old file or the
   * new one.
   */
  void remember(Path folder) {
    Properties kept = new Properties();
    kept.setProperty("broker", Integer.toString(broker));
    kept.setProperty("controller", Integer.toString(controller));
    Path written = folder.resolve(FILE + ".new");
    try {
      try (Writer writer = Files.newBufferedWriter(written, StandardCharsets.UTF_8)) {
        kept.store(writer, "Ports of the embedded Kafka");
      }
      Files.move(
          written,
          folder.resolve(FILE),
          StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new EmbeddedKafkaException("Expected to write " + written + ", but: " + e, e);
    }
  }

  private static Properties read(Path folder) {
    Properties kept = new Properties();
    Path file = folder.resolve(FILE);
    if (Files.exists(file)) {
      try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
        kept.load(reader);
      } catch (IOException | IllegalArgumentException e) {
        // Only a convenience is lost: fresh ports do as well.
        return new Properties();
      }
    }
    return kept;
  }

  private static int keptOrFree(String kept) {
    if (kept != null && kept.matches("[0-9]{1,5}")) {
      int port = Integer.parseInt(kept);
      if (port > 0 && port <= 65_535 && isFree(port)) {
        return port;
      }
    }
    return freePort();
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      // As the broker binds: connections of an earlier run in TIME_WAIT don't count.
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new EmbeddedKafkaException("Expected a free port on 127.0.0.1, but: " + e, e);
    }
  }
}
