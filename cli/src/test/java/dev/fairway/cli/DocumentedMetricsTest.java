package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.alert.AlertKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about alerts and metrics names those of the code, and no others. */
class DocumentedMetricsTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern SUFFIX = Pattern.compile("_total$|(?<!oldest_wait)_seconds$");
  private static final Pattern IN_CELL = Pattern.compile("`([a-z0-9_]+)`");

  @Test
  void shouldNameEveryAlert() throws IOException {
    // when
    List<String> named = rows("## Alerts").map(row -> row.replace("`", "").strip()).toList();

    // then
    assertThat(named)
        .containsExactlyElementsOf(Stream.of(AlertKind.values()).map(Enum::name).toList());
  }

  @Test
  void shouldNameEveryMetricOfTheCoordinator() throws IOException {
    assertThat(metrics("## Metrics of the coordinator", "fairway_"))
        .isEqualTo(
            inCode(
                "admission-streams/src/main/java/dev/fairway/admission",
                "(?s)\"fairway\\.((?!stream\\.thread\\.name)[a-z0-9.]+)\"",
                "AdmissionMetrics.java",
                "QuotaGauges.java",
                "AdmissionService.java"));
  }

  @Test
  void shouldNameEveryMetricOfTheDispatcher() throws IOException {
    assertThat(metrics("## Metrics of the dispatcher", "fairway_dispatcher_"))
        .isEqualTo(
            inCode(
                "dispatcher/src/main/java/dev/fairway/dispatcher",
                "(?:registry, |PREFIX \\+ |[A-Z_]\\(\\s*)\"([a-z.]+)\"",
                "DispatcherMetrics.java"));
  }

  @Test
  void shouldNameEveryMetricOfTheGateway() throws IOException {
    assertThat(metrics("## Metrics of the gateway", ""))
        .isEqualTo(
            inCode(
                "agent-adapter/src/main/java/dev/fairway/agent/gateway",
                "(?:gauge|counter|[^.]head)\\(\\s*\"([a-z0-9_]+)\"",
                "GatewayMetrics.java"));
  }

  /** What the first cells below a heading say. */
  private static Stream<String> rows(String heading) throws IOException {
    String page = Files.readString(ROOT.resolve("docs/watching.md"), StandardCharsets.UTF_8);
    String section = page.substring(page.indexOf(heading + "\n") + heading.length());
    int end = section.indexOf("\n## ");
    return (end < 0 ? section : section.substring(0, end))
        .lines()
        .filter(line -> line.startsWith("| `"))
        .map(line -> line.split("\\|", -1)[1]);
  }

  /** Names without the endings that Prometheus adds, and without what stands in brackets. */
  private static Set<String> metrics(String heading, String prefix) throws IOException {
    Set<String> names = new TreeSet<>();
    rows(heading)
        .map(cell -> cell.replaceAll("\\(.*?\\)", ""))
        .flatMap(cell -> IN_CELL.matcher(cell).results())
        .map(name -> name.group(1))
        .forEach(
            name -> {
              assertThat(name).startsWith(prefix);
              names.add(SUFFIX.matcher(name.substring(prefix.length())).replaceAll(""));
            });
    return names;
  }

  private static Set<String> inCode(String folder, String literal, String... files)
      throws IOException {
    Set<String> names = new TreeSet<>();
    for (String file : files) {
      String code = Files.readString(ROOT.resolve(folder).resolve(file), StandardCharsets.UTF_8);
      Pattern.compile(literal)
          .matcher(code)
          .results()
          .map(found -> found.group(1).replace('.', '_'))
          .forEach(names::add);
    }
    return names;
  }
}
