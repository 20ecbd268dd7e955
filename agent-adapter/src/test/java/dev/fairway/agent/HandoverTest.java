package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Settlement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a client that was killed had in line is given back by the next one. */
class HandoverTest {
  private static final String BEFORE = "rBefore.";

  @TempDir Path folder;

  @Test
  void shouldGiveBackGrantsOfTheClientBefore() {
    // given
    ClientFixture client = successor();

    // when: one that it has never read, and one that is granted now
    client.calls.onMissed(client.grant(BEFORE + "1", 1));
    client.deliver(client.grant(BEFORE + "2", 1));

    // then
    assertThat(client.outbox.settlements)
        .extracting(Settlement::getRequestId, Settlement::getOutcome, Settlement::getLeaseId)
        .containsExactly(
            tuple(BEFORE + "1", Outcome.NOT_SENT, "lease-" + BEFORE + "1-1"),
            tuple(BEFORE + "2", Outcome.NOT_SENT, "lease-" + BEFORE + "2-1"));
    assertThat(client.stats().returnedGrants()).isEqualTo(2);
    assertThat(client.stats().foreignReplies()).isZero();
  }

  @Test
  void shouldWithdrawWhatTheClientBeforeHasInLine() {
    // given
    ClientFixture client = successor();

    // when
    client.deliver(client.queued(BEFORE + "1", 3, 5_000));
    client.deliver(client.rejected(BEFORE + "2", RejectReason.QUEUE_FULL, null));

    // then
    assertThat(client.outbox.outcomes()).containsExactly(Outcome.CANCELLED);
    assertThat(client.outbox.lastSettlement().getRequestId()).isEqualTo(BEFORE + "1");
  }

  @Test
  void shouldLeaveToOthersWhatIsTheirs() {
    // given: a client beside it, and one of its own calls
    ClientFixture client = successor();
    CompletableFuture<Lease> own = client.acquire();

    // when
    client.calls.onMissed(client.grant("rBeside.1", 1));
    client.deliver(client.grant("rBeside.2", 1));
    client.deliver(client.queued("rBeside.3", 1, 100));
    client.deliver(client.grant(client.lastRequestId(), 1));

    // then
    assertThat(client.outbox.settlements).isEmpty();
    assertThat(own).isCompleted();
  }

  @Test
  void shouldKnowAllThatCameBeforeUpToABound() {
    // given
    Path file = folder.resolve("h");
    for (int i = 0; i <= Handover.BEGINNINGS_MAX; i++) {
      Handover.open(file, "rRun" + i + ".").close();
    }

    // when / then
    try (Handover last = Handover.open(file, "rLast.")) {
      assertThat(last.isInherited("rRun" + Handover.BEGINNINGS_MAX + ".1")).isTrue();
      assertThat(last.isInherited("rRun1.1")).isTrue();
      assertThat(last.isInherited("rRun0.1")).isFalse();
      assertThat(last.isInherited("rLast.1")).isFalse();
      assertThat(last.position()).isEqualTo(Handover.UNKNOWN);
    }
  }

  @Test
  void shouldKeepThePositionWhileNothingIsRead() {
    // given
    Path file = folder.resolve("h");
    try (Handover first = Handover.open(file, "rFirst.")) {
      first.read(17);
    }
    Handover.open(file, "rIdle.").close();

    // when / then
    try (Handover last = Handover.open(file, "rLast.")) {
      assertThat(last.position()).isEqualTo(17);
      assertThat(last.isInherited("rFirst.z")).isTrue();
    }
  }

  @Test
  void shouldTakeNothingOverFromAFileThatIsNone() throws IOException {
    // given
    for (String text : List.of("x", "5\nrBefore.\n", "0".repeat(20) + "\nr B\n", "\u0000\u0000")) {
      Path file = Files.writeString(folder.resolve("odd"), text);

      // when / then: and it is one afterwards
      try (Handover handover = Handover.open(file, "rNow.")) {
        assertThat(handover.isInherited("rBefore.1")).isFalse();
        assertThat(handover.position()).isEqualTo(Handover.UNKNOWN);
      }
      try (Handover next = Handover.open(file, "rNext.")) {
        assertThat(next.isInherited("rNow.1")).isTrue();
      }
    }
  }

  @Test
  void shouldBelongToOneClientAtATime() {
    // given
    Path file = folder.resolve("h");
    try (Handover first = Handover.open(file, "rFirst.")) {
      // when / then
      assertThatThrownBy(() -> Handover.open(file, "rSecond."))
          .isInstanceOf(AdmissionException.class)
          .hasMessageContaining("another client");
      assertThat(first.isInherited("rSecond.1")).isFalse();
    }
    assertThatThrownBy(() -> Handover.open(folder.resolve("no/such"), "r."))
        .isInstanceOf(AdmissionException.class)
        .hasMessageContaining("no/such");
  }

  private ClientFixture successor() {
    Path file = folder.resolve("handover");
    Handover.open(file, BEFORE).close();
    return new ClientFixture(builder -> builder, Handover.open(file, "rNow."));
  }
}
