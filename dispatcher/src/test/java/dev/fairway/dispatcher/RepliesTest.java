package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.dispatcher.Decoder.NotYetException;
import dev.fairway.dispatcher.ReplySender.Attempt;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.InMemorySchemaRegistry;
import dev.fairway.schemas.serde.UndecodableRecordException;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.Deserializer;
import org.junit.jupiter.api.Test;

class RepliesTest {

  /** The coordinator's clock is at 1000; this one is far from it, and from the brokers'. */
  private static final long NOW_MS = 9_000_000;

  private final InMemorySchemaRegistry schemaRegistry = new InMemorySchemaRegistry();
  private final MeterRegistry meters = new SimpleMeterRegistry();
  private final DispatcherMetrics metrics = new DispatcherMetrics(meters);
  private final List<Reply> sent = new ArrayList<>();
  private final AgentTable table = new AgentTable(10);
  private final OffsetTracker tracker = new OffsetTracker(5);

  @Test
  void shouldSendTheDecisionInTheBytesAgentsRead() throws NotYetException {
    // when
    replies(true)
        .handle(
            record(Events.asked("a1", "r1", Events.granted("a1", "r1", 121_000)), NOW_MS),
            tracker,
            NOW_MS);

    // then
    Reply.Payload payload = sent.get(0).payload();
    assertThat(new String(payload.key(), StandardCharsets.UTF_8)).isEqualTo("r1");
    assertThat(payload.correlation()).containsExactly(1, -2, 3);
    Decision decision =
        new AvroDeserializer<>(schemaRegistry, Decision.class)
            .deserialize("fairway.replies.a1", payload.value());
    assertThat(decision.getDecisionId()).isEqualTo("k:3:7:0");
    assertThat(decision.getCorrelation().remaining()).isEqualTo(3);
  }

  @Test
  void shouldKeepAGrantAsLongAsItsLeaseCountedFromTheAppend() throws NotYetException {
    // when: ttl 120 s, appended 20 s ago, tolerance 1 s
    replies(true)
        .handle(
            record(Events.asked("a1", "r1", Events.granted("a1", "r1", 121_000)), NOW_MS - 20_000),
            tracker,
            NOW_MS);

    // then
    assertThat(sent.get(0).deadlineMs()).isEqualTo(NOW_MS + 101_000);
  }

  @Test
  void shouldKeepOtherDecisionsForTheParkingDeadline() throws NotYetException {
    // when
    replies(true)
        .handle(
            record(Events.asked("a1", "r1", Events.queued("a1", "r1")), NOW_MS - 1_000),
            tracker,
            NOW_MS);

    // then
    assertThat(sent.get(0).deadlineMs()).isEqualTo(NOW_MS + 59_000);
  }

  @Test
  void shouldNotTakeARecordFromTheFutureForYounger() throws NotYetException {
    // when: the brokers' clock is ahead
    replies(true)
        .handle(
            record(Events.asked("a1", "r1", Events.queued("a1", "r1")), NOW_MS + 5_000),
            tracker,
            NOW_MS);

    // then
    assertThat(sent.get(0).deadlineMs()).isEqualTo(NOW_MS + 60_000);
  }

  @Test
  void shouldDeliverAGrantThatExpiredMeanwhileSoThatItsAgentAsksAgain() throws NotYetException {
    // when: ttl 5 s, read 30 s after the append, by a new agent
    replies(true)
        .handle(
            record(Events.asked("a1", "r1", Events.granted("a1", "r1", 6_000)), NOW_MS - 30_000),
            tracker,
            NOW_MS);

    // then: its topic has the parking deadline to appear
    assertThat(sent).hasSize(1);
    assertThat(sent.get(0).deadlineMs()).isEqualTo(NOW_MS + 60_000);
    assertThat(table.size()).isEqualTo(1);
  }

  @Test
  void shouldDeliverWhatEndsTheWaitOfAKnownAgentHoweverLate() throws NotYetException {
    // given: an agent that has been answered before
    Replies replies = replies(true);
    replies.handle(
        record(Events.asked("a1", "r1", Events.queued("a1", "r1")), NOW_MS), tracker, NOW_MS);
    sent.clear();

    // when: a restart of half an hour
    long appendedMs = NOW_MS - 1_800_000;
    replies.handle(
        record(
            Events.ticked(
                Events.granted("a1", "r1", 6_000),
                Events.queued("a1", "r2"),
                Events.rejected("a1", "r3", null)),
            appendedMs),
        tracker,
        NOW_MS);

    // then: not where it once stood in line
    assertThat(sent)
        .extracting(reply -> new String(reply.payload().key(), StandardCharsets.UTF_8))
        .containsExactly("r1", "r3");
    assertThat(sent).extracting(Reply::deadlineMs).containsOnly(NOW_MS + 60_000);
  }

  @Test
  void shouldDropWhatAReplyTopicWouldHaveForgotten() throws NotYetException {
    // given
    Replies replies = replies(true);
    replies.handle(
        record(Events.asked("a1", "r1", Events.queued("a1", "r1")), NOW_MS), tracker, NOW_MS);
    sent.clear();

    // when
    replies.handle(
        record(Events.ticked(Events.granted("a1", "r1", 6_000)), NOW_MS - 3_600_000),
        tracker,
        NOW_MS);

    // then
    assertThat(sent).isEmpty();
    assertThat(dropped("expired")).isEqualTo(1);
  }

