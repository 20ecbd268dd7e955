package dev.fairway.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How {@code up} starts, stops, and starts again. */
class UpLifecycleIT {

  @TempDir Path parent;

  @Test
  void shouldKeepWhatItKnowsOverASignalAndOverAKill() throws Exception {
    // given: one that has a quota of a file, paused by an operator
    Path data = parent.resolve("data");
    Path config = parent.resolve("fairway.yaml");
    Files.writeString(
        config,
        "quotas:\n  - id: kept\n    limits: {requests_per_minute: 100}\nadmission: {snapshot.interval.ms: 60000}\n",
        StandardCharsets.UTF_8);
    String bootstrap;
    try (UpRunner up = UpRunner.start(data, "--config", config.toString())) {
      bootstrap = up.bootstrap();
      assertThat(UpRunner.command("quota", "pause", "kept", "--data", data.toString()).code())
          .isZero();

      // when / then: a signal ends it cleanly
      assertThat(up.terminate()).isZero();
      assertThat(up.log())
          .contains("stopping")
          .contains("stopped")
          .doesNotContain("ERROR")
          .doesNotContain("\tat ");
    }
    assertThat(UpRunner.command("status", "--data", data.toString()).err())
        .contains("Expected a running 'fairway up'");

    // when / then: it starts where it was, and does not undo what the operator did; then it is
    // killed
    try (UpRunner up = UpRunner.start(data, "--config", config.toString())) {
      assertThat(up.bootstrap()).isEqualTo(bootstrap);
      assertThat(UpRunner.command("quota", "list", "--data", data.toString()).out())
          .contains("kept")
          .contains("PAUSED");
      up.kill();
    }
    try (UpRunner up = UpRunner.start(data)) {
      assertThat(up.bootstrap()).isEqualTo(bootstrap);
      assertThat(up.ready().path("quotas")).hasSize(1).allMatch(id -> id.asText().equals("kept"));
      assertThat(up.terminate()).isZero();
    }
  }
}
