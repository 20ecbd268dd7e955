package dev.fairway.it.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.dispatcher.DispatcherMain;
import dev.fairway.it.TestCluster;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The dispatcher as a process of its own. */
class DispatcherMainIT {

  @TempDir private Path folder;
  private DispatcherHarness harness;
  private Process process;

  @BeforeEach
  void setUp() throws Exception {
    harness = new DispatcherHarness(folder.resolve("registry"));
  }

  @AfterEach
  void tearDown() throws Exception {
    if (process != null) {
      process.destroyForcibly().waitFor();
    }
    harness.close();
  }

  @Test
  void shouldDispatchUntilToldToStopAndCommitThen() throws Exception {
    // given: it commits when it is told to stop, and not before
    int port = freePort();
    process = startHealthy(port, 60_000);

    // when
    RecordMetadata sent = harness.journal(JournalRecords.granted("k", 1, "a1", "r1", 120_000));
    harness.awaitDecisions("a1", 1);

    // then
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(
            () -> get(port, "/metrics").body().contains("fairway_dispatcher_delivered_total 1.0"));
    process.destroy();
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(143);
    assertThat(harness.committed(sent.partition())).isGreaterThan(sent.offset());
  }

  @Test
  void shouldLoseNothingWhenItIsKilled() throws Exception {
    // given
    Set<String> written = new HashSet<>();
    int sequence = 0;

    // when: killed twice in the middle of load
    for (int life = 0; life < 3; life++) {
      process = startHealthy(freePort(), 20);
      for (int i = 0; i < 50; i++) {
        String requestId = "r" + sequence;
        harness.journal(
            JournalRecords.granted("k", sequence, "a" + sequence % 5, requestId, 120_000));
        written.add(requestId);
        sequence++;
      }
      if (life < 2) {
        process.destroyForcibly().waitFor();
      }
    }

    // then
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .untilAsserted(
            () -> {
              Set<String> delivered = new HashSet<>();
              for (int agent = 0; agent < 5; agent++) {
                harness
                    .decisionsOf("a" + agent)
                    .forEach(decision -> delivered.add(decision.getRequestId()));
              }
              assertThat(delivered).isEqualTo(written);
            });
  }

  private Process startHealthy(int port, long commitIntervalMs) throws IOException {
    Path config = folder.resolve("dispatcher.properties");
    Files.writeString(
        config,
        "topic.prefix=%s%ncommit.interval.ms=%d%n"
            .formatted(harness.topics().prefix(), commitIntervalMs));
    Process started = start(config, port);
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(() -> get(port, "/health").statusCode() == 200);
    return started;
  }

  private Process start(Path config, int port) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            DispatcherMain.class.getName(),
            "--config",
            config.toString());
    builder.environment().put("FAIRWAY_BOOTSTRAP_SERVERS", TestCluster.bootstrapServers());
    builder.environment().put("FAIRWAY_SCHEMA_REGISTRY_URL", harness.registryUrl());
    builder.environment().put("FAIRWAY_HTTP_PORT", Integer.toString(port));
    return builder
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("dispatcher.log").toFile())
        .start();
  }

  private static HttpResponse<String> get(int port, String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
