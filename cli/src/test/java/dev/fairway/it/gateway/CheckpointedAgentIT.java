package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import dev.fairway.agent.checkpoint.Checkpoint;
import dev.fairway.agent.checkpoint.FileCheckpointStore;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.DuplicateIgnored;
import dev.fairway.schemas.Ids;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RequestLease;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The Java example of docs/client.md, killed at any moment. */
class CheckpointedAgentIT {
  private static final long INPUT_TOKENS = 3_000;

  /** A key for each test, whose journal is its own; {@code slot} has a call at a time. */
  private static final String QUOTAS =
      """
      quotas:
        - {id: unchanged/slot, provider: anthropic, limits: {concurrent_requests: 1}}
        - {id: edited/slot, provider: anthropic, limits: {concurrent_requests: 1}}
        - {id: late/slot, provider: anthropic, limits: {concurrent_requests: 1}, max_queue_wait: 1s}
        - {id: sent/full, provider: anthropic, limits: {input_tokens_per_minute: 60000}}
        - {id: answered/full, provider: anthropic, limits: {input_tokens_per_minute: 60000}}
      gateway: {}
      """;

  private static final List<String> COMPILED = List.of("CheckpointedAgent");
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String AGENT = "agent-7";
  private static final Path EXAMPLE =
      Path.of("../examples/java/CheckpointedAgent.java").toAbsolutePath();
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final byte[] ANSWER =
      "{\"usage\":{\"input_tokens\":170,\"output_tokens\":7}}".getBytes(StandardCharsets.UTF_8);

  @TempDir static Path classes;

  private static GatewayUp up;

  @TempDir Path folder;

  private String quota;

  private List<String> program = COMPILED;

  private final AtomicInteger calls = new AtomicInteger();
  private HttpServer provider;

  @BeforeAll
  static void startAll() {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    assertThat(compiler.run(null, null, null, "-d", classes.toString(), EXAMPLE.toString()))
        .isZero();
    up = GatewayUp.start(QUOTAS);
  }

  @AfterAll
  static void stopAll() {
    up.close();
  }

