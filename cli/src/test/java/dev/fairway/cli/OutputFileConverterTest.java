package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutputFileConverterTest {

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "demo --html",
        "demo --json",
        "demo emulator --ledger",
        "simulate --html",
        "simulate --png",
        "simulate --json",
        "replay --bootstrap 127.0.0.1:1 --export",
        "replay --verify --bootstrap 127.0.0.1:1 --json",
        "dry-run - --json",
        "explain - --json"
      })
  void shouldNotStartWorkWhoseResultHasNoPlace(String command) {
    // given
    Path file = folder.resolve("absent").resolve("result");
    StringWriter err = new StringWriter();

    // when
    int code =
        Fairway.run(
            new PrintWriter(new StringWriter()),
            new PrintWriter(err),
            (command + " " + file).split(" "));

    // then
    assertThat(code).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("fairway: ")
        .contains(
            command.substring(command.lastIndexOf("--")), "there is no folder " + file.getParent())
        .doesNotContain("Exception");
  }

  @Test
  void shouldSayThatAFolderIsNoFile() {
    assertThat(OutputFileConverter.trouble(folder)).isEqualTo(folder + " is a folder");
  }

  @Test
  void shouldTakeAFileThatCanBeWritten() throws IOException {
    // given
    Path there = Files.createFile(folder.resolve("there"));

    // then
    assertThat(OutputFileConverter.trouble(there)).isNull();
    assertThat(OutputFileConverter.trouble(folder.resolve("new"))).isNull();
  }
}
