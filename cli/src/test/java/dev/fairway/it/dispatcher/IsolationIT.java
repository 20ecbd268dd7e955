package dev.fairway.it.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.it.dispatcher.DispatcherHarness.Dispatcher;
import dev.fairway.schemas.Decision;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One agent's trouble stays its own, and nothing of it is lost silently. */
class IsolationIT {

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
  void shouldMakeADeletedReplyTopicAgainWithoutStoppingOthers() throws Exception {
    // given
    Dispatcher dispatcher = harness.start();
    harness.journal(JournalRecords.granted("k", 1, "gone", "r1", TTL_MS));
    harness.journal(JournalRecords.granted("k", 2, "other", "r2", TTL_MS));
    harness.awaitDecisions("gone", 1);
    harness.awaitDecisions("other", 1);

    // when
    harness.deleteTopic(harness.topics().reply("gone"));
    await().until(() -> !harness.exists(harness.topics().reply("gone")));
    harness.journal(JournalRecords.granted("k", 3, "gone", "r3", TTL_MS));
    harness.journal(JournalRecords.granted("k", 4, "other", "r4", TTL_MS));

    // then
    await().atMost(Duration.ofSeconds(3)).until(() -> harness.decisionsOf("other").size() == 2);
    assertThat(harness.awaitDecisions("gone", 1))
        .extracting(Decision::getRequestId)
        .containsExactly("r3");
    assertThat(dispatcher.dropped("expired")).isZero();
  }

  @Test
  void shouldNotCommitPastAnAgentWhoseTopicCannotBeHadNorStopOthers() throws Exception {
    // given: Kafka takes no two topics that differ in '.' and '_' alone
    Dispatcher dispatcher = harness.start();
    harness.journal(JournalRecords.granted("k", 1, "a.b", "r1", TTL_MS));
    harness.awaitDecisions("a.b", 1);

    // when
    RecordMetadata stuck = harness.journal(JournalRecords.granted("k", 2, "a_b", "r2", TTL_MS));
    for (int i = 3; i < 50; i++) {
      harness.journal(JournalRecords.granted("k", i, "a.b", "r" + i, TTL_MS));
    }

    // then
    harness.awaitDecisions("a.b", 48);
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(() -> harness.committed(stuck.partition()) == stuck.offset());
    await()
        .during(Duration.ofMillis(500))
        .until(() -> harness.committed(stuck.partition()) == stuck.offset());
    assertThat(dispatcher.topicErrors("invalid_name")).isPositive();
    assertThat(dispatcher.service().isHealthy()).isTrue();
  }

  @Test
  void shouldDropAGrantThatNoTopicTakesInTimeAndCommitPastItThen() throws Exception {
    // given
    Dispatcher dispatcher =
        harness.start(Map.of("clock.tolerance.ms", "0", "parking.deadline.ms", "2000"));
    harness.register("stuck", "no-such-topic", 0);

    // when
    RecordMetadata stuck = harness.journal(JournalRecords.granted("k", 1, "stuck", "r1", 1_000));

    // then
    await().atMost(DispatcherHarness.PATIENCE).until(() -> dispatcher.dropped("expired") == 1);
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(() -> harness.committed(stuck.partition()) > stuck.offset());
  }

  @Test
  void shouldDropWhatAReplyTopicDoesNotTakeAndGoOn() throws Exception {
    // given
    Dispatcher dispatcher = harness.start();
    harness.createTopic(harness.topics().reply("small"), 1, Map.of("max.message.bytes", "100"));

    // when
    RecordMetadata large = harness.journal(JournalRecords.granted("k", 1, "small", "r1", TTL_MS));
    harness.journal(JournalRecords.granted("k", 2, "other", "r2", TTL_MS));

    // then
    harness.awaitDecisions("other", 1);
    await().atMost(DispatcherHarness.PATIENCE).until(() -> dispatcher.dropped("too_large") == 1);
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(() -> harness.committed(large.partition()) > large.offset());
  }

  @Test
  void shouldBoundWhatIsParkedForOneAgent() throws Exception {
    // given
    Dispatcher dispatcher = harness.start(Map.of("parked.replies.per.agent.max", "3"));
    harness.register("stuck", "no-such-topic-yet", 0);

    // when
    for (int i = 1; i <= 5; i++) {
      harness.journal(JournalRecords.granted("k", i, "stuck", "r" + i, TTL_MS));
    }
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(() -> dispatcher.dropped("agent_parking_full") == 2);
    harness.createTopic("no-such-topic-yet", 1, Map.of());

    // then
    List<Decision> delivered =
        await()
            .atMost(DispatcherHarness.PATIENCE)
            .until(() -> harness.decisionsIn("no-such-topic-yet", 0), d -> d.size() == 3);
    assertThat(delivered).extracting(Decision::getRequestId).containsExactly("r3", "r4", "r5");
    harness.deleteTopic("no-such-topic-yet");
  }
}
