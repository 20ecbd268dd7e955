package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.fairway.it.Peers;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The examples on the HTTP lease API, run as examples/README.md says. */
class HttpExamplesInteropIT {
  private static final Path EXAMPLES = Path.of("../examples");
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  enum Example {
    PYTHON(
        "python3", List.of("python3", "-B", EXAMPLES.resolve("python/http_lease.py").toString())),
    CURL("curl", List.of("sh", EXAMPLES.resolve("curl/one-call.sh").toString()));

    private final String program;
    private final List<String> command;

    Example(String program, List<String> command) {
      this.program = program;
      this.command = command;
    }
  }

  /** With a level of 0 and 100 tokens a second it waits in line for some seconds first. */
  @ParameterizedTest
  @EnumSource
  void shouldMakeACallUnderALease(Example example) {
    Peers.requireRuns(example.program, List.of(example.program, "--version"));
    try (GatewayUp up =
        GatewayUp.start(
            """
            quotas:
              - id: ant/sonnet
                provider: anthropic
                limits: {requests_per_minute: 1000, input_tokens_per_minute: 6000}
                level: {input_tokens: 0}
            gateway: {}
            """)) {
      // when
      Peers.Result good = run(example, up, "ant/sonnet");
      Peers.Result bad = run(example, up, "ant/unknown");
      Peers.Result refused = run(example, up, "no id");

      // then
      assertThat(good.exitCode()).as(good.toString()).isZero();
      assertThat(good.out()).contains("SETTLED");
      assertThat(bad.exitCode()).isEqualTo(1);
      assertThat(bad.err()).contains("UNKNOWN_QUOTA");
      assertThat(refused.exitCode()).isEqualTo(1);
      assertThat(refused.err()).as("the gateway's own words").contains("Expected a quota id");
      assertThat(up.requests())
          .extracting(LeaseRequest::getAgentId)
          .allSatisfy(agent -> assertThat(agent).endsWith(":worker-7"));
      await().atMost(PATIENCE).until(() -> up.settlements().size() == 1);
      assertThat(up.settlements())
          .singleElement()
          .satisfies(
              settlement -> {
                assertThat(settlement.getOutcome()).isEqualTo(Outcome.SUCCEEDED);
                assertThat(settlement.getUsage().getInputTokens()).isEqualTo(280);
              });
      assertThat(
              up.journal().stream()
                  .flatMap(entry -> entry.getEvents().stream())
                  .filter(LeaseGranted.class::isInstance))
          .hasSize(1);
    }
  }

  @Test
  void shouldComeBackWhenItIsTold() throws Exception {
    // given
    Peers.requireRuns(Example.PYTHON.program, List.of(Example.PYTHON.program, "--version"));
    List<String> bodies = new CopyOnWriteArrayList<>();
    List<String> answers =
        List.of(
            "{\"id\":\"r1\",\"request_id\":\"r1\",\"status\":\"REJECTED\",\"reason\":\"QUEUE_FULL\",\"message\":\"\",\"retry_after_ms\":10}",
            "{\"id\":\"r2\",\"request_id\":\"r2\",\"status\":\"REJECTED\",\"reason\":\"DEADLINE_PASSED\",\"message\":\"\",\"retry_after_ms\":10}",
            "{\"id\":\"r3\",\"request_id\":\"r3\",\"status\":\"GRANTED\",\"attempt\":1}",
            "{\"id\":\"r3\",\"status\":\"SETTLED\"}");
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    server.createContext(
        "/v1/leases",
        exchange -> {
          try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            bodies.add(new String(body, StandardCharsets.UTF_8));
            byte[] answer = answers.get(bodies.size() - 1).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
          }
        });
    server.start();
    try {
      // when
      Peers.Result result =
          run(Example.PYTHON, "http://127.0.0.1:" + server.getAddress().getPort(), "ant/sonnet");

      // then: each request names the one that was rejected
      assertThat(result.exitCode()).as(result.toString()).isZero();
      assertThat(bodies).hasSize(4);
      assertThat(bodies.get(0)).doesNotContain("retry_of");
      assertThat(bodies.get(1)).contains("\"retry_of\": \"r1\"");
      assertThat(bodies.get(2)).contains("\"retry_of\": \"r2\"");
    } finally {
      server.stop(0);
    }
  }

  /** The first connection of each call breaks off; asked again, it has the same key. */
  @Test
  void shouldAskAgainWithTheSameKeyWhenNoAnswerComes() throws Exception {
    // given
    Peers.requireRuns(Example.PYTHON.program, List.of(Example.PYTHON.program, "--version"));
    List<String> keys = new CopyOnWriteArrayList<>();
    Set<String> asked = ConcurrentHashMap.newKeySet();
    byte[] answer =
        "{\"id\":\"r1\",\"request_id\":\"r1\",\"status\":\"GRANTED\",\"attempt\":1}"
            .getBytes(StandardCharsets.UTF_8);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    server.createContext(
        "/v1/leases",
        exchange -> {
          try (exchange) {
            exchange.getRequestBody().readAllBytes();
            String path = exchange.getRequestURI().getPath();
            if (path.equals("/v1/leases")) {
              keys.add(exchange.getRequestHeaders().getFirst("idempotency-key"));
            }
            if (!asked.add(path)) {
              exchange.sendResponseHeaders(200, answer.length);
              exchange.getResponseBody().write(answer);
            }
          }
        });
    server.start();
    try {
      // when
      Peers.Result result =
          run(Example.PYTHON, "http://127.0.0.1:" + server.getAddress().getPort(), "ant/sonnet");

      // then
      assertThat(result.exitCode()).as(result.toString()).isZero();
      assertThat(keys).hasSize(2).doesNotContainNull();
      assertThat(Set.copyOf(keys)).hasSize(1);
      assertThat(asked).containsExactlyInAnyOrder("/v1/leases", "/v1/leases/r1/settle");
    } finally {
      server.stop(0);
    }
  }

  private static Peers.Result run(Example example, GatewayUp up, String quota) {
    return run(example, up.url(), quota);
  }

  private static Peers.Result run(Example example, String url, String quota) {
    List<String> command = new ArrayList<>(example.command);
    command.addAll(List.of(url, quota, "worker-7"));
    return Peers.run(command, Path.of("."), "", PATIENCE);
  }
}
