package dev.fairway.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Budgets;
import dev.fairway.schemas.LeaseClass;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.Margin;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.Rules;
import dev.fairway.schemas.Tenant;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The policy's table of knobs in YAML: each can be written as it says, and none is missing. */
class DocumentedKnobsTest {
  private static final Path PAGE = Path.of("..", "docs", "policy.md");
  private static final String HEADING = "## Every knob in YAML";
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\|");

  /** What only Fairway itself writes. */
  private static final List<String> OWN = List.of("clear_count", "updated_at_ms");

  static List<String> shapes() throws IOException {
    String page = Files.readString(PAGE, StandardCharsets.UTF_8);
    String section = page.substring(page.indexOf(HEADING) + HEADING.length());
    int end = section.indexOf("\n## ");
    return ROW.matcher(end < 0 ? section : section.substring(0, end))
        .results()
        .map(row -> row.group(1))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void shouldReadEachKnobAsItIsShown(String shape) throws IOException {
    // given: the limits that the page shows, since other knobs speak of them
    String limits =
        shapes().stream().filter(other -> other.startsWith("limits:")).findFirst().orElseThrow();
    List<String> lines = new ArrayList<>(List.of("quotas:", "  - id: k/q"));
    if (!shape.startsWith("limits:")) {
      lines.add("    " + limits);
    }
    if (!shape.startsWith("id:")) {
      lines.add("    " + shape);
    }

    // when
    List<Quota> quotas = QuotaYaml.parse(String.join("\n", lines) + "\n", "docs").quotas();

    // then
    assertThat(quotas).hasSize(1);
  }

  @Test
  void shouldShowEveryKnob() throws IOException {
    // given
    String all = String.join("\n", shapes());

    // when
    List<String> missing =
        Stream.of(
                Quota.getClassSchema(),
                Limits.getClassSchema(),
                Amounts.getClassSchema(),
                Margin.getClassSchema(),
                Budgets.getClassSchema(),
                LeaseClass.getClassSchema(),
                Rules.getClassSchema(),
                Tenant.getClassSchema())
            .flatMap(schema -> schema.getFields().stream())
            .map(Schema.Field::name)
            .filter(name -> !OWN.contains(name))
            .map(name -> name.replaceFirst("_ms$", ""))
            .filter(name -> !Pattern.compile("\\b" + name + ": ").matcher(all).find())
            .toList();

    // then
    assertThat(missing).isEmpty();
  }
}
