package dev.fairway.it.registry;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * The real Apicurio registry, in memory in a child process, shared by all tests of this JVM and
 * ended with it. The build unpacks it before the integration tests; tests are skipped where it did
 * not.
 */
public final class ApicurioRegistry {

  private static final Path FOLDER = Path.of("target/apicurio");
  private static final Path LOG = Path.of("target/apicurio.log");
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static String url;

  private ApicurioRegistry() {}

  /** Base address of its Confluent API, compatibility set as the protocol wants it. */
  public static synchronized String url() {
    if (url == null) {
      url = start(runner());
    }
    return url;
  }

  private static Path runner() {
    if (Files.isDirectory(FOLDER)) {
      try (Stream<Path> files = Files.list(FOLDER)) {
        List<Path> runners = files.filter(file -> file.toString().endsWith("-runner.jar")).toList();
        if (!runners.isEmpty()) {
          return runners.get(0);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return abort(
        "This test needs Apicurio in %s; mvn verify unpacks it there"
            .formatted(FOLDER.toAbsolutePath()));
  }

  private static String start(Path runner) {
    try {
      int port = freePort();
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx384m",
                  "-XX:TieredStopAtLevel=1",
                  "-Dquarkus.http.host=127.0.0.1",
                  "-Dquarkus.http.port=" + port,
                  "-jar",
                  runner.toAbsolutePath().toString())
              .redirectErrorStream(true)
              .redirectOutput(LOG.toFile())
              .start();
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
      String base = "http://127.0.0.1:" + port + "/apis/ccompat/v7";
      Awaitility.await("Apicurio answers; see " + LOG.toAbsolutePath())
          .atMost(Duration.ofMinutes(2))
          .pollInterval(Duration.ofMillis(200))
          .ignoreExceptions()
          .until(() -> setCompatibility(base) == 200);
      return base;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int setCompatibility(String base) throws IOException, InterruptedException {
    return HTTP.send(
            HttpRequest.newBuilder(URI.create(base + "/config"))
                .header("Content-Type", "application/vnd.schemaregistry.v1+json")
                .PUT(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"compatibility\":\"BACKWARD_TRANSITIVE\"}"))
                .timeout(Duration.ofSeconds(10))
                .build(),
            HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      return socket.getLocalPort();
    }
  }
}
