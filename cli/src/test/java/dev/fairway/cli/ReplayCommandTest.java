package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

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
    assertThat(run("--verify", "--journal", noJournal.toString())).isEqualTo(1);
    assertThat(err.toString()).contains("line 1: expected a journal record");
    assertThat(run("--verify", "--journal", folder.resolve("nowhere").toString())).isEqualTo(1);
    assertThat(err.toString()).contains("there is no " + folder.resolve("nowhere"));
  }

  @Test
  void shouldEndWithTwoOnWrongUsage() {
    assertThat(run("--journal", journal.toString())).isEqualTo(2);
    assertThat(run("--verify")).isEqualTo(2);
    assertThat(run("--verify", "--export", "x", "--journal", "y")).isEqualTo(2);
    assertThat(run("--verify", "--bootstrap", "h:1", "--prefix", "no/slash")).isEqualTo(2);
  }
}
