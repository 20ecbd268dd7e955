package dev.fairway.it.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.it.dispatcher.DispatcherHarness.Dispatcher;
import dev.fairway.schemas.Decision;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was not delivered is delivered by the next run, or by another dispatcher. */
class RestartIT {

  private static final long TTL_MS = 120_000;

  @TempDir private Path folder;
  private DispatcherHarness harness;

  @BeforeEach
  void setUp() throws Exception {
    harness = new DispatcherHarness(folder);
  }

  @AfterEach
  void tearDown() throws Exception {
    harness.close();
  }

  @Test
  void shouldDeliverWhatWasParkedAfterARestartWithTheSameIds() throws Exception {
    // given: one agent's reply is parked, a later one of another agent is delivered
    String shared = harness.topics().prefix() + "replies.shared";
    Dispatcher first = harness.start();
    harness.register("stuck", shared, 1);
    harness.journal(JournalRecords.granted("k", 1, "stuck", "r1", TTL_MS));
    harness.journal(JournalRecords.granted("k", 2, "other", "r2", TTL_MS));
    String idBefore = harness.awaitDecisions("other", 1).get(0).getDecisionId();

    // when
    first.service().close();
    assertThat(first.service().isHealthy()).isFalse();
    harness.createTopic(shared, 2, Map.of());
    harness.start();

    // then
    List<Decision> late =
        await()
            .atMost(DispatcherHarness.PATIENCE)
            .until(() -> harness.decisionsIn(shared, 1), found -> !found.isEmpty());
    assertThat(late).extracting(Decision::getDecisionId).containsExactly("k:1:1:0");
    assertThat(harness.decisionsIn(shared, 0)).isEmpty();
    assertThat(harness.awaitDecisions("other", 2))
        .extracting(Decision::getDecisionId)
        .containsOnly(idBefore);
  }

  @Test
  void shouldNotDeliverAgainWhatWasFinishedBeforeACleanStop() throws Exception {
    // given
    Dispatcher first = harness.start();
    harness.journal(JournalRecords.granted("k", 1, "a1", "r1", TTL_MS));
    harness.awaitDecisions("a1", 1);

    // when
    first.service().close();
    Dispatcher second = harness.start();
    harness.journal(JournalRecords.granted("k", 2, "a1", "r2", TTL_MS));

    // then
    harness.awaitDecisions("a1", 2);
    assertThat(second.delivered()).isEqualTo(1);
    assertThat(harness.decisionsOf("a1"))
        .extracting(Decision::getRequestId)
        .containsExactly("r1", "r2");
  }

  @Test
  void shouldLoseNothingWhileDispatchersComeAndGo() throws Exception {
    // given
    Dispatcher first = harness.start();
    int sequence = 0;
    Set<String> written = new HashSet<>();

    // when: a second one joins, the first one leaves, all under load on every partition
    Dispatcher second = harness.startUnready(Map.of());
    for (int round = 0; round < 40; round++) {
      for (int key = 0; key < 8; key++) {
        String requestId = "r" + sequence;
        harness.journal(
            JournalRecords.granted("k" + key, sequence++, "a" + key, requestId, TTL_MS));
        written.add(requestId);
      }
      if (round == 20) {
        assertThat(second.service().awaitHealthy(DispatcherHarness.PATIENCE)).isTrue();
        first.service().close();
      }
    }

    // then
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .untilAsserted(
            () -> {
              Set<String> delivered = new HashSet<>();
              for (int key = 0; key < 8; key++) {
                harness
                    .decisionsOf("a" + key)
                    .forEach(decision -> delivered.add(decision.getRequestId()));
              }
              assertThat(delivered).isEqualTo(written);
            });
    assertThat(second.delivered()).isPositive();
  }

  @Test
  void shouldCommitEverythingWhenAllIsDelivered() throws Exception {
    // given
    harness.start();

    // when
    RecordMetadata last = null;
    for (int i = 0; i < 20; i++) {
      last = harness.journal(JournalRecords.queued("k", i, "a1", "r" + i));
    }
    RecordMetadata end = last;

    // then
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(() -> harness.committed(end.partition()) > end.offset());
  }
}
