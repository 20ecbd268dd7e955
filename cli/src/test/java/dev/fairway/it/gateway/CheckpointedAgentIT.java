package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java example of docs/client.md, killed while it waits in line. */
class CheckpointedAgentIT {
  private static final long INPUT_TOKENS = 3_000;

  @TempDir Path folder;

  @Test
  void shouldGoOnAfterItWasKilledInLineAndBeChargedOnce() throws Exception {
    // given: a bucket that has the tokens after half a minute
    try (GatewayUp up =
        GatewayUp.start(
            """
            quotas:
              - id: ant/sonnet
                provider: anthropic
                limits: {requests_per_minute: 1000, input_tokens_per_minute: 6000, output_tokens_per_minute: 100000}
                level: {input_tokens: 0}
            """)) {
      Files.writeString(folder.resolve("notes.txt"), "all that there is to know");
      Process first = start(up, "first");
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> up.requests().size() == 1 && output("first").contains("waiting as"));

      // when
      first.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
      Process second = start(up, "second");
      assertThat(second.waitFor(120, TimeUnit.SECONDS)).isTrue();

      // then
      assertThat(output("second"))
          .contains("resumed: none of 1 files changed")
          .doesNotContain("read again")
          .contains("settled ");
      assertThat(second.exitValue()).isZero();
      assertThat(up.requests().stream().map(LeaseRequest::getRequestId).distinct()).hasSize(1);
      assertThat(
              up.journal().stream()
                  .flatMap(entry -> entry.getEvents().stream())
                  .filter(LeaseGranted.class::isInstance))
          .hasSize(1);
      await().atMost(Duration.ofSeconds(10)).until(() -> up.settlements().size() == 1);
      assertThat(folder.resolve("checkpoints")).isEmptyDirectory();
    }
  }

  private Process start(GatewayUp up, String name) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-cp",
            System.getProperty("java.class.path"),
            Path.of("../examples/java/CheckpointedAgent.java").toAbsolutePath().toString(),
            up.bootstrap(),
            up.registry(),
            "fairway.",
            "agent-7",
            "ant/sonnet",
            folder.toString(),
            Long.toString(INPUT_TOKENS))
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve(name + ".log").toFile())
        .start();
  }

  private String output(String name) throws IOException {
    List<String> lines = Files.readAllLines(folder.resolve(name + ".log"));
    return String.join("\n", lines);
  }
}