  @Test
  void shouldNotRegisterAnAgentByAGrantThatIsLongOver() throws NotYetException {
    // when
    replies(true)
        .handle(
            record(Events.asked("a1", "r1", Events.granted("a1", "r1", 6_000)), NOW_MS - 60_000),
            tracker,
            NOW_MS);

    // then
    assertThat(sent).isEmpty();
    assertThat(table.size()).isZero();
    assertThat(dropped("expired")).isEqualTo(1);
  }

  @Test
  void shouldDropWhatIsTooOldWithoutRegisteringItsAgent() throws NotYetException {
    // when
    replies(true)
        .handle(
            record(Events.asked("a1", "r1", Events.queued("a1", "r1")), NOW_MS - 60_000),
            tracker,
            NOW_MS);

    // then
    assertThat(sent).isEmpty();
    assertThat(table.size()).isZero();
    assertThat(dropped("expired")).isEqualTo(1);
    assertThat(tracker.held()).isFalse();
  }

  @Test
  void shouldDropAndCountWhatGoesToNobodyKnown() throws NotYetException {
    // when
    replies(false)
        .handle(
            record(Events.asked("a1", "r1", Events.queued("a1", "r1")), NOW_MS), tracker, NOW_MS);

    // then
    assertThat(sent).isEmpty();
    assertThat(dropped("unregistered")).isEqualTo(1);
    assertThat(tracker.held()).isFalse();
  }

  @Test
  void shouldHoldTheRecordUntilEachDecisionIsDone() throws NotYetException {
    // when
    replies(true)
        .handle(
            record(Events.ticked(Events.queued("a1", "r1"), Events.queued("a2", "r2")), NOW_MS),
            tracker,
            NOW_MS);
    tracker.readUpTo(6);

    // then
    assertThat(tracker.committable()).isEmpty();
    sent.get(0).finish();
    assertThat(tracker.committable()).isEmpty();
    sent.get(1).finish();
    assertThat(tracker.committable()).hasValue(6);
  }

  @Test
  void shouldSkipAndCountWhatCanNeverBeRead() throws NotYetException {
    // when
    replies(true).handle(record(new byte[] {1, 2, 3}, NOW_MS), tracker, NOW_MS);

    // then
    assertThat(meters.get("fairway.dispatcher.undecodable").counter().count()).isEqualTo(1);
    assertThat(tracker.held()).isFalse();
  }

  @Test
  void shouldNotSkipWhatMayBeReadableLater() {
    // given
    Deserializer<AdmissionEvent> unreachable =
        (topic, data) -> {
          throw new UndecodableRecordException(
              UndecodableRecordException.Reason.REGISTRY_UNAVAILABLE, "no answer", null);
        };

    // when / then
    assertThatThrownBy(
            () -> replies(true, unreachable).handle(record(new byte[9], NOW_MS), tracker, NOW_MS))
        .isInstanceOf(NotYetException.class);
    assertThat(meters.get("fairway.dispatcher.undecodable").counter().count()).isZero();
  }

  private Replies replies(boolean open) {
    return replies(open, new AvroDeserializer<>(schemaRegistry, AdmissionEvent.class));
  }

  private Replies replies(boolean open, Deserializer<AdmissionEvent> deserializer) {
    DispatcherConfig config =
        DispatcherConfig.of(
            Map.of("bootstrap.servers", "h:1", "schema.registry.url", "http://h:1"));
    ReplyTopics allKnown =
        new ReplyTopics() {
          @Override
          public boolean isKnown(Route route) {
            return true;
          }

          @Override
          public void forget(Route route) {
            throw new AssertionError("nothing fails here");
          }

          @Override
          public void ensure(Route route) {
            throw new AssertionError("every topic is known here");
          }
        };
    Deliveries deliveries =
        new Deliveries(
            (route, reply) -> {
              sent.add(reply);
              return Attempt.ACCEPTED;
            },
            allKnown,
            config.parkingBounds(),
            100,
            metrics);
    AgentDirectory directory =
        new AgentDirectory(new Topics(), open, 1_000, table, (id, registration) -> {});
    Replies replies =
        new Replies(
            new Decoder<>(
                AdmissionEvent.class,
                deserializer,
                60_000,
                metrics,
                (record, reason, detail) -> {}),
            new AvroSerializer<>(schemaRegistry),
            "fairway.replies",
            directory,
            deliveries,
            metrics,
            config);
    replies.warmUp();
    return replies;
  }

  private ConsumerRecord<byte[], byte[]> record(AdmissionEvent event, long appendedMs) {
    return record(
        new AvroSerializer<AdmissionEvent>(schemaRegistry).serialize("fairway.journal", event),
        appendedMs);
  }

  private static ConsumerRecord<byte[], byte[]> record(byte[] value, long appendedMs) {
    return new ConsumerRecord<>(
        "fairway.journal",
        0,
        5,
        appendedMs,
        TimestampType.LOG_APPEND_TIME,
        1,
        value.length,
        new byte[1],
        value,
        new RecordHeaders(),
        Optional.empty());
  }

  private double dropped(String reason) {
    return meters.get("fairway.dispatcher.dropped").tag("reason", reason).counter().count();
  }
}
