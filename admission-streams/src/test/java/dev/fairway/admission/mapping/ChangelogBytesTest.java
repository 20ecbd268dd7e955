package dev.fairway.admission.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.EtaTest;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Settlement.Usage;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.RowId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a command writes to the changelog must not depend on how many wait. */
class ChangelogBytesTest {
  private static final String KEY = "k";
  private static final String QUOTA = "k/q";

  /** Numbers have more digits in a long queue, and an agent's flow may have one row or none. */
  private static final double TOLERANCE = 0.15;

  @Test
  void shouldWriteTheSameBytesPerCommandAtTenAndAtTenThousandQueued() {
    // given
    AdmissionEngine ten = EtaTest.engineWithFullQueue(10, new Random(7));
    AdmissionEngine tenThousand = EtaTest.engineWithFullQueue(10_000, new Random(7));

    // when: one is asked, one granted by a tick, one settled, one cancelled
    List<Integer> atTen = bytesPerCommand(ten);
    List<Integer> atTenThousand = bytesPerCommand(tenThousand);
    System.out.println(
        "Changelog bytes of a request, a tick with its grant, a settlement and a cancellation: "
            + atTen
            + " at 10 queued, "
            + atTenThousand
            + " at 10,000");

    // then
    assertThat(atTenThousand).hasSameSizeAs(atTen).allMatch(bytes -> bytes > 0);
    for (int i = 0; i < atTen.size(); i++) {
      assertThat((double) atTenThousand.get(i))
          .as("command %d of %s against %s", i, atTenThousand, atTen)
          .isBetween(atTen.get(i) * (1 - TOLERANCE), atTen.get(i) * (1 + TOLERANCE));
    }
  }

  private static List<Integer> bytesPerCommand(AdmissionEngine engine) {
    List<Integer> bytes = new ArrayList<>();
    long atMs = EtaTest.START_MS;
    LeaseRequest next = EtaTest.request("next", "agent-next", "worker", 20_000, 10);
    bytes.add(bytes(engine.handle(KEY, new Command.RequestLease(next, atMs), atMs)));
    Handled tick = null;
    while (tick == null || grants(tick).isEmpty()) {
      atMs = engine.nextDeadlineMs();
      tick = engine.handle(KEY, new Command.Tick(), atMs);
    }
    LeaseGranted granted = grants(tick).get(0);
    bytes.add(bytes(tick));
    bytes.add(bytes(engine.handle(KEY, settle(granted, atMs), atMs)));
    Settlement cancel =
        new Settlement(null, "next", "agent-next", QUOTA, Outcome.CANCELLED, null, false, null);
    bytes.add(bytes(engine.handle(KEY, new Command.SettleLease(cancel, atMs), atMs)));
    return bytes;
  }

  private static List<LeaseGranted> grants(Handled handled) {
    return handled.events().stream()
        .filter(LeaseGranted.class::isInstance)
        .map(LeaseGranted.class::cast)
        .toList();
  }

  private static Command settle(LeaseGranted granted, long atMs) {
    Usage usage = new Usage(granted.charged().get(Dimension.INPUT_TOKENS), 0L, 0L, 10L, true);
    return new Command.SettleLease(
        new Settlement(
            granted.leaseId(),
            null,
            granted.agentId(),
            QUOTA,
            Outcome.SUCCEEDED,
            usage,
            false,
            null),
        atMs);
  }

  private static int bytes(Handled handled) {
    RowCodec codec = new RowCodec();
    int[] bytes = {0};
    handled
        .changedRows()
        .forEach(
            (RowId id, Row row) ->
                bytes[0] +=
                    RowCodec.storeKey(KEY, id).length
                        + (row == null ? 0 : codec.encode(KEY, row).length));
    return bytes[0];
  }
}
