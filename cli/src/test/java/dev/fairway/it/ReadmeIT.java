package dev.fairway.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.cli.Readme;
import dev.fairway.cli.Readme.Step;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The README's first session, with the addresses of the day. */
class ReadmeIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Path EXAMPLES = Path.of("..", "examples");

  @TempDir private Path parent;

  @Test
  void shouldPrintWhatTheReadmeShows() throws IOException {
    // given
    List<Step> session =
        Readme.steps().stream().filter(s -> !s.command().contains("dry-run")).toList();
    assertThat(session)
        .extracting(s -> s.command().split(" ")[1])
        .containsExactly(
            "up",
            EXAMPLES.resolve("python/one_call.py").toString().substring(3),
            "status",
            "why",
            "replay");
    Path data = parent.resolve("data");

    // when / then
    try (UpRunner up = UpRunner.start(data)) {
      assertThat(
              masked(up.log().lines().filter(line -> line.matches("(ready|export) .*")).toList()))
          .isEqualTo(masked(session.get(0).output()));
      assertThat(masked(call(session.get(1), up))).isEqualTo(masked(session.get(1).output()));
      for (Step step : session.subList(2, session.size())) {
        // The buckets are full again within seconds.
        await(step.command())
            .atMost(PATIENCE)
            .untilAsserted(
                () -> assertThat(masked(run(step, data, up))).isEqualTo(masked(step.output())));
      }
    }
  }

  private static List<String> call(Step step, UpRunner up) {
    List<String> words = new ArrayList<>(Arrays.asList(step.command().split(" ")));
    List<String> arguments = words.subList(2, words.size());
    arguments.set(0, up.bootstrap());
    arguments.set(1, up.registry());
    arguments.set(2, "../" + arguments.get(2));
    return Peers.python(EXAMPLES.resolve("python/one_call.py"), arguments, "", PATIENCE)
        .outOrThrow()
        .lines()
        .toList();
  }

  private static List<String> run(Step step, Path data, UpRunner up) {
    List<String> words = new ArrayList<>(Arrays.asList(step.command().split(" ")));
    words.remove(0);
    int bootstrap = words.indexOf("--bootstrap");
    if (bootstrap < 0) {
      words.addAll(List.of("--data", data.toString()));
    } else {
      words.set(bootstrap + 1, up.bootstrap());
      words.set(words.indexOf("--registry") + 1, up.registry());
    }
    UpRunner.Result result = UpRunner.command(words.toArray(String[]::new));
    assertThat(result.err()).isEmpty();
    return result.out().lines().toList();
  }

  /**
   * Without what differs from run to run: ports, ids, times, and the width of columns with them.
   */
  private static String masked(List<String> lines) {
    return String.join("\n", lines)
        .replaceAll("127\\.0\\.0\\.1:[0-9]+", "ADDRESS")
        .replaceAll("[0-9a-f]{32}", "LEASE")
        .replaceAll("[0-9-]+T[0-9:.]+Z", "TIME")
        .replaceAll("\\+[0-9]+\\.[0-9]{3} s", "+AFTER")
        .replaceAll("after [0-9.]+ s", "after AFTER")
        .replaceAll(" +\n", "\n")
        .replaceAll(" {2,}", "  ")
        .strip();
  }
}
