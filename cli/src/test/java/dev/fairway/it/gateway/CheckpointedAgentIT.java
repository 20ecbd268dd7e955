package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import dev.fairway.agent.checkpoint.Checkpoint;
import dev.fairway.agent.checkpoint.FileCheckpointStore;
import dev.fairway.schemas.DuplicateIgnored;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The Java example of docs/client.md, killed at any moment. */
class CheckpointedAgentIT {
  private static final long INPUT_TOKENS = 3_000;

  private static final String FULL =
      """
      quotas:
        - id: ant/sonnet
          provider: anthropic
          limits: {requests_per_minute: 1000, input_tokens_per_minute: 60000, output_tokens_per_minute: 100000}
      """;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final byte[] ANSWER =
      "{\"usage\":{\"input_tokens\":170,\"output_tokens\":7}}".getBytes(StandardCharsets.UTF_8);

  @TempDir Path folder;

  private String quota = "ant/sonnet";

  private final AtomicInteger calls = new AtomicInteger();
  private HttpServer provider;

  @AfterEach
  void stop() {
    if (provider != null) {
      provider.stop(0);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldGoOnAfterItWasKilledInLineAndBeChargedOnce(boolean edited) throws Exception {
    // given: a bucket that has the tokens after a quarter of a minute
    try (GatewayUp up =
        GatewayUp.start(
            """
            quotas:
              - id: ant/sonnet
                provider: anthropic
                limits: {requests_per_minute: 1000, input_tokens_per_minute: 12000, output_tokens_per_minute: 100000}
                level: {input_tokens: 0}
            """)) {
      Files.writeString(folder.resolve("notes.txt"), "all that there is to know");
      Process first = start(up, "first");
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> up.requests().size() == 1 && output("first").contains("waiting as"));

      // when
      Process beside = start(up, "beside");
      assertThat(beside.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(beside.exitValue()).isEqualTo(1);
      assertThat(output("beside")).contains("Another process works in");
      first.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
      if (edited) {
        Files.writeString(folder.resolve("notes.txt"), "all that there was to know");
      }
      Process second = start(up, "second");
      assertThat(second.waitFor(120, TimeUnit.SECONDS)).isTrue();

      // then
      assertThat(output("second"))
          .contains(edited ? "resumed: 1 of 1 files changed" : "resumed: none of 1 files changed")
          .contains("settled ");
      assertThat(output("second").contains("read again")).isEqualTo(edited);
      assertThat(second.exitValue()).isZero();
      assertThat(up.requests().stream().map(LeaseRequest::getRequestId).distinct()).hasSize(1);
      assertThat(events(up, LeaseGranted.class)).hasSize(1);
      await().atMost(Duration.ofSeconds(10)).until(() -> up.settlements().size() == 1);
      assertThat(folder.resolve("checkpoints")).isEmptyDirectory();
    }
  }

  /** The provider has two calls, and each is charged once. */
  @Test
  void shouldSendAgainAsARetryWhatWasSentWhenItWasKilled() throws Exception {
    // given
    try (GatewayUp up = GatewayUp.start(FULL)) {
      Files.writeString(folder.resolve("notes.txt"), "a \"quoted\"\nline");
      CountDownLatch killed = new CountDownLatch(1);
      startProvider(killed);
      Process first = start(up, "first");
      try {
        await().atMost(Duration.ofSeconds(60)).until(() -> calls.get() == 1);
      } finally {
        first.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        killed.countDown();
      }

      // when
      runToEnd(up, "second", 0);

      // then
      assertThat(calls).hasValue(2);
      String sent = up.requests().get(0).getRequestId();
      assertThat(output("second")).contains("resumed: " + sent + " was sent, its answer is lost");
      assertThat(up.requests().get(up.requests().size() - 1).getRetryOf()).isEqualTo(sent);
      assertThat(events(up, LeaseGranted.class)).hasSize(2);
      await()
          .atMost(Duration.ofSeconds(10))
          .until(() -> events(up, LeaseSettled.class).size() == 2);
      assertThat(events(up, LeaseSettled.class))
          .extracting(LeaseSettled::getOutcome, settled -> settled.getActual().getInputTokens())
          .containsExactly(
              tuple(Outcome.FAILED_AFTER_SEND, INPUT_TOKENS), tuple(Outcome.SUCCEEDED, 170L));
    }
  }

  @Test
  void shouldSettleAndNotSendAgainWhatWasAnsweredAndBeginAnewAfterAReject() throws Exception {
    // given: a run to its end, whose checkpoint is there again as it was before it was deleted
    try (GatewayUp up = GatewayUp.start(FULL)) {
      Files.writeString(folder.resolve("notes.txt"), "all that there is to know");
      startProvider(new CountDownLatch(0));
      runToEnd(up, "first", 0);
      LeaseGranted granted = events(up, LeaseGranted.class).get(0);
      String step = "answered " + granted.getRequestId() + " " + granted.getLeaseId() + " 170 7";
      FileCheckpointStore.open(folder.resolve("checkpoints"))
          .save(Checkpoint.of("task-7", "goal").step(step).build());

      // when
      runToEnd(up, "second", 0);

      // then
      assertThat(output("second")).isEqualTo("settled " + granted.getRequestId());
      await()
          .atMost(Duration.ofSeconds(10))
          .until(() -> events(up, DuplicateIgnored.class).size() == 1);
      assertThat(events(up, LeaseSettled.class)).hasSize(1);
      assertThat(up.requests()).hasSize(1);
      assertThat(calls).hasValue(1);

      // and: what was rejected is over, and who starts again asks for something new
      quota = "ant/unknown";
      runToEnd(up, "rejected", 1);
      assertThat(output("rejected")).contains("UNKNOWN_QUOTA").doesNotContain("\tat ");
      quota = "ant/sonnet";
      runToEnd(up, "fourth", 0);
      assertThat(calls).hasValue(2);
    }
  }

  private void startProvider(CountDownLatch go) throws IOException {
    provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    provider.createContext(
        "/v1/messages",
        exchange -> {
          try (exchange) {
            JSON.readTree(exchange.getRequestBody());
            calls.incrementAndGet();
            assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
            exchange.sendResponseHeaders(200, ANSWER.length);
            exchange.getResponseBody().write(ANSWER);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    provider.start();
  }

  private void runToEnd(GatewayUp up, String name, int exitValue) throws Exception {
    Process process = start(up, name);
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as("%s", output(name)).isEqualTo(exitValue);
    assertThat(folder.resolve("checkpoints")).isEmptyDirectory();
  }

  private static <T> List<T> events(GatewayUp up, Class<T> type) {
    return up.journal().stream()
        .flatMap(entry -> entry.getEvents().stream())
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  private Process start(GatewayUp up, String name) throws IOException {
    ProcessBuilder java =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-cp",
            System.getProperty("java.class.path"),
            Path.of("../examples/java/CheckpointedAgent.java").toAbsolutePath().toString(),
            up.bootstrap(),
            up.registry(),
            "fairway.",
            "agent-7",
            quota,
            folder.toString(),
            Long.toString(INPUT_TOKENS));
    if (provider != null) {
      java.environment()
          .put(
              "PROVIDER_URL",
              "http://127.0.0.1:" + provider.getAddress().getPort() + "/v1/messages");
    }
    return java.redirectErrorStream(true)
        .redirectOutput(folder.resolve(name + ".log").toFile())
        .start();
  }

  private String output(String name) throws IOException {
    List<String> lines = Files.readAllLines(folder.resolve(name + ".log"));
    return String.join("\n", lines);
  }
}
