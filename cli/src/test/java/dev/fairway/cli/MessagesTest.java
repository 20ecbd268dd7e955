package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MessagesTest {
  private final StringWriter err = new StringWriter();

  @TempDir private Path folder;

  @Test
  void shouldSayInWordsThatAFileIsNotThere() {
    // when
    int code = run("up", "--config", folder.resolve("no.yaml").toString());

    // then
    assertThat(code).isEqualTo(1);
    assertThat(err.toString())
        .contains("there is no file or folder " + folder.resolve("no.yaml"))
        .doesNotContain("Exception");
  }

  @Test
  void shouldSayInWordsThatATraceIsAFolder() {
    // when
    int code = run("demo", "--trace", folder.toString());

    // then
    assertThat(code).isEqualTo(1);
    assertThat(err.toString()).contains("it is a folder. Name one with --trace.");
  }

  @Test
  void shouldNameTheOptionOfAMalformedRegistryUrl() {
    // when
    int code = run("status", "--bootstrap", "127.0.0.1:1", "--registry", "localhost:8081");

    // then
    assertThat(code).isEqualTo(2);
    assertThat(err.toString())
        .contains("--registry", "expected http(s)://HOST:PORT, but found 'localhost:8081'");
  }

  @Test
  void shouldTakeAnUnknownKnobForWrongUsage() {
    // when
    int code = run("simulate", "--knobs", "{\"margin\":{\"strt\":0.7}}");

    // then
    assertThat(code).isEqualTo(2);
    assertThat(err.toString()).contains("--knobs", "strt").doesNotContain("seed");
  }

  @Test
  void shouldSayInWordsWhatAJournalFileIs() {
    // when
    int code = run("replay", "--verify", "--journal", folder.toString());

    // then
    assertThat(code).isEqualTo(1);
    assertThat(err.toString()).startsWith("fairway: expected").contains(folder + " is a folder");
  }

  private int run(String... args) {
    return Fairway.run(new PrintWriter(new StringWriter()), new PrintWriter(err), args);
  }
}
