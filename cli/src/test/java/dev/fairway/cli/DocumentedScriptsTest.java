package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The page about scripts: its examples run, and it names every field. */
class DocumentedScriptsTest {
  private static final Path PAGE = Path.of("..", "docs", "dry-run.md");
  private static final Pattern EXAMPLE = Pattern.compile("(?s)```json\n(.*?)```");
  private static final Pattern KNOWN =
      Pattern.compile("zzz: unknown field; expected one of \\[(.*?)]");

  private record Run(int code, String out, String errors) {}

  @Test
  void shouldRunEveryExample() throws IOException {
    // given
    List<String> examples =
        EXAMPLE.matcher(page()).results().map(example -> example.group(1)).toList();

    // when
    List<Run> runs = examples.stream().map(DocumentedScriptsTest::run).toList();

    // then
    assertThat(runs).hasSize(2).allMatch(run -> run.code() == 0 && run.errors().isEmpty());
    assertThat(runs.get(0).out())
        .contains("\"MarginCut\"", "\"request\":\"r3\"", "\"margin_mode\":\"ADAPTIVE\"");
    assertThat(runs.get(1).out())
        .contains(
            "\"LeaseCancelled\"",
            "\"UnleasedCharged\"",
            "{\"at_ms\":9000,\"quota\":\"k\",\"event\":\"LeaseGranted\",\"request\":\"r1\"")
        .doesNotContain("SettlementIgnored");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"zzz\":1,\"show\":\"q\"}",
        "{\"request\":{\"zzz\":1}}",
        "{\"settle\":{\"zzz\":1}}",
        "{\"settle\":{\"signal\":{\"zzz\":1}}}",
        "{\"settle\":{\"signal\":{\"limits\":{\"zzz\":1}}}}",
        "{\"settle\":{\"signal\":{\"limits\":{\"tokens\":{\"zzz\":1}}}}}",
        "{\"task\":{\"zzz\":1}}",
      })
  void shouldNameEveryField(String line) throws IOException {
    // given
    MatchResult known = KNOWN.matcher(run(line).errors()).results().findFirst().orElseThrow();
    String page = page();

    // when
    List<String> missing =
        List.of(known.group(1).split(", ", -1)).stream()
            .filter(name -> !Pattern.compile("[`{ ]" + name + "[`},]").matcher(page).find())
            .toList();

    // then
    assertThat(missing).isEmpty();
  }

  private static String page() throws IOException {
    return Files.readString(PAGE, StandardCharsets.UTF_8);
  }

  private static Run run(String script) {
    StringWriter out = new StringWriter();
    StringWriter errors = new StringWriter();
    int code =
        new CommandLine(
                new DryRunCommand(
                    new ByteArrayInputStream(script.getBytes(StandardCharsets.UTF_8))))
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(errors, true))
            .execute("-");
    return new Run(code, out.toString(), errors.toString());
  }
}
