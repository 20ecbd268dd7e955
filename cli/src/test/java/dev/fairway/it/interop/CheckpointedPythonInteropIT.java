package dev.fairway.it.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.fairway.it.Peers;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.DecisionRepeated;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseQueued;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RequestLease;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The Python agent with a checkpoint, killed with SIGKILL while it waits in line. */
class CheckpointedPythonInteropIT {
  private static final Path SCRIPT = Path.of("../examples/python/checkpointed_agent.py");
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String KEY = "python-checkpoint";
  private static final String QUOTA = KEY + "/model";
  private static final String AGENT = "python-checkpointed";

  /**
   * What the provider counts for both files together: it doesn't fit beside {@link #HELD_TOKENS}.
   */
  private static final long COUNTED_TOKENS = 317;

  private static final long HELD_TOKENS = 900;

  @TempDir Path folder;

  private final InteropPipeline pipeline = InteropPipeline.shared();
  private final AtomicInteger counts = new AtomicInteger();
  private final AtomicInteger calls = new AtomicInteger();
  private HttpServer provider;

  @BeforeEach
  void startProvider() throws IOException {
    provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    answer("/v1/messages/count_tokens", "{\"input_tokens\":" + COUNTED_TOKENS + "}", counts);
    answer("/v1/messages", "{\"usage\":{\"input_tokens\":317,\"output_tokens\":7}}", calls);
    provider.start();
  }

  @AfterEach
  void stopProvider() {
    provider.stop(0);
  }

  private void answer(String path, String json, AtomicInteger asked) {
    byte[] answer = json.getBytes(StandardCharsets.UTF_8);
    provider.createContext(
        path,
        exchange -> {
          try (exchange) {
            exchange.getRequestBody().readAllBytes();
            asked.incrementAndGet();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
          }
        });
  }

