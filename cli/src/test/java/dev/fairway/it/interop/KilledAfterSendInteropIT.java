package dev.fairway.it.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import dev.fairway.it.Peers;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.DuplicateIgnored;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RequestLease;
import dev.fairway.schemas.SettleLease;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Python agent with a checkpoint, killed with SIGKILL when its call is at the provider. */
class KilledAfterSendInteropIT {
  private static final Path SCRIPT = Path.of("../examples/python/checkpointed_agent.py");
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final byte[] ANSWER =
      "{\"usage\":{\"input_tokens\":170,\"output_tokens\":7}}".getBytes(StandardCharsets.UTF_8);

  private static final byte[] COUNT = "{\"input_tokens\":165}".getBytes(StandardCharsets.UTF_8);

  @TempDir Path folder;

  private final InteropPipeline pipeline = InteropPipeline.shared();
  private final AtomicInteger calls = new AtomicInteger();
  private final CountDownLatch killed = new CountDownLatch(1);
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private HttpServer provider;

  /** A provider that answers nobody before the agent was killed. */
  @BeforeEach
  void start() throws IOException {
    provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    provider.setExecutor(executor);
    provider.createContext(
        "/v1/messages",
        exchange -> {
          try (exchange) {
            exchange.getRequestBody().readAllBytes();
            calls.incrementAndGet();
            killed.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            exchange.sendResponseHeaders(200, ANSWER.length);
            exchange.getResponseBody().write(ANSWER);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    provider.createContext(
        "/v1/messages/count_tokens",
        exchange -> {
          try (exchange) {
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, COUNT.length);
            exchange.getResponseBody().write(COUNT);
          }
        });
    provider.start();
    Files.writeString(folder.resolve("notes.txt"), "a".repeat(600));
  }

  @AfterEach
  void stop() {
    provider.stop(0);
    executor.shutdownNow();
  }

  /**
   * The answer is lost: nobody knows what the first call used, so it stays charged as it was
   * estimated. Its repetition is a second call at the provider, and is charged as that.
   */
  @Test
  void shouldChargeEachOfTheCallsThatWereSentOnce() throws Exception {
    // given
    String key = "python-sent";
    String sent = killAfterSend(key);

    // when
    List<String> output = runToEnd(key, "second");

    // then: nothing is read again, and the call is asked for as a retry of the lost one
    List<LeaseSettled> settled = pipeline.events(key, LeaseSettled.class, 2);
    List<LeaseGranted> granted = pipeline.events(key, LeaseGranted.class, 2);
    String repeated = granted.get(1).getRequestId();
    assertThat(output)
        .containsExactly(
            "resumed: " + sent + " was sent, its answer is lost",
            "resumed: 0 of 1 files changed",
            "waiting as " + repeated,
            "settled " + repeated);
    assertThat(repeated).isNotEqualTo(sent);
    assertThat(calls).hasValue(2);
    assertThat(
            commands(key, RequestLease.class).stream()
                .filter(command -> command.getRequest().getRequestId().equals(repeated)))
        .isNotEmpty()
        .allMatch(command -> command.getRequest().getRetryOf().equals(sent));

    // and
    assertThat(granted).hasSize(2);
    assertThat(settled).hasSize(2);
    assertThat(settled.get(0).getLeaseId()).isEqualTo(granted.get(0).getLeaseId());
    assertThat(settled.get(0).getOutcome()).isEqualTo(Outcome.FAILED_AFTER_SEND);
    assertThat(settled.get(0).getActual().getInputTokens())
        .as("neither given back nor charged again")
        .isEqualTo(granted.get(0).getCharged().getInputTokens());
    assertThat(settled.get(1).getLeaseId()).isEqualTo(granted.get(1).getLeaseId());
    assertThat(settled.get(1).getOutcome()).isEqualTo(Outcome.SUCCEEDED);
    assertThat(settled.get(1).getActual().getInputTokens()).isEqualTo(170);
  }

  /** The answer is there, and its settlement perhaps on its way: it is settled, and not sent. */
  @Test
  void shouldSettleWithoutSendingAgainWhenTheAnswerWasThere() throws Exception {
    // given: killed between the answer, which it wrote down, and the settlement
    String key = "python-answered";
    final String sent = killAfterSend(key);
    Path checkpoint = folder.resolve(".fairway/checkpoint.json");
    ObjectNode state = (ObjectNode) AgentProgram.JSON.readTree(Files.readString(checkpoint));
    ObjectNode used = state.withObject("/next_call").putObject("used");
    used.putObject("usage").put("input_tokens", 170).put("output_tokens", 7);
    used.putObject("signal").put("status", 200).put("class", "OK").put("age_ms", 0);
    String answered = AgentProgram.JSON.writeValueAsString(state);
    Files.writeString(checkpoint, answered);

    // when: and then killed again, between the settlement and the end of the checkpoint
    List<String> second = runToEnd(key, "second");
    Files.writeString(checkpoint, answered);
    List<String> third = runToEnd(key, "third");

    // then
    assertThat(second).containsExactly("settled " + sent);
    assertThat(third).containsExactly("settled " + sent);
    assertThat(calls).hasValue(1);
    assertThat(pipeline.events(key, DuplicateIgnored.class, 1)).hasSize(1);
    assertThat(commands(key, SettleLease.class)).hasSize(2);
    assertThat(commands(key, RequestLease.class)).hasSize(1);
    assertThat(pipeline.events(key, LeaseSettled.class, 1))
        .singleElement()
        .satisfies(
            settled -> {
              assertThat(settled.getRequestId()).isEqualTo(sent);
              assertThat(settled.getOutcome()).isEqualTo(Outcome.SUCCEEDED);
              assertThat(settled.getActual().getInputTokens()).isEqualTo(170);
            });
  }

  /** The id of the request whose call is at the provider when the agent is killed. */
  private String killAfterSend(String key) throws Exception {
    pipeline.define(key + "/model");
    Process first = run(key, "first");
    try {
      await()
          .atMost(PATIENCE)
          .failFast("the agent ended", () -> !first.isAlive())
          .until(() -> calls.get() == 1);
    } finally {
      first.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
      killed.countDown();
    }
    String requestId = pipeline.events(key, LeaseGranted.class, 1).get(0).getRequestId();
    assertThat(output("first")).containsExactly("read notes.txt", "waiting as " + requestId);
    return requestId;
  }

  private List<String> runToEnd(String key, String name) throws Exception {
    Process process = run(key, name);
    try {
      assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).as(name).isTrue();
      assertThat(process.exitValue()).as("%s", output(name)).isZero();
      assertThat(folder.resolve(".fairway")).isEmptyDirectory();
      return output(name);
    } finally {
      process.destroyForcibly();
    }
  }

  private Process run(String key, String name) {
    return Peers.startPython(
        SCRIPT,
        List.of(
            pipeline.bootstrap(),
            pipeline.registryUrl(),
            AgentProgram.SCHEMAS,
            pipeline.topics().prefix(),
            key + "-agent",
            key + "/model",
            folder.toString()),
        Map.of(
            "PROVIDER_URL", "http://127.0.0.1:" + provider.getAddress().getPort() + "/v1/messages"),
        folder.resolve(name + ".log"));
  }

  private List<String> output(String name) throws IOException {
    return Files.readAllLines(folder.resolve(name + ".log"));
  }

  private <T> List<T> commands(String key, Class<T> type) {
    return pipeline.journal(key, journal -> true).stream()
        .map(AdmissionEvent::getCommand)
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }
}
