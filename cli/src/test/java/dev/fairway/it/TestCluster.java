package dev.fairway.it;

import dev.fairway.cli.embedded.EmbeddedKafka;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;

/**
 * The broker that all integration tests of one JVM share, started by the first that asks. Each test
 * takes a topic prefix of its own, so that tests don't meet.
 */
public final class TestCluster {

  private static final AtomicInteger prefixes = new AtomicInteger();

  private TestCluster() {}

  private static final class Shared {
    private static final EmbeddedKafka KAFKA = startShared();
  }

  /** The shared broker; stopped when the JVM ends. */
  public static EmbeddedKafka kafka() {
    return Shared.KAFKA;
  }

  /** Address of the shared broker. */
  public static String bootstrapServers() {
    return kafka().bootstrapServers();
  }

  /** A topic prefix that no other test of this JVM has, such as {@code roundtrip-3.}. */
  public static String newPrefix(String name) {
    return name + "-" + prefixes.incrementAndGet() + ".";
  }

  /** An admin client of the shared broker, to be closed by the caller. */
  public static Admin admin() {
    return Admin.create(Map.of("bootstrap.servers", bootstrapServers()));
  }

  /** Names of the topics that start with {@code prefix}. */
  public static Set<String> topics(String prefix) {
    try (Admin admin = admin()) {
      Set<String> names = new TreeSet<>(admin.listTopics().names().get());
      names.removeIf(name -> !name.startsWith(prefix));
      return names;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("could not list topics", e);
    }
  }

  /** Deletes a folder and all that is in it. */
  public static void deleteFolder(Path folder) {
    try (Stream<Path> paths = Files.walk(folder)) {
      paths.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(java.io.File::delete);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static EmbeddedKafka startShared() {
    try {
      Path folder = Files.createTempDirectory("fairway-test-kafka");
      EmbeddedKafka kafka = EmbeddedKafka.start(folder);
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    kafka.close();
                    deleteFolder(folder);
                  },
                  "test-kafka-shutdown"));
      return kafka;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
