package dev.fairway.cli.demo.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTest {
  @TempDir private Path folder;

  private static LedgerEntry open(long seq, long arrivedNs) {
    return new LedgerEntry(
        seq, "call-" + seq, "turn", "agent-00", arrivedNs, null, 200, 70, null, null, null);
  }

  @Test
  void shouldKeepTheLaterEntryOfACall() throws IOException {
    // given
    Path file = folder.resolve("ledger.jsonl");

    // when
    try (Ledger ledger = Ledger.appendingTo(file)) {
      ledger.write(open(1, 10));
      ledger.write(open(2, 20));
      ledger.write(open(1, 10).finished(30, 5));

      // then
      assertThat(ledger.entries()).containsExactly(open(1, 10).finished(30, 5), open(2, 20));
    }
    assertThat(Ledger.read(file)).containsExactly(open(1, 10).finished(30, 5), open(2, 20));
    assertThat(Files.readAllLines(file)).hasSize(3);
  }

  @Test
  void shouldGoOnAfterALineThatAKillCutOff() throws IOException {
    // given
    Path file = folder.resolve("ledger.jsonl");
    try (Ledger ledger = Ledger.appendingTo(file)) {
      ledger.write(open(1, 10));
    }
    Files.writeString(file, "{\"seq\":2,\"call\":\"cal", StandardOpenOption.APPEND);

    // when
    assertThat(Ledger.read(file)).containsExactly(open(1, 10));
    try (Ledger ledger = Ledger.appendingTo(file)) {
      ledger.write(open(1, 99));
    }

    // then: counted from 1 again, and still another call
    assertThat(Ledger.read(file)).containsExactly(open(1, 10), open(1, 99));
  }

  @Test
  void shouldReadAnEmptyFile() throws IOException {
    // given
    Path file = Files.createFile(folder.resolve("empty.jsonl"));

    // then
    assertThat(Ledger.read(file)).isEmpty();
  }
}
