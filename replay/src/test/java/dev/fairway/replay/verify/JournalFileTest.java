package dev.fairway.replay.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Cause;
import dev.fairway.schemas.CauseKind;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.MarginCut;
import dev.fairway.schemas.OutputReservation;
import dev.fairway.schemas.PolicyPreset;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaDefined;
import dev.fairway.schemas.QuotaState;
import dev.fairway.schemas.Tick;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalFileTest {
  @TempDir private Path folder;

  @Test
  void shouldReadBackWhatItWrote() throws Exception {
    // given
    Quota quota =
        Quota.newBuilder()
            .setId("k")
            .setModels(List.of())
            .setAlso(List.of("k/all"))
            .setClasses(Map.of())
            .setTenants(Map.of())
            .setRoles(Map.of("planner", 3.0))
            .setPolicy(PolicyPreset.SEED)
            .setWindow(ProviderWindow.TOKEN_BUCKET)
            .setState(QuotaState.ACTIVE)
            .setOutputReservation(OutputReservation.MAX_TOKENS)
            .setLimits(Limits.newBuilder().setTokensPerMinute(100L).build())
            .build();
    AdmissionEvent first =
        event(
            1,
            new QuotaDefined(quota, "00", List.of("classes")),
            new LeaseGranted(
                "k",
                "r",
                "a",
                "L",
                1,
                Amounts.newBuilder().setTokens(5L).build(),
                false,
                7L,
                8L,
                9L,
                ByteBuffer.wrap(new byte[] {0, -1}),
                null,
                null));
    AdmissionEvent second = event(2, new MarginCut("k", 8500, 8000));
    Path file = folder.resolve("journal.jsonl");

    // when
    try (Writer out = Files.newBufferedWriter(file)) {
      JournalFile.write(first, out);
      JournalFile.write(second, out);
    }

    // then
    try (JournalFile journal = JournalFile.open(file)) {
      assertThat(journal.next()).isEqualTo(first);
      assertThat(journal.next()).isEqualTo(second);
      assertThat(journal.next()).isNull();
    }
    assertThat(Files.readAllLines(file)).hasSize(2);
  }

  @Test
  void shouldNameTheLineThatIsNoRecord() throws Exception {
    // given
    Path file = folder.resolve("journal.jsonl");
    AdmissionEvent event = event(1);
    try (Writer out = Files.newBufferedWriter(file, StandardCharsets.ISO_8859_1)) {
      out.write("\n{\"key\":\"k\"}\n\u00ff\u00fe\n");
      JournalFile.write(event, out);
    }

    // then
    try (JournalFile journal = JournalFile.open(file)) {
      assertThatThrownBy(journal::next)
          .isInstanceOf(UnreadableRecordException.class)
          .hasMessageContaining("line 2: expected a journal record");
      assertThatThrownBy(journal::next)
          .isInstanceOf(UnreadableRecordException.class)
          .hasMessageContaining("line 3: expected a journal record");
      assertThat(journal.next()).isEqualTo(event);
    }
  }

  private static AdmissionEvent event(long sequence, Object... events) {
    return new AdmissionEvent(
        "k",
        sequence,
        1,
        7L,
        "1",
        new Cause(CauseKind.TICK, null, null, null),
        new Tick(),
        List.of(events));
  }
}
