package dev.fairway.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.cli.CliException;
import dev.fairway.cli.demo.fleet.Backoff;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole demo at small scale, with the engine under a lock in place of the pipeline. */
class DemoTest {
  @TempDir private Path folder;

  @Test
  void shouldStormWithoutAdmissionAndNotWithIt() throws Exception {
    // given
    DemoOptions options = new DemoOptions(10, 6, 1, null, Backoff.FULL_JITTER, 2);
    List<String> progress = new ArrayList<>();

    // when
    DemoOutcome outcome =
        new Demo(options, new LiveTable(progress::add), (plan, limits) -> new EngineStandIn(limits))
            .run();

    // then
    JsonNode json = outcome.json(folder.resolve("page.html"));
    JsonNode without = json.path("without_admission");
    JsonNode with = json.path("with_admission");
    assertThat(json.path("demand_vs_limit").asDouble()).isGreaterThanOrEqualTo(1.9);
    assertThat(perThousand(without)).as("the control must fail").isGreaterThan(100);
    assertThat(perThousand(with)).isLessThan(perThousand(without) / 10);
    assertThat(with.path("grants").asLong()).isPositive().isEqualTo(with.path("settled").asLong());
    assertThat(with.path("expired").asLong() + with.path("unsettled").asLong()).isZero();
    assertThat(outcome.leasesClosed()).isTrue();
    assertThat(progress).anyMatch(line -> line.contains("provider level"));
    assertThat(outcome.lines()).anyMatch(line -> line.startsWith("429s in 1000 calls"));
    assertWellFormed(outcome.page());
  }

  private static double perThousand(JsonNode run) {
    return 1000.0 * run.path("provider_429").asLong() / run.path("calls").asLong();
  }

  private static void assertWellFormed(String page) throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    var document =
        factory
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(page.getBytes(StandardCharsets.UTF_8)));
    assertThat(document.getElementsByTagName("svg").getLength()).isEqualTo(2);
    assertThat(page).as("nothing is fetched").doesNotContain("http:", "https:", "url(", "@import");
  }

  @Test
  void shouldSayWhereItExpectedATrace() {
    // given
    DemoOptions options =
        new DemoOptions(2, 1, 1, folder.resolve("absent.csv"), Backoff.FULL_JITTER, 1.3);

    // when
    Demo demo = new Demo(options, new LiveTable(line -> {}), (plan, limits) -> null);

    // then
    assertThatThrownBy(demo::run)
        .isInstanceOf(CliException.class)
        .hasMessageContaining("absent.csv")
        .hasMessageContaining("--trace");
  }

  @Test
  void shouldRefuseOptionsOutOfBounds() {
    assertThatThrownBy(() -> new DemoOptions(0, 60, 1, null, Backoff.FULL_JITTER, 1.3))
        .hasMessageContaining("agents");
    assertThatThrownBy(() -> new DemoOptions(20, 0, 1, null, Backoff.FULL_JITTER, 1.3))
        .hasMessageContaining("seconds");
    assertThatThrownBy(() -> new DemoOptions(20, 60, 1, null, Backoff.FULL_JITTER, 0))
        .hasMessageContaining("demand");
  }
}