  @AfterEach
  void stop() {
    if (provider != null) {
      provider.stop(0);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldGoOnAfterItWasKilledInLineAndBeChargedOnce(boolean edited) throws Exception {
    // given: somebody else has the only slot
    quota = (edited ? "edited" : "unchanged") + "/slot";
    String slot = takeSlot();
    Files.writeString(folder.resolve("notes.txt"), "all that there is to know");
    Process first = start("first");
    awaitInLine("first");

    // when
    Process beside = start("beside");
    assertThat(beside.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(beside.exitValue()).isEqualTo(1);
    assertThat(output("beside")).contains("Another process works in");
    first.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    if (edited) {
      Files.writeString(folder.resolve("notes.txt"), "all that there was to know");
    }
    Process second = start("second");
    await().atMost(PATIENCE).until(() -> output("second").contains("waiting as"));
    giveSlot(slot);
    assertThat(second.waitFor(60, TimeUnit.SECONDS)).isTrue();

    // then
    assertThat(output("second"))
        .contains(edited ? "resumed: 1 of 1 files changed" : "resumed: none of 1 files changed")
        .contains("settled ");
    assertThat(output("second").contains("read again")).isEqualTo(edited);
    assertThat(second.exitValue()).isZero();
    assertThat(requests().stream().map(LeaseRequest::getRequestId).distinct()).hasSize(1);
    assertThat(granted()).hasSize(1);
    awaitSettled(1);
    assertThat(folder.resolve("checkpoints")).isEmptyDirectory();
  }

  /** The id of a request that was rejected stands for the rejection for ten minutes. */
  @Test
  void shouldComeBackForItsPlaceWhereItWasRejectedWhileItWasGone() throws Exception {
    // given: killed in line, where its request may be for two seconds
    quota = "late/slot";
    final String slot = takeSlot();
    Files.writeString(folder.resolve("notes.txt"), "all that there is to know");
    Process first = start("first");
    awaitInLine("first");
    first.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    await().atMost(PATIENCE).until(() -> !events(LeaseRejected.class).isEmpty());

    // when
    Process second = start("second");
    await().atMost(PATIENCE).until(() -> ids().size() > 1);
    giveSlot(slot);
    assertThat(second.waitFor(60, TimeUnit.SECONDS)).isTrue();

    // then: each time by a request that names the one before
    assertThat(second.exitValue()).as("%s", output("second")).isZero();
    assertThat(output("second"))
        .contains("resumed: none of 1 files changed", "DEADLINE_PASSED", "settled ")
        .doesNotContain("\tat ");
    List<LeaseRequest> asked = requests();
    List<String> ids = ids();
    for (LeaseRequest request : asked) {
      int place = ids.indexOf(request.getRequestId());
      assertThat(request.getRetryOf()).isEqualTo(place == 0 ? null : ids.get(place - 1));
    }
    assertThat(granted()).singleElement().extracting(LeaseGranted::getAttempt).isEqualTo(1);
    awaitSettled(1);
    assertThat(folder.resolve("checkpoints")).isEmptyDirectory();
  }

  /** The provider has two calls, and each is charged once. */
  @Test
  void shouldSendAgainAsARetryWhatWasSentWhenItWasKilled() throws Exception {
    // given
    quota = "sent/full";
    Files.writeString(folder.resolve("notes.txt"), "a \"quoted\"\nline");
    CountDownLatch killed = new CountDownLatch(1);
    startProvider(killed);
    Process first = start("first");
    try {
      await().atMost(PATIENCE).until(() -> calls.get() == 1);
    } finally {
      first.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
      killed.countDown();
    }

    // when
    runToEnd("second", 0);

    // then
    assertThat(calls).hasValue(2);
    String sent = requests().get(0).getRequestId();
    assertThat(output("second")).contains("resumed: " + sent + " was sent, its answer is lost");
    assertThat(requests().get(requests().size() - 1).getRetryOf()).isEqualTo(sent);
    assertThat(granted()).hasSize(2);
    awaitSettled(2);
    assertThat(settled())
        .extracting(LeaseSettled::getOutcome, settled -> settled.getActual().getInputTokens())
        .containsExactly(
            tuple(Outcome.FAILED_AFTER_SEND, INPUT_TOKENS), tuple(Outcome.SUCCEEDED, 170L));
  }

  /** Run from its source, as examples/README.md says. */
  @Test
  void shouldSettleAndNotSendAgainWhatWasAnsweredAndBeginAnewAfterAReject() throws Exception {
    // given: a run to its end, whose checkpoint is there again as it was before it was deleted
    quota = "answered/full";
    program = List.of(EXAMPLE.toString());
    Files.writeString(folder.resolve("notes.txt"), "all that there is to know");
    startProvider(new CountDownLatch(0));
    runToEnd("first", 0);
    LeaseGranted granted = granted().get(0);
    String step = "answered " + granted.getRequestId() + " " + granted.getLeaseId() + " 170 7";
    FileCheckpointStore.open(folder.resolve("checkpoints"))
        .save(Checkpoint.of("task-7", "goal").step(step).build());
    program = COMPILED;

    // when
    runToEnd("second", 0);

    // then
    assertThat(output("second")).isEqualTo("settled " + granted.getRequestId());
    await().atMost(PATIENCE).until(() -> events(DuplicateIgnored.class).size() == 1);
    assertThat(settled()).hasSize(1);
    assertThat(requests()).hasSize(1);
    assertThat(calls).hasValue(1);

    // and: what was rejected for good is over, and who starts again asks for something new
    quota = "answered/unknown";
    runToEnd("rejected", 1);
    assertThat(output("rejected")).contains("UNKNOWN_QUOTA").doesNotContain("\tat ");
    quota = "answered/full";
    runToEnd("fourth", 0);
    assertThat(calls).hasValue(2);
  }

  private void awaitInLine(String name) {
    await().atMost(PATIENCE).until(() -> ids().size() == 1 && output(name).contains("waiting as"));
  }

  private void awaitSettled(int leases) {
    await().atMost(PATIENCE).until(() -> settled().size() == leases);
  }

  private String takeSlot() throws IOException, InterruptedException {
    String body =
        "{\"quota\":\"%s\",\"agent\":\"holder\",\"input_tokens\":1,\"wait_ms\":30000}"
            .formatted(quota);
    JsonNode lease = JSON.readTree(post("/v1/leases", body));
    assertThat(lease.path("status").asText()).as(lease.toString()).isEqualTo("GRANTED");
    return lease.path("id").asText();
  }

  private void giveSlot(String lease) throws IOException, InterruptedException {
    post("/v1/leases/" + lease + "/settle", "{\"outcome\":\"NOT_SENT\"}");
  }

  private static String post(String path, String body) throws IOException, InterruptedException {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create(up.url() + path))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
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

  private void runToEnd(String name, int exitValue) throws Exception {
    Process process = start(name);
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as("%s", output(name)).isEqualTo(exitValue);
    assertThat(folder.resolve("checkpoints")).isEmptyDirectory();
  }

  /** What the agent asked for, as often as it did. */
  private List<LeaseRequest> requests() {
    return journal()
        .map(AdmissionEvent::getCommand)
        .filter(RequestLease.class::isInstance)
        .map(command -> ((RequestLease) command).getRequest())
        .filter(request -> request.getAgentId().equals(AGENT))
        .toList();
  }

  private List<String> ids() {
    return requests().stream().map(LeaseRequest::getRequestId).distinct().toList();
  }

  private List<LeaseGranted> granted() {
    List<String> ids = ids();
    return events(LeaseGranted.class).stream()
        .filter(granted -> ids.contains(granted.getRequestId()))
        .toList();
  }

  private List<LeaseSettled> settled() {
    List<String> ids = ids();
    return events(LeaseSettled.class).stream()
        .filter(settled -> ids.contains(settled.getRequestId()))
        .toList();
  }

  private <T> List<T> events(Class<T> type) {
    return journal()
        .flatMap(entry -> entry.getEvents().stream())
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  private Stream<AdmissionEvent> journal() {
    String key = Ids.keyOf(quota);
    return up.journal().stream().filter(entry -> entry.getKey().equals(key));
  }

  private Process start(String name) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp"));
    command.add(classes + File.pathSeparator + System.getProperty("java.class.path"));
    command.addAll(program);
    command.addAll(List.of(up.bootstrap(), up.registry(), "fairway.", AGENT, quota));
    command.addAll(List.of(folder.toString(), Long.toString(INPUT_TOKENS)));
    ProcessBuilder java = new ProcessBuilder(command);
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
