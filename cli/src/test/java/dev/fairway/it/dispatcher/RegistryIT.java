package dev.fairway.it.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.it.dispatcher.DispatcherHarness.Dispatcher;
import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.Decision;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who is registered, and what becomes of who is not, or no longer. */
class RegistryIT {

  private static final long TTL_MS = 120_000;
  private static final Map<String, String> CLOSED = Map.of("open.mode", "false");

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
  void shouldRegisterAnAgentByItsFirstRequestInOpenMode() throws Exception {
    // given
    harness.start();

    // when
    harness.journal(JournalRecords.granted("k", 1, "a1", "r1", TTL_MS));

    // then
    harness.awaitDecisions("a1", 1);
    List<AgentRegistration> registrations =
        await()
            .atMost(DispatcherHarness.PATIENCE)
            .until(harness::registrations, found -> !found.isEmpty());
    assertThat(registrations).hasSize(1);
    assertThat(registrations.get(0).getAgentId()).isEqualTo("a1");
    assertThat(registrations.get(0).getRegisteredBy()).isEqualTo("dispatcher");
  }

  @Test
  void shouldDropAndCountDecisionsOfUnknownAgentsInClosedMode() throws Exception {
    // given
    Dispatcher dispatcher = harness.start(CLOSED);
    harness.register("known", null, null);

    // when
    RecordMetadata unknown =
        harness.journal(JournalRecords.granted("k", 1, "unknown", "r1", TTL_MS));
    harness.journal(JournalRecords.granted("k", 2, "known", "r2", TTL_MS));

    // then
    harness.awaitDecisions("known", 1);
    assertThat(dispatcher.dropped("unregistered")).isEqualTo(1);
    assertThat(harness.exists(harness.topics().reply("unknown"))).isFalse();
    assertThat(harness.registrations())
        .extracting(AgentRegistration::getAgentId)
        .containsOnly("known");
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(() -> harness.committed(unknown.partition()) > unknown.offset());
  }

  @Test
  void shouldKnowAtItsStartWhoWasRegisteredBefore() throws Exception {
    // given
    harness.register("a1", null, null);

    // when
    Dispatcher dispatcher = harness.start(CLOSED);
    harness.journal(JournalRecords.granted("k", 1, "a1", "r1", TTL_MS));

    // then
    harness.awaitDecisions("a1", 1);
    assertThat(dispatcher.dropped("unregistered")).isZero();
  }

  @Test
  void shouldUseThePartitionOfASharedTopic() throws Exception {
    // given
    String shared = harness.topics().prefix() + "replies.shared";
    harness.createTopic(shared, 3, Map.of());
    harness.register("a1", shared, 2);
    harness.register("a2", shared, 0);
    harness.start(CLOSED);

    // when
    harness.journal(JournalRecords.granted("k", 1, "a1", "r1", TTL_MS));
    harness.journal(JournalRecords.granted("k", 2, "a2", "r2", TTL_MS));

    // then
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .untilAsserted(
            () -> {
              assertThat(harness.decisionsIn(shared, 2))
                  .extracting(Decision::getRequestId)
                  .containsExactly("r1");
              assertThat(harness.decisionsIn(shared, 0))
                  .extracting(Decision::getRequestId)
                  .containsExactly("r2");
            });
    assertThat(harness.exists(harness.topics().reply("a1"))).isFalse();
  }

  @Test
  void shouldDropDecisionsOfARetiredAgentAndDeleteItsTopic() throws Exception {
    // given
    harness.register("a1", null, null);
    Dispatcher dispatcher =
        harness.start(Map.of("open.mode", "false", "agent.retire.grace.ms", "0"));
    harness.journal(JournalRecords.granted("k", 1, "a1", "r1", TTL_MS));
    harness.awaitDecisions("a1", 1);

    // when
    harness.retire("a1");
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(() -> !harness.exists(harness.topics().reply("a1")));
    harness.journal(JournalRecords.granted("k", 2, "a1", "r2", TTL_MS));

    // then
    await().atMost(DispatcherHarness.PATIENCE).until(() -> dispatcher.dropped("retired") == 1);
    assertThat(dispatcher.count("topics.deleted")).isEqualTo(1);
    assertThat(harness.exists(harness.topics().reply("a1"))).isFalse();
  }

  @Test
  void shouldTakeARetiredAgentBackWhenItAsksInOpenMode() throws Exception {
    // given
    harness.start(Map.of("agent.retire.grace.ms", "0"));
    harness.journal(JournalRecords.granted("k", 1, "a1", "r1", TTL_MS));
    harness.awaitDecisions("a1", 1);
    harness.retire("a1");
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(() -> !harness.exists(harness.topics().reply("a1")));

    // when
    harness.journal(JournalRecords.granted("k", 2, "a1", "r2", TTL_MS));

    // then
    assertThat(harness.awaitDecisions("a1", 1))
        .extracting(Decision::getRequestId)
        .containsExactly("r2");
  }

  @Test
  void shouldRetireAgentsThatFellSilentInOpenModeButNotAnOperators() throws Exception {
    // given: last seen two days ago
    long longAgoMs = System.currentTimeMillis() - 2 * 86_400_000L;
    harness.register(
        new AgentRegistration("silent", null, null, "dispatcher", longAgoMs, false, Map.of()));
    harness.register(
        new AgentRegistration("operated", null, null, "operator", longAgoMs, false, Map.of()));
    harness.createTopic(harness.topics().reply("silent"), 1, Map.of());
    harness.createTopic(harness.topics().reply("operated"), 1, Map.of());

    // when
    harness.start(Map.of("agent.retire.grace.ms", "0"));

    // then
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(() -> !harness.exists(harness.topics().reply("silent")));
    assertThat(harness.retirements()).containsExactly("silent");
    assertThat(harness.exists(harness.topics().reply("operated"))).isTrue();
  }

  @Test
  void shouldDeadLetterEachBadRegistrationOnceOverRestartsAndDispatchers() throws Exception {
    // given
    byte[] key = "a1".getBytes(StandardCharsets.UTF_8);
    harness.writeRaw(harness.topics().agents(), 0, key, new byte[] {9, 9, 9});
    harness.register("a2", harness.topics().journal(), null);

    // when: two dispatchers, and then another run
    Dispatcher first = harness.start();
    Dispatcher second = harness.start();
    await()
        .atMost(DispatcherHarness.PATIENCE)
        .until(() -> first.count("dead.letters") + second.count("dead.letters") == 2);
    first.service().close();
    second.service().close();
    harness.writeRaw(harness.topics().agents(), 0, "a b".getBytes(StandardCharsets.UTF_8), null);
    Dispatcher third = harness.start();
    await().atMost(DispatcherHarness.PATIENCE).until(() -> third.count("dead.letters") == 1);

    // then
    assertThat(harness.deadLetters())
        .containsExactlyInAnyOrder(
            "MAGIC_BYTE " + harness.topics().agents() + "/0:0",
            "INVALID " + harness.topics().agents() + "/0:1",
            "KEY_MISMATCH " + harness.topics().agents() + "/0:2");
  }
}
