package dev.fairway.admission.topology;

import static dev.fairway.admission.topology.Samples.KEY;
import static dev.fairway.admission.topology.Samples.QUOTA;
import static dev.fairway.admission.topology.Samples.quota;
import static dev.fairway.admission.topology.Samples.request;
import static dev.fairway.admission.topology.Samples.settlement;
import static dev.fairway.admission.topology.Samples.task;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.OpaqueBytes;
import dev.fairway.admission.mapping.Cause;
import dev.fairway.admission.mapping.JournalRecord;
import dev.fairway.admission.mapping.JournalRecord.Decided;
import dev.fairway.admission.mapping.JournalRecord.Snapshot;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AdmissionTopologyTest {
  private final TopologyContext context = new TopologyContext();

  @AfterEach
  void close() {
    context.close();
  }

  @Test
  void shouldGrantAndSettle() {
    // given
    context.quota(quota().build(), QUOTA);
    context.send(context.topics.requests(), KEY, request("r1").build());
    List<JournalRecord> granted = context.journal();
    Event.LeaseGranted lease = grant(granted);

    // when
    context.send(context.topics.settlements(), KEY, settlement(lease.leaseId()).build());

    // then
    assertThat(lease.requestId()).isEqualTo("r1");
    assertThat(context.events(Event.LeaseSettled.class))
        .singleElement()
        .satisfies(settled -> assertThat(settled.leaseId()).isEqualTo(lease.leaseId()));
    assertThat(context.deadLetters()).isEmpty();
  }

  @Test
  void shouldGrantAQueuedRequestAtItsTimeWithoutAnyFurtherRecord() {
    // given
    context.quota(quota().build(), QUOTA);
    for (String id : List.of("r1", "r2", "r3")) {
      context.send(context.topics.requests(), KEY, request(id).build());
    }
    assertThat(context.events(Event.LeaseQueued.class))
        .singleElement()
        .satisfies(queued -> assertThat(queued.requestId()).isEqualTo("r3"));

    // when
    context.sleep(980);
    List<Event> early = context.events();
    context.sleep(40);
    List<JournalRecord> onTime = context.journal();

    // then
    assertThat(early).isEmpty();
    assertThat(grant(onTime).requestId()).isEqualTo("r3");
    assertThat(onTime)
        .singleElement()
        .satisfies(record -> assertThat(((Decided) record).cause()).isEqualTo(Cause.TICK));
  }

  @Test
  void shouldNotFireWhileThereIsNoDeadline() {
    // given
    context.quota(quota().build(), QUOTA);
    context.send(context.topics.requests(), KEY, request("r1").build());
    Event.LeaseGranted lease = grant(context.journal());
    context.send(context.topics.settlements(), KEY, settlement(lease.leaseId()).build());
    context.sleep(120_000);
    context.journal();
    List<String> before = new ArrayList<>(context.observer.told);

    // when
    context.sleep(400_000);

    // then
    assertThat(context.journal()).isEmpty();
    assertThat(context.observer.told).isEqualTo(before);
  }

  @Test
  void shouldTickWhatIsDueBeforeARecordOfTheSameTime() {
    // given: a lease that expired while no timer fired
    context.quota(quota().build(), QUOTA);
    context.send(context.topics.requests(), KEY, request("r1").build());
    context.journal();
    context.freezeTimers(70_000);

    // when
    context.send(context.topics.requests(), KEY, request("r2").build());

    // then
    List<JournalRecord> records = context.journal();
    assertThat(records).hasSize(2);
    assertThat(((Decided) records.get(0)).command()).isEqualTo(new Command.Tick());
    assertThat(((Decided) records.get(0)).events())
        .anySatisfy(event -> assertThat(event).isInstanceOf(Event.LeaseExpired.class));
    assertThat(((Decided) records.get(1)).command()).isInstanceOf(Command.RequestLease.class);
  }

  @Test
  void shouldJournalEveryCommandInFullSoThatItDecidesTheSameAgain() {
    // given
    context.quota(quota().build(), QUOTA);
    for (int i = 0; i < 6; i++) {
      context.send(context.topics.requests(), KEY, request("r" + i).build());
    }
    context.send(context.topics.tasks(), KEY, task("t1").build());
    context.sleep(3_000);
    context.send(context.topics.requests(), KEY, request("r1").build());
    context.send(context.topics.quotas(), QUOTA, null, new RecordHeaders());
    context.sleep(90_000);

    // when
    AdmissionEngine engine = new AdmissionEngine();
    List<JournalRecord> journal = context.journal();

    // then
    assertThat(journal).hasSizeGreaterThan(10);
    long sequence = 0;
    for (JournalRecord record : journal) {
      Decided decided = (Decided) record;
      Handled again = engine.handle(decided.key(), decided.command(), decided.atMs());
      assertThat(decided.sequence()).isEqualTo(++sequence);
      assertThat(again.sequence()).isEqualTo(decided.sequence());
      assertThat(again.epoch()).isEqualTo(decided.epoch());
      assertThat(again.atMs()).isEqualTo(decided.atMs());
      assertThat(again.events()).isEqualTo(decided.events());
      assertThat(decided.engineVersion()).isEqualTo(AdmissionEngine.VERSION);
    }
  }

  @Test
  void shouldNameTheSourceOfACommand() {
    // given
    context.quota(quota().build(), QUOTA);

    // when
    context.send(context.topics.requests(), KEY, request("r1").build());
    context.send(context.topics.requests(), KEY, request("r2").build());

    // then
    assertThat(context.journal())
        .extracting(record -> ((Decided) record).cause())
        .containsExactly(
            Cause.record("fairway.quotas", 0, 0),
            Cause.record("fairway.requests", 0, 0),
            Cause.record("fairway.requests", 0, 1));
  }

  @Test
  void shouldTakeTheCoordinatorsTimeAndNotTheProducers() {
    // given
    context.quota(quota().build(), QUOTA);
    context.journal();

    // when
    context.send(context.topics.requests(), KEY, request("r1").build());

    // then
    assertThat(context.journal())
        .singleElement()
        .satisfies(
            record -> {
              assertThat(record.atMs()).isEqualTo(TopologyContext.START_MS);
              assertThat(((Command.RequestLease) ((Decided) record).command()).appendedAtMs())
                  .isEqualTo(TopologyContext.START_MS);
            });
  }

  @Test
  void shouldRememberASaltOnlyForTheFirstDefinition() {
    // given
    context.quota(quota().build(), QUOTA);

    // when
    context.quota(quota("k/opus").build(), "k/opus");

    // then
    assertThat(context.events(Event.QuotaDefined.class))
        .extracting(Event.QuotaDefined::salt)
        .containsExactly(TopologyContext.SALT, null);
  }

  @Test
  void shouldRemoveAQuotaAtItsTombstone() {
    // given
    context.quota(quota().build(), QUOTA);
    context.journal();

    // when
    context.send(context.topics.quotas(), QUOTA, null, new RecordHeaders());

    // then
    assertThat(context.events()).containsExactly(new Event.QuotaRemoved(QUOTA));
  }

  @Test
  void shouldTakeSpringsCorrelationHeaderWhereTheValueHasNone() {
    // given
    context.quota(quota().build(), QUOTA);
    context.journal();
    byte[] correlation = {0, 1, (byte) 0xFF};

    // when
    sendWithCorrelation("r1", null, correlation);
    sendWithCorrelation("r2", "own".getBytes(StandardCharsets.UTF_8), correlation);
    sendWithCorrelation("r3", null, new byte[1_025]);

    // then
    assertThat(context.events(Event.Decision.class))
        .extracting(Event.Decision::correlation)
        .containsExactly(
            new OpaqueBytes(correlation),
            new OpaqueBytes("own".getBytes(StandardCharsets.UTF_8)),
            null);
  }

  @Test
  void shouldWriteSnapshotsAtTheirIntervalThatRestoreTheSameState() {
    // given
    context.quota(quota().build(), QUOTA);
    for (int i = 0; i < 4; i++) {
      context.send(context.topics.requests(), KEY, request("r" + i).build());
    }
    context.journal();

    // when
    context.sleep(600_000);

    // then: the snapshot tells the state after the command before it, under that one's sequence
    List<JournalRecord> journal = context.journal();
    JournalRecord last = journal.get(journal.size() - 1);
    assertThat(last).isInstanceOf(Snapshot.class);
    Snapshot snapshot = (Snapshot) last;
    assertThat(snapshot.sequence()).isEqualTo(journal.get(journal.size() - 2).sequence());
    assertThat(snapshot.chunk()).isZero();
    assertThat(snapshot.chunks()).isEqualTo(1);
    AdmissionEngine engine = new AdmissionEngine();
    engine.restore(snapshot.key(), snapshot.rows());
    assertThat(engine.rows(KEY)).isEqualTo(snapshot.rows());
    context.send(context.topics.requests(), KEY, request("r9").build());
    Decided next = (Decided) context.journal().get(0);
    assertThat(engine.handle(KEY, next.command(), next.atMs()).events()).isEqualTo(next.events());
  }

  @Test
  void shouldKeepOneStoreRowForEachRowOfTheEngine() {
    // given
    context.quota(quota().build(), QUOTA);

    // when
    for (int i = 0; i < 5; i++) {
      context.send(context.topics.requests(), KEY, request("r" + i).build());
    }
    context.sleep(700_000);

    // then
    List<JournalRecord> journal = context.journal();
    Snapshot snapshot = (Snapshot) journal.get(journal.size() - 1);
    assertThat(context.storeSize()).isEqualTo(snapshot.rows().size());
  }

  private void sendWithCorrelation(String id, byte[] own, byte[] header) {
    Headers headers = new RecordHeaders().add("kafka_correlationId", header);
    byte[] value =
        context.bytes(
            context.topics.requests(),
            request(id).setCorrelation(own == null ? null : ByteBuffer.wrap(own)).build());
    context.send(context.topics.requests(), KEY, value, headers);
  }

  private static Event.LeaseGranted grant(List<JournalRecord> journal) {
    return journal.stream()
        .flatMap(record -> ((Decided) record).events().stream())
        .filter(Event.LeaseGranted.class::isInstance)
        .map(Event.LeaseGranted.class::cast)
        .findFirst()
        .orElseThrow(() -> new AssertionError("Expected a grant in " + journal));
  }
}
