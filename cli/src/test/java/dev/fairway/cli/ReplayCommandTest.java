package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.mapping.Cause;
import dev.fairway.admission.mapping.CommandMapper;
import dev.fairway.admission.mapping.JournalMapper;
import dev.fairway.replay.script.QuotaJson;
import dev.fairway.replay.verify.JournalFile;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseRequest;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ReplayCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Path journal;
  private int events;

  @BeforeEach
  void writeAJournal() throws IOException {
    journal = folder.resolve("journal.jsonl");
    AdmissionEngine engine = new AdmissionEngine();
    try (Writer file = Files.newBufferedWriter(journal)) {
      handle(
          engine,
          CommandMapper.toCommand(
              QuotaJson.parse(
                  JSON.readTree("{\"id\":\"k\",\"limits\":{\"tokens_per_minute\":600}}")),
              "ab".repeat(16)),
          0,
          file);
      for (int i = 0; i < 3; i++) {
        LeaseRequest request =
            LeaseRequest.newBuilder()
                .setRequestId("r" + i)
                .setAgentId("a")
                .setQuota("k")
                .setEstimate(Estimate.newBuilder().setInputTokens(77L).build())
                .build();
        handle(engine, CommandMapper.toCommand(request, i), i, file);
      }
    }
  }

  private void handle(AdmissionEngine engine, Command command, long atMs, Writer file)
      throws IOException {
    Handled handled = engine.handle("k", command, atMs);
    events += handled.events().size();
    JournalFile.write(JournalMapper.toAvro(handled, command, Cause.TICK), file);
  }

  private int run(String... args) {
    return new CommandLine(new ReplayCommand())
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(args);
  }

  @Test
  void shouldPrintTheResultAsTheContractHasIt() throws IOException {
    // when
    int code = run("--verify", "--journal", journal.toString());

    // then
    JsonNode result = JSON.readTree(out.toString());
    assertThat(code).isZero();
    assertThat(out.toString())
        .startsWith("{\"inputs\":4,\"events\":" + events + ",\"mismatches\":0,\"conserved\":true");
    assertThat(result.get("first_findings")).isEmpty();
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void shouldFailAndSayWhereAJournalWasAltered() throws IOException {
    // given
    Path altered = folder.resolve("altered.jsonl");
    Files.writeString(
        altered, Files.readString(journal).replace("\"granted_at_ms\":1", "\"granted_at_ms\":2"));

    // when
    int code = run("--verify", "--journal", altered.toString(), "--json", "-");

    // then
    JsonNode result = JSON.readTree(out.toString());
    assertThat(code).isEqualTo(1);
    assertThat(result.get("mismatches").intValue()).isEqualTo(1);
    assertThat(result.get("conserved").booleanValue()).isFalse();
    assertThat(err.toString()).contains("key k, sequence 3 at 1 (RequestLease): event 1");
  }

  @Test
  void shouldCopyAJournal() throws IOException {
    // given
    Path copy = folder.resolve("copy.jsonl");

    // when
    int code = run("--export", copy.toString(), "--journal", journal.toString());

    // then
    assertThat(code).isZero();
    assertThat(copy).hasSameTextualContentAs(journal);
    assertThat(JSON.readTree(out.toString()).get("records").intValue()).isEqualTo(4);
  }

  @Test
  void shouldVerifyWhatItCanReadAndTellWhatItCannot() throws IOException {
    // given: a line of somebody else's between the third record and the fourth
    List<String> lines = new ArrayList<>(Files.readAllLines(journal));
    lines.add(3, "{\"hello\":1}");
    Path foreign = Files.write(folder.resolve("foreign.jsonl"), lines);

    // when
    int code = run("--verify", "--journal", foreign.toString());

    // then
    assertThat(code).isEqualTo(4);
    assertThat(out.toString())
        .startsWith("{\"inputs\":4,\"events\":" + events + ",\"mismatches\":0,\"conserved\":true")
        .contains("\"unreadable\":1");
    assertThat(err.toString())
        .contains("unreadable: " + foreign + ", line 4: expected a journal record")
        .contains("1 records were passed over");
  }

  @Test
  void shouldNotTakeAnEmptyJournalForAGoodOne() throws IOException {
    // given
    Path empty = Files.writeString(folder.resolve("empty.jsonl"), "\n");

    // when
    int code = run("--verify", "--journal", empty.toString());

    // then
    assertThat(code).isEqualTo(3);
    assertThat(out.toString()).startsWith("{\"inputs\":0,");
    assertThat(err.toString()).contains("nothing was verified");
  }

  @Test
  void shouldSayHowManyRecordsNothingCanBeSaidOf() throws IOException {
    // given: a journal whose beginning is gone, and no snapshot after it
    List<String> lines = Files.readAllLines(journal);
    Path torn = Files.write(folder.resolve("torn.jsonl"), lines.subList(1, lines.size()));

    // when
    int code = run("--verify", "--journal", torn.toString());

    // then
    assertThat(code).isEqualTo(3);
    assertThat(err.toString()).contains("3 records lie before the first whole snapshot");
  }

  @Test
  void shouldExportTheRecordsAroundOneThatIsNone() throws IOException {
    // given
    List<String> lines = new ArrayList<>(Files.readAllLines(journal));
    lines.add(2, "?");
    Path foreign = Files.write(folder.resolve("foreign.jsonl"), lines);
    Path copy = folder.resolve("copy.jsonl");

    // when
    int code = run("--export", copy.toString(), "--journal", foreign.toString());

    // then
    assertThat(code).isEqualTo(4);
    assertThat(copy).hasSameTextualContentAs(journal);
    assertThat(JSON.readTree(out.toString()).get("unreadable").intValue()).isEqualTo(1);
    assertThat(err.toString()).contains("line 3: expected a journal record");
  }

  @Test
  void shouldLeaveWhatWasThereWhereAnExportFails() throws IOException {
    // given
    Path file = Files.writeString(folder.resolve("copy.jsonl"), "before");

    // when
    assertThatThrownBy(
            () ->
                WholeFile.write(
                    file,
                    out -> {
                      out.write("half");
                      throw new IOException("the broker went away");
                    }))
        .hasMessage("the broker went away");

    // then
    assertThat(file).hasContent("before");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactlyInAnyOrder(file, journal);
    }
  }

  @Test
  void shouldReplaceWhatALinkStandsFor() throws IOException {
    // given
    Path file = Files.writeString(folder.resolve("copy.jsonl"), "before");
    Path link = Files.createSymbolicLink(folder.resolve("link"), file);

    // when
    WholeFile.write(link, out -> out.write("after"));

    // then
    assertThat(link).isSymbolicLink();
    assertThat(file).hasContent("after");
  }

  @Test
  void shouldWriteTheResultToAFile() throws IOException {
    // given
    Path target = folder.resolve("result.json");

    // when
    int code = run("--verify", "--journal", journal.toString(), "--json", target.toString());

    // then
    assertThat(code).isZero();
    assertThat(out.toString()).isEmpty();
    assertThat(JSON.readTree(Files.readString(target)).get("inputs").intValue()).isEqualTo(4);
  }

  @Test
  void shouldSayWhatIsWrongWithAFile() throws IOException {
    // given
    Path noJournal = Files.writeString(folder.resolve("no.jsonl"), "{}\n");

    // then
    assertThat(run("--verify", "--journal", noJournal.toString())).isEqualTo(3);
    assertThat(err.toString()).contains("line 1: expected a journal record");
    assertThat(run("--verify", "--journal", folder.resolve("nowhere").toString())).isEqualTo(1);
    assertThat(err.toString())
        .contains(folder.resolve("nowhere") + ", but: there is no such file or folder");
  }

  @Test
  void shouldEndWithTwoOnWrongUsage() {
    assertThat(run("--journal", journal.toString())).isEqualTo(2);
    assertThat(run("--verify", "--export", "x", "--journal", "y")).isEqualTo(2);
    assertThat(run("--verify", "--bootstrap", "h:1", "--prefix", "no/slash")).isEqualTo(2);
  }

  @Test
  void shouldSayThatNothingRunsWhereNoJournalIsNamed() {
    assertThat(run("--verify", "--data", folder.toString())).isEqualTo(1);
    assertThat(err.toString()).contains("Expected a running 'fairway up' on " + folder);
  }
}