  @Test
  void shouldReadAgainOnlyWhatChangedAndBeChargedOnce() throws Exception {
    // given: another agent has most of the bucket, and ours waits in line
    pipeline.define(QUOTA);
    AgentProgram.CONFLUENT_PYTHON
        .job(pipeline, KEY + "-holder")
        .ask("held", QUOTA, HELD_TOKENS)
        .await("held", DecisionStatus.GRANTED)
        .run();
    Files.writeString(folder.resolve("same.txt"), "a".repeat(600));
    Files.writeString(folder.resolve("edited.txt"), "b".repeat(600));
    Files.createSymbolicLink(folder.resolve("nowhere.txt"), Path.of("gone"));
    Files.createDirectory(folder.resolve("folder.txt"));
    Process first = start("first");
    try {
      String requestId = pipeline.events(KEY, LeaseQueued.class, 1).get(0).getRequestId();
      assertThat(output("first"))
          .containsExactly("read edited.txt", "read same.txt", "waiting as " + requestId);

      // when: it is killed, one file changes, and it is started again
      first.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
      Files.writeString(folder.resolve("edited.txt"), "c".repeat(600));
      Process second = start("second");
      try {
        assertThat(pipeline.events(KEY, DecisionRepeated.class, 1)).isNotEmpty();
        assertThat(second.isAlive()).isTrue();
        Process third = start("third");
        assertThat(third.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(third.exitValue()).isEqualTo(1);
        assertThat(output("third")).singleElement().asString().contains("Another process works in");
        AgentProgram.CONFLUENT_PYTHON.job(pipeline, KEY + "-holder").cancel("held", QUOTA).run();
        assertThat(second.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();

        // then: it asked for the same place, and read what had changed and nothing else
        assertThat(output("second"))
            .containsExactly(
                "resumed: 1 of 2 files changed",
                "read edited.txt",
                "waiting as " + requestId,
                "settled " + requestId);
        assertThat(second.exitValue()).isZero();
        assertThat(folder.resolve(".fairway")).isEmptyDirectory();

        // and: what the provider counts is asked for once, and the call is made once
        assertThat(counts).hasValue(1);
        assertThat(calls).hasValue(1);

        // and: one grant and one settlement, for what the call used
        List<LeaseSettled> settled =
            pipeline.events(KEY, LeaseSettled.class, 2).stream()
                .filter(event -> event.getOutcome() == Outcome.SUCCEEDED)
                .toList();
        assertThat(
                pipeline.events(KEY, LeaseGranted.class, 2).stream()
                    .filter(event -> event.getRequestId().equals(requestId)))
            .singleElement()
            .satisfies(
                granted -> {
                  assertThat(granted.getCharged().getInputTokens()).isEqualTo(COUNTED_TOKENS);
                  assertThat(settled)
                      .singleElement()
                      .satisfies(
                          event -> assertThat(event.getLeaseId()).isEqualTo(granted.getLeaseId()));
                });
        assertThat(pipeline.events(KEY, LeaseSettled.class, 2)).hasSize(2);
        assertThat(pipeline.events(KEY, LeaseGranted.class, 2)).hasSize(2);
      } finally {
        second.destroyForcibly();
      }
    } finally {
      first.destroyForcibly();
    }
  }

  /** The id of a request that was rejected stands for the rejection for ten minutes. */
  @Test
  void shouldComeBackForItsPlaceWhereItWasRejectedWhileItWasGone() throws Exception {
    // given: killed in line, where its request may be for two seconds
    String key = "python-late";
    String quota = key + "/slot";
    pipeline.define(quota, "limits: {concurrent_requests: 1}, max_queue_wait: 1s");
    AgentProgram.CONFLUENT_PYTHON
        .job(pipeline, key + "-holder")
        .ask("held", quota, 1)
        .await("held", DecisionStatus.GRANTED)
        .run();
    Files.writeString(folder.resolve("same.txt"), "a".repeat(600));
    Process first = start("first", quota);
    try {
      String rejected = pipeline.events(key, LeaseQueued.class, 1).get(0).getRequestId();
      first.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
      pipeline.events(key, LeaseRejected.class, 1);

      // when
      Process second = start("second", quota);
      try {
        pipeline.events(key, LeaseQueued.class, 2);
        AgentProgram.CONFLUENT_PYTHON.job(pipeline, key + "-holder").cancel("held", quota).run();
        assertThat(second.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      } finally {
        second.destroyForcibly();
      }

      // then: nothing is read again, and each request names the one before, whose place it has
      List<String> output = output("second");
      assertThat(second.exitValue()).as("%s", output).isZero();
      assertThat(output)
          .startsWith("resumed: 0 of 1 files changed", "waiting as " + rejected)
          .last()
          .asString()
          .startsWith("settled ");
      List<LeaseRequest> asked =
          pipeline.journal(key, journal -> true).stream()
              .map(AdmissionEvent::getCommand)
              .filter(RequestLease.class::isInstance)
              .map(command -> ((RequestLease) command).getRequest())
              .filter(request -> request.getAgentId().equals(AGENT))
              .toList();
      List<String> ids = asked.stream().map(LeaseRequest::getRequestId).distinct().toList();
      assertThat(ids).hasSizeGreaterThan(1).startsWith(rejected);
      for (LeaseRequest request : asked) {
        int place = ids.indexOf(request.getRequestId());
        assertThat(request.getRetryOf()).isEqualTo(place == 0 ? null : ids.get(place - 1));
      }
      assertThat(calls).hasValue(1);
      assertThat(pipeline.events(key, LeaseGranted.class, 2)).hasSize(2);
    } finally {
      first.destroyForcibly();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"goal\": \"te", "{\"version\": 2}", "[]", "{\"next_call\": null}"})
  void shouldSayThatItsCheckpointIsNone(String content) throws Exception {
    // given
    Files.writeString(folder.resolve("same.txt"), "a");
    Path checkpoint = Files.createDirectory(folder.resolve(".fairway")).resolve("checkpoint.json");
    Files.writeString(checkpoint, content);

    // when
    Process process = start("only");

    // then
    assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(1);
    assertThat(output("only"))
        .singleElement()
        .asString()
        .contains(checkpoint.toString())
        .contains("Delete it to begin anew");
  }

  private Process start(String name) {
    return start(name, QUOTA);
  }

  private Process start(String name, String quota) {
    return Peers.startPython(
        SCRIPT,
        List.of(
            pipeline.bootstrap(),
            pipeline.registryUrl(),
            AgentProgram.SCHEMAS,
            pipeline.topics().prefix(),
            AGENT,
            quota,
            folder.toString()),
        Map.of(
            "PROVIDER_URL", "http://127.0.0.1:" + provider.getAddress().getPort() + "/v1/messages"),
        folder.resolve(name + ".log"));
  }

  private List<String> output(String name) throws IOException {
    await()
        .atMost(PATIENCE)
        .until(() -> !Files.readString(folder.resolve(name + ".log")).isEmpty());
    return Files.readAllLines(folder.resolve(name + ".log"));
  }
}
