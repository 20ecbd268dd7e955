package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ExplainCommandTest {
  private static final String REFUSED =
      "{'provider':'openai','now':'2026-08-27T11:10:53Z','status':429,"
          + "'headers':{'X-RateLimit-Limit-Requests':500,'x-ratelimit-remaining-requests':['499'],"
          + "'x-ratelimit-reset-requests':'120ms'},"
          + "'body':{'error':{'code':'rate_limit_exceeded','message':'on tokens per min (TPM): Limit"
          + " 50000, Used 47949, Requested 3006. Please try again in 1.146s.'}}}";
  private static final String REFUSED_READ =
      "{'class':'RATE_LIMITED','retry':true,'wait_ms':1146,'reset_at':null,'binding':'tokens',"
          + "'limits':{'requests':{'limit':500,'remaining':499,'reset_ms':120},"
          + "'tokens':{'limit':50000,'remaining':2051,'reset_ms':null}},'usage':null}\n";

  @TempDir private Path folder;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String standardInput, String... args) {
    return new CommandLine(
            new ExplainCommand(
                new ByteArrayInputStream(json(standardInput).getBytes(StandardCharsets.UTF_8))))
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(args);
  }

  /** JSON is easier to read in a test with single quotes. */
  private static String json(String text) {
    return text.replace('\'', '"');
  }

  @Test
  void shouldExplainAnAnswer() {
    // when
    int code = run(REFUSED, "-");

    // then
    assertThat(err.toString()).isEmpty();
    assertThat(code).isZero();
    assertThat(out.toString()).isEqualTo(json(REFUSED_READ));
  }

  @Test
  void shouldKeepUnknownApartFromZero() {
    // when
    int code =
        run(
            "{'provider':'anthropic','now':'2026-08-27T11:10:53Z','status':200,'headers':{'retry-after':'59',"
                + "'anthropic-ratelimit-requests-reset':'2026-08-27T11:10:00Z'},"
                + "'body':{'usage':{'input_tokens':25,'output_tokens':15}}}",
            "-");

    // then
    assertThat(code).isZero();
    assertThat(out.toString())
        .isEqualTo(
            json(
                "{'class':'OK','retry':false,'wait_ms':null,'reset_at':null,'binding':null,"
                    + "'limits':{'requests':{'limit':null,'remaining':null,'reset_ms':0}},"
                    + "'usage':{'input_tokens':25,'cache_read_tokens':null,'cache_write_tokens':null,"
                    + "'output_tokens':15,'exact':true}}\n"));
  }

  @Test
  void shouldExplainAStream() throws IOException {
    // given
    Path file =
        Files.writeString(
            folder.resolve("stream.txt"),
            json(
                "{'provider':'anthropic'}\nevent: message_start\r\ndata: {'type':'message_start','message':"
                    + "{'usage':{'input_tokens':27,'cache_read_input_tokens':0,'output_tokens':1}}}\r\n\r\n"
                    + "event: message_delta\r\ndata: {'type':'message_delta','usage':"
                    + "{'cache_creation_input_tokens':0,'output_tokens':47}}\r\n\r\n"));

    // when
    int code = run("", "--stream", file.toString());

    // then
    assertThat(err.toString()).isEmpty();
    assertThat(code).isZero();
    assertThat(out.toString())
        .isEqualTo(
            json(
                "{'class':'OK','retry':false,'wait_ms':null,'reset_at':null,'binding':null,'limits':{},"
                    + "'usage':{'input_tokens':27,'cache_read_tokens':0,'cache_write_tokens':0,"
                    + "'output_tokens':47,'exact':true}}\n"));
  }

  @Test
  void shouldExplainSeveralAnswersALineEachIntoAFile() throws IOException {
    // given
    Path target = folder.resolve("read.jsonl");

    // when
    int code = run(REFUSED + "\n" + REFUSED, "-", "--json", target.toString());

    // then
    assertThat(code).isZero();
    assertThat(out.toString()).isEmpty();
    assertThat(Files.readString(target)).isEqualTo(json(REFUSED_READ + REFUSED_READ));
  }

  @Test
  void shouldExplainTheOthersWhereOneCannotBeRead() {
    // when
    int code =
        run(
            "{'provider':'openai','status':200}\n"
                + "{'provider':'openai','status':'x'}\n"
                + "{'status':200}\n"
                + "{'provider':'openai','status':429}\n"
                + "{'provider':\n",
            "-");

    // then
    assertThat(code).isEqualTo(1);
    assertThat(out.toString().lines())
        .hasSize(2)
        .anyMatch(line -> line.contains("\"class\":\"OK\""))
        .anyMatch(line -> line.contains("\"class\":\"RATE_LIMITED\""));
    assertThat(err.toString())
        .contains("answer 2 (line 2): expected a status such as 429")
        .contains("answer 3 (line 3): expected an object with a provider")
        .contains("expected JSON such as");
  }

  @Test
  void shouldReadABodyThatIsAText() {
    // when
    run(
        "{'provider':'openai','status':200,'body':'{\\'usage\\':{\\'prompt_tokens\\':7}}'}"
            + "{'provider':'generic','status':503,'body':'<html>'}",
        "-");

    // then
    assertThat(out.toString()).contains("\"input_tokens\":7").contains("\"class\":\"OVERLOADED\"");
  }

  @Test
  void shouldSayWhatNobodyReads() {
    // when
    int code = run("{'provider':'acme','header':{},'status':200}", "-");

    // then
    assertThat(code).isZero();
    assertThat(err.toString())
        .contains("no profile is named acme; read as generic")
        .contains("nothing reads the field header");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''|expected a JSON object, but found nothing",
        "{}|expected an object with a provider (anthropic, azure,",
        "[1]|expected an object with a provider",
        "{'provider':'openai','now':'yesterday'}|expected now as a time such as 2026-08-27T11:10:53Z",
        "{'provider':'openai','status':'429'}|expected a status such as 429, but found \"429\"",
        "{'provider':'openai','headers':[]}|expected headers as an object",
        "{'provider':|expected JSON such as",
      })
  void shouldSayWhatWasExpected(String input, String expected) {
    // when
    int code = run(input, "-");

    // then
    assertThat(code).isEqualTo(1);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).startsWith("fairway: ").contains(expected);
  }

  @Test
  void shouldSayThatAStreamNeedsItsFirstLine() {
    assertThat(run("", "--stream", "-")).isEqualTo(1);
    assertThat(run("data: {}\n\n", "--stream", "-")).isEqualTo(1);
    assertThat(err.toString()).contains("on the first line").contains("expected JSON such as");
  }

  @Test
  void shouldSayWhichFileIsMissing() {
    assertThat(run("", folder.resolve("nowhere.json").toString())).isEqualTo(1);
    assertThat(err.toString()).contains("expected a file that exists, or - for standard input");
  }

  @Test
  void shouldShowAnExampleThatRuns() {
    // when
    assertThat(run("", "--help")).isZero();
    String example = out.toString().replaceAll("(?s).*<<'END'|END\\s*$", "");
    int code = run(example, "-");

    // then
    assertThat(code).isZero();
    assertThat(out.toString()).contains("\"wait_ms\":1146");
  }
}
