package dev.fairway.cli.embedded;

import dev.fairway.schemas.service.FileTrouble;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loopback ports by name, kept in a file, so that whoever restarts on the same folder is found
 * where it was. Not thread-safe.
 */
public final class RememberedPorts {

  private static final Logger log = LoggerFactory.getLogger(RememberedPorts.class);
  private static final int PORT_MAX = 65_535;
  private static final String LOOPBACK = "127.0.0.1";

  private final Path file;
  private final Properties ports;

  private RememberedPorts(Path file, Properties ports) {
    this.file = file;
    this.ports = ports;
  }

  /** The ports that a file remembers; none if there is no such file. */
  public static RememberedPorts read(Path file) {
    Properties ports = new Properties();
    if (Files.exists(file)) {
      try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
        ports.load(reader);
      } catch (IOException | IllegalArgumentException e) {
        // Only a convenience is lost: fresh ports do as well.
        ports.clear();
      }
    }
    return new RememberedPorts(file, ports);
  }

  /**
   * The asked port, else the remembered one if nobody has it, else a free one, which is told.
   *
   * @param asked 0: none asked
   * @param option where another port is asked for, for people, such as {@code --port}; null where
   *     nobody may ask
   * @throws EmbeddedKafkaException if the asked port is taken
   */
  public int choose(String name, int asked, String option) {
    if (asked != 0) {
      requireFree(LOOPBACK, asked, option);
    }
    int port = asked;
    if (port == 0) {
      port = remembered(name);
    }
    while (port == 0 || isChosenForAnother(name, port)) {
      port = freePort();
    }
    String lost = ports.getProperty(name);
    if (asked == 0 && option != null && lost != null && !lost.equals(Integer.toString(port))) {
      log.warn(
          "Expected port {} of last time for {}, but another process listens on it: {} is used"
              + " instead. Give clients that knew the old one the new address, or free it, or set it"
              + " with {}.",
          lost,
          name,
          port,
          option);
    }
    ports.setProperty(name, Integer.toString(port));
    return port;
  }

  /**
   * Keeps the chosen ports; the file is replaced in one step, so that a crash leaves the old one or
   * the new one.
   */
  public void save() {
    Path written = file.resolveSibling(file.getFileName() + ".new");
    try {
      try (Writer writer = Files.newBufferedWriter(written, StandardCharsets.UTF_8)) {
        ports.store(writer, "Loopback ports, kept over restarts");
      }
      Files.move(
          written, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new EmbeddedKafkaException(
          "Expected to write " + written + ", but: " + FileTrouble.of(e) + ".", e);
    }
  }

  /**
   * Says at once what would be found only when the server starts.
   *
   * @param host address to listen on
   * @param port a port that was asked for, not 0
   * @param option where another is asked for, for people
   * @throws EmbeddedKafkaException if the port is taken, with a message for people
   */
  public static void requireFree(String host, int port, String option) {
    String trouble = trouble(new InetSocketAddress(host, port));
    if (trouble != null) {
      throw new EmbeddedKafkaException(
          "Expected port "
              + port
              + " of "
              + host
              + " to be free, but "
              + (trouble.contains("in use")
                  ? "another process listens on it. Stop that process, or choose"
                  : "it cannot be listened on: " + trouble + ". Choose")
              + " another port with "
              + option
              + ".",
          null);
    }
  }

  /** Whether nobody listens on a port of 127.0.0.1. */
  static boolean isFree(int port) {
    return trouble(new InetSocketAddress(LOOPBACK, port)) == null;
  }

  /** Why it cannot be listened on; null if it can. */
  private static String trouble(InetSocketAddress address) {
    if (address.isUnresolved()) {
      return "there is no host " + address.getHostString();
    }
    try (ServerSocket socket = new ServerSocket()) {
      // As servers bind: connections of an earlier run in TIME_WAIT don't count.
      socket.setReuseAddress(true);
      socket.bind(address);
      return null;
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  private int remembered(String name) {
    String text = ports.getProperty(name, "");
    int port = text.matches("[0-9]{1,5}") ? Integer.parseInt(text) : 0;
    return port > 0 && port <= PORT_MAX && isFree(port) ? port : 0;
  }

  private boolean isChosenForAnother(String name, int port) {
    return ports.stringPropertyNames().stream()
        .anyMatch(
            other ->
                !other.equals(name) && ports.getProperty(other).equals(Integer.toString(port)));
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new EmbeddedKafkaException(
          "Expected a free port on 127.0.0.1, but: " + FileTrouble.of(e) + ".", e);
    }
  }
}
