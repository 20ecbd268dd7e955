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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class DryRunCommandTest {
  private static final String QUOTA =
      "{\"at_ms\":0,\"quota\":{\"id\":\"q\",\"limits\":{\"tokens_per_minute\":600}}}\n";
  private static final String REQUEST =
      "{\"at_ms\":0,\"request\":{\"id\":\"r1\",\"quota\":\"q\",\"agent\":\"a\",\"input_tokens\":80}}\n";

  @TempDir private Path folder;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String standardInput, String... args) {
    ByteArrayInputStream in =
        new ByteArrayInputStream(standardInput.getBytes(StandardCharsets.UTF_8));
    return new CommandLine(new DryRunCommand(in))
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(args);
  }

  private static List<String> events(String printed) {
    return printed.lines().map(line -> line.replaceAll(".*\"event\":\"(\\w+)\".*", "$1")).toList();
  }

  @Test
  void shouldPrintTheEventsOfAScriptFromStandardInput() {
    // when
    int code = run(QUOTA + REQUEST, "-");

    // then
    assertThat(code).isZero();
    assertThat(events(out.toString()))
        .containsExactly("QuotaDefined", "LeaseGranted", "LeaseExpired");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void shouldSayWhatALineMeant() {
    // when
    int code =
        run(
            QUOTA + "{\"at_ms\":10,\"show\":\"k/other\"}\n" + "{\"at_ms\":4,\"show\":\"q\"}\n",
            "-");

    // then
    assertThat(code).isZero();
    assertThat(out.toString()).contains("{\"at_ms\":10,\"state\":null}");
    assertThat(err.toString().lines())
        .containsExactly(
            "fairway: line 2: expected a quota that is defined to show, but there is no"
                + " 'k/other'; defined here are [q]",
            "fairway: line 3: at_ms 4 lies before 10, so it happens at 10");
  }

  @Test
  void shouldSayThatARequeueChangesNothingWithAnotherOutcomeThanA429() {
    // when
    int code =
        run(
            QUOTA
                + REQUEST
                + "{\"at_ms\":10,\"settle\":{\"request\":\"r1\",\"quota\":\"q\","
                + "\"outcome\":\"OVERLOADED\",\"requeue\":true}}\n",
            "-");

    // then
    assertThat(code).isZero();
    assertThat(err.toString())
        .startsWith("fairway: line 3: requeue changes nothing with OVERLOADED")
        .contains("retry_of");
  }

  @Test
  void shouldBoundWhatItSaysOfLines() {
    // when
    run(QUOTA + "{\"at_ms\":1,\"show\":\"x\"}\n".repeat(30), "-");

    // then
    assertThat(err.toString().lines()).hasSize(21);
    assertThat(err.toString()).contains("10 more such notes are left out");
  }

  @Test
  void shouldSayThatAScriptIsEmpty() {
    // when
    int code = run("\n", "-");

    // then
    assertThat(code).isZero();
    assertThat(err.toString()).contains("standard input").contains("empty").contains("nothing");
  }

  @Test
  void shouldNameADurationAsItIsWritten() {
    // when
    int code =
        run(
            "{\"at_ms\":0,\"quota\":{\"id\":\"q\",\"limits\":{\"tokens_per_minute\":1},"
                + "\"lease_ttl\":\"0s\"}}\n",
            "-");

    // then
    assertThat(code).isEqualTo(1);
    assertThat(err.toString()).contains("line 1: quota.lease_ttl: expected 1ms to 24h");
  }

  @Test
  void shouldPrintTheSameBytesAgain() {
    // when
    run(QUOTA + REQUEST, "-");
    String first = out.toString();
    run(QUOTA + REQUEST, "-");

    // then
    assertThat(out.toString()).isEqualTo(first + first);
  }

  @Test
  void shouldWriteTheEventsToAFile() throws IOException {
    // given
    Path script = Files.writeString(folder.resolve("script.jsonl"), QUOTA + REQUEST);
    Path target = folder.resolve("events.jsonl");

    // when
    int code = run("", script.toString(), "--json", target.toString());

    // then
    assertThat(code).isZero();
    assertThat(out.toString()).isEmpty();
    assertThat(events(Files.readString(target)))
        .containsExactly("QuotaDefined", "LeaseGranted", "LeaseExpired");
  }

  @Test
  void shouldStopAtABadLineAndPrintWhatCameBefore() {
    // when
    int code = run(QUOTA + REQUEST + "{\"at_ms\":5,\"shw\":\"q\"}\n" + REQUEST, "-");

    // then
    assertThat(code).isEqualTo(1);
    assertThat(events(out.toString())).containsExactly("QuotaDefined", "LeaseGranted");
    assertThat(err.toString()).startsWith("fairway: line 3: ").contains("shw: unknown field");
  }

  @Test
  void shouldSayWhichFileIsMissing() {
    // when
    int code = run("", folder.resolve("nowhere.jsonl").toString());

    // then
    assertThat(code).isEqualTo(1);
    assertThat(err.toString())
        .contains("expected a file that exists, or - for standard input")
        .contains("nowhere");
  }

  @Test
  void shouldEndWithTwoOnWrongUsage() {
    assertThat(run("")).isEqualTo(2);
    assertThat(run("", "-", "--fast")).isEqualTo(2);
    assertThat(err.toString()).contains("Missing required parameter").contains("--fast");
  }

  @Test
  void shouldShowAnExampleThatRuns() {
    // when
    assertThat(run("", "--help")).isZero();
    String example =
        out.toString()
            .lines()
            .map(String::trim)
            .filter(line -> line.startsWith("{"))
            .reduce("", (text, line) -> text + line + "\n");
    int code = run(example, "-");

    // then
    assertThat(code).isZero();
    assertThat(out.toString()).contains("\"event\":\"LeaseSettled\"").contains("\"state\":");
  }

  @Test
  void shouldRunALongScript() throws IOException {
    // given: 20,000 lines, each request settled by the line after it
    Path script = folder.resolve("long.jsonl");
    StringBuilder text = new StringBuilder(QUOTA);
    for (int i = 0; i < 10_000; i++) {
      long atMs = i * 10L;
      text.append(
              "{\"at_ms\":%d,\"request\":{\"id\":\"r%d\",\"quota\":\"q\"}}\n".formatted(atMs, i))
          .append(
              "{\"at_ms\":%d,\"settle\":{\"request\":\"r%d\",\"quota\":\"q\",\"outcome\":\"NOT_SENT\"}}\n"
                  .formatted(atMs, i));
    }
    Files.writeString(
        script, text.toString().replace("\"quota\":\"q\"}", "\"quota\":\"q\",\"input_tokens\":1}"));
    Path target = folder.resolve("events.jsonl");

    // when
    int code = run("", script.toString(), "--json", target.toString());

    // then
    assertThat(err.toString()).isEmpty();
    assertThat(code).isZero();
    assertThat(events(Files.readString(target)).stream().filter("LeaseSettled"::equals))
        .hasSize(10_000);
  }
}
