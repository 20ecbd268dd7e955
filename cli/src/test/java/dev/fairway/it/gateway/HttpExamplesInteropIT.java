package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.it.Peers;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

      // then
      assertThat(good.exitCode()).as(good.toString()).isZero();
      assertThat(good.out()).contains("SETTLED");
      assertThat(bad.exitCode()).isEqualTo(1);
      assertThat(bad.err()).contains("UNKNOWN_QUOTA");
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

  private static Peers.Result run(Example example, GatewayUp up, String quota) {
    List<String> command = new ArrayList<>(example.command);
    command.addAll(List.of(up.url(), quota, "worker-7"));
    return Peers.run(command, Path.of("."), "", PATIENCE);
  }
}
