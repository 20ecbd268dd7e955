package dev.fairway.admission.topology;

import static dev.fairway.admission.topology.Samples.KEY;
import static dev.fairway.admission.topology.Samples.QUOTA;
import static dev.fairway.admission.topology.Samples.quota;
import static dev.fairway.admission.topology.Samples.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.mapping.JournalMapper;
import dev.fairway.admission.mapping.JournalRecord;
import dev.fairway.admission.mapping.JournalRecord.Decided;
import dev.fairway.admission.mapping.JournalRecord.Snapshot;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.DeadLetterFormat;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.InMemorySchemaRegistry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The processor's life: revived tasks, failing engines, commits, questions. */
class AdmissionProcessorTest {
  private final Topics topics = new Topics();
  private final InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
  private final AvroSerializer<SpecificRecord> serializer = new AvroSerializer<>(registry);
  private final FailureMemory failures = new FailureMemory();
  private final EngineTasks tasks = new EngineTasks();
  private final RecordingObserver observer = new RecordingObserver();
  private final PollLoop loop = new PollLoop();
  private final KeyValueStore<Bytes, byte[]> store =
      Stores.keyValueStoreBuilder(
              Stores.inMemoryKeyValueStore(AdmissionTopology.STORE),
              Serdes.Bytes(),
              Serdes.ByteArray())
          .withLoggingDisabled()
          .withCachingDisabled()
          .build();
  private MockProcessorContext<byte[], byte[]> context;
  private long nowMs = TopologyContext.START_MS;
  private String failOn = "";
  private AdmissionProcessor processor;
  private long offset;

  @BeforeEach
  void start() {
    loop.attach();
    context = newContext();
    store.init(context.getStateStoreContext(), store);
    AdmissionTopology.Parts parts =
        new AdmissionTopology.Parts(
            registry, () -> nowMs, () -> TopologyContext.SALT, observer, failures, tasks);
    processor =
        new AdmissionProcessor(
            TopologySettings.of(topics, 1),
            parts,
            (engine, key, command, atMs) -> {
              var handled = engine.handle(key, command, atMs);
              if (!failOn.isEmpty() && command.toString().contains(failOn)) {
                throw new IllegalStateException("cannot bear " + failOn);
              }
              return handled;
            });
    processor.init(context);
  }

  @AfterEach
  void stop() {
    new PollLoop().attach();
  }

  @Test
  void shouldRebuildTheEngineFromItsRowsWhenATaskIsRevived() {
    // given: two leases are taken, and one request waits
    process(topics.quotas(), QUOTA, quota().build());
    for (String id : List.of("r1", "r2", "r3")) {
      process(topics.requests(), KEY, request(id).build());
    }
    journal();

    // when: the same instance starts again, as Streams does it
    revive();
    nowMs += 1_000;
    process(topics.requests(), KEY, request("r4").build());

    // then: the snapshot of the restart, the tick that grants r3, and r4 waits behind it
    List<JournalRecord> journal = journal();
    assertThat(observer.told).contains("restored 0 keys, 0 rows");
    assertThat(observer.told.stream().filter(told -> told.startsWith("restored 1 keys")))
        .hasSize(1);
    Snapshot snapshot = (Snapshot) journal.get(0);
    assertThat(snapshot.sequence()).isEqualTo(4);
    Decided tick = (Decided) journal.get(1);
    assertThat(tick.sequence()).isEqualTo(5);
    assertThat(tick.command()).isEqualTo(new Command.Tick());
    assertThat(tick.events())
        .filteredOn(Event.LeaseGranted.class::isInstance)
        .singleElement()
        .satisfies(event -> assertThat(((Event.LeaseGranted) event).requestId()).isEqualTo("r3"));
    assertThat(((Decided) journal.get(2)).events())
        .anySatisfy(event -> assertThat(event).isInstanceOf(Event.LeaseQueued.class));
  }

  @Test
  void shouldForgetWhatAnAbortedTransactionDidToTheHeap() {
    // given: the engine applied r1, then failed; its rows were never written
    process(topics.quotas(), QUOTA, quota().build());
    failOn = "r1";
    assertThatThrownBy(() -> process(topics.requests(), KEY, request("r1").build()))
        .hasMessageContaining("cannot bear r1");

    // when
    revive();
    failOn = "";
    process(topics.requests(), KEY, request("r2").build());

    // then
    assertThat(ask(engine -> engine.openLeases(QUOTA)))
        .singleElement()
        .satisfies(lease -> assertThat(lease.request().requestId()).isEqualTo("r2"));
  }

  @Test
  void shouldSetARecordAsideOnWhichTheEngineFailedTwice() {
    // given
    process(topics.quotas(), QUOTA, quota().build());
    failOn = "poison";
    long poison = offset;
    for (int attempt = 1; attempt <= 2; attempt++) {
      offset = poison;
      assertThatThrownBy(() -> process(topics.requests(), KEY, request("poison").build()))
          .hasMessageContaining("cannot bear poison");
      revive();
    }
    context.resetForwards();

    // when
    offset = poison;
    process(topics.requests(), KEY, request("poison").build());
    process(topics.requests(), KEY, request("r2").build());

    // then
    List<Record<byte[], byte[]>> letters = forwarded(AdmissionTopology.DEAD_LETTERS);
    assertThat(letters).hasSize(1);
    assertThat(header(letters.get(0), DeadLetterFormat.REASON)).isEqualTo("ENGINE_FAILED");
    assertThat(header(letters.get(0), DeadLetterFormat.DETAIL)).contains("cannot bear poison");
    assertThat(observer.told.stream().filter("failed"::equals)).hasSize(2);
    assertThat(ask(engine -> engine.openLeases(QUOTA)))
        .singleElement()
        .satisfies(lease -> assertThat(lease.request().requestId()).isEqualTo("r2"));
  }

  @Test
  void shouldGoOnForOtherKeysWhenAKeysTickFailsTwice() {
    // given: a lease of key k expires, and its tick fails
    process(topics.quotas(), QUOTA, quota().build());
    process(topics.quotas(), "other", quota("other").build());
    process(topics.requests(), KEY, request("r1").build());
    failOn = "Tick";
    nowMs += 60_000;
    for (int attempt = 1; attempt <= 2; attempt++) {
      assertThatThrownBy(
              () -> process(topics.requests(), "other", request("r2").setQuota("other").build()))
          .hasMessageContaining("cannot bear Tick");
      revive();
    }

    // when
    process(topics.requests(), "other", request("r2").setQuota("other").build());

    fireNewestTimer();

    // then: and the timer waits a moment instead of spinning
    assertThat(ask(engine -> engine.openLeases("other"))).hasSize(1);
    assertThat(newestTimerMs()).isEqualTo(1_000);
  }

  @Test
  void shouldCommitOnceTheBatchIsUsedUpAndOnlyForADecision() {
    // given
    process(topics.quotas(), QUOTA, quota().build());
    assertThat(context.committed()).isFalse();
    polled(topics.requests(), offset, 3);
    polled(topics.settlements(), 100, 1);

    // when, then
    process(topics.requests(), KEY, request("r1").build());
    process(topics.requests(), KEY, request("r2").build());
    process(topics.requests(), KEY, request("r3").build());
    assertThat(context.committed()).isFalse();
    offset = 100;
    process(topics.settlements(), KEY, Samples.settlement("unknown").build());
    assertThat(context.committed()).isTrue();

    // and: nothing was decided since
    context.resetCommit();
    process(topics.settlements(), KEY, Samples.settlement("unknown").build());
    assertThat(context.committed()).isFalse();
  }

  @Test
  void shouldArmOneTimerAtTheNextDeadlineAndNoneWithoutOne() {
    // given
    process(topics.quotas(), QUOTA, quota().build());
    int periodic = activeTimers();

    // when
    process(topics.requests(), KEY, request("r1").build());

    // then: the lease's end
    assertThat(activeTimers()).isEqualTo(periodic + 1);
    assertThat(newestTimerMs()).isEqualTo(60_000);

    // when: something is due earlier
    process(topics.requests(), KEY, request("r2").build());
    process(topics.requests(), KEY, request("r3").build());

    // then
    assertThat(activeTimers()).isEqualTo(periodic + 1);
    assertThat(newestTimerMs()).isEqualTo(1_000);
  }

  @Test
  void shouldSplitALargeSnapshotIntoChunksThatRestoreTheWhole() {
    // given
    process(topics.quotas(), QUOTA, quota().setMaxQueueWaitMs(3_600_000L).build());
    for (int i = 0; i < 1_200; i++) {
      process(topics.requests(), KEY, request("r" + i).build());
    }
    journal();

    // when
    revive();
    process(topics.tasks(), KEY, Samples.task("t").build());

    // then
    List<Snapshot> chunks =
        journal().stream().filter(Snapshot.class::isInstance).map(Snapshot.class::cast).toList();
    assertThat(chunks).hasSizeGreaterThan(2);
    AdmissionEngine copy = new AdmissionEngine();
    List<dev.fairway.admission.engine.state.Row> rows = new ArrayList<>();
    for (int i = 0; i < chunks.size(); i++) {
      assertThat(chunks.get(i).chunk()).isEqualTo(i);
      assertThat(chunks.get(i).chunks()).isEqualTo(chunks.size());
      assertThat(chunks.get(i).rows().size()).isLessThanOrEqualTo(Snapshots.ROWS_MAX);
      rows.addAll(chunks.get(i).rows());
    }
    copy.restore(KEY, rows);
    assertThat(copy.waiting(QUOTA, 2_000)).isEqualTo(ask(engine -> engine.waiting(QUOTA, 2_000)));
  }

  @Test
  void shouldKeepParkedRecordsApartFromRows() {
    // given
    process(topics.quotas(), QUOTA, quota().build());
    SourceRecord source =
        new SourceRecord(
            topics.requests(),
            0,
            7,
            5,
            new byte[] {1},
            null,
            new org.apache.kafka.common.header.internals.RecordHeaders().add("h", null));
    ParkedRecords parked = new ParkedRecords(store);

    // when
    parked.park(source, 99);
    revive();

    // then
    ParkedRecords.Parked read = new ParkedRecords(store).all().get(0);
    assertThat(read.sinceMs()).isEqualTo(99);
    assertThat(read.source().coordinates()).isEqualTo("fairway.requests-0@7");
    assertThat(read.source().key()).containsExactly(1);
    assertThat(read.source().value()).isNull();
    assertThat(read.source().headers().toArray()).hasSize(1);
    assertThat(ask(engine -> List.copyOf(engine.keys()))).containsExactly(KEY);
  }

  @Test
  void shouldNotAnswerForATaskThatIsGone() {
    // given
    List<CompletableFuture<Integer>> answers = tasks.ask((engine, partition) -> partition);
    assertThat(tasks.partitions()).containsExactly(0);

    // when
    processor.close();
    loop.beforePoll(java.time.Duration.ZERO, 0);

    // then
    assertThat(answers.get(0)).isCompletedExceptionally();
    assertThat(tasks.partitions()).isEmpty();
  }

  private <T> List<T> ask(java.util.function.Function<AdmissionEngine, List<T>> question) {
    List<CompletableFuture<List<T>>> answers =
        tasks.ask((engine, partition) -> question.apply(engine));
    loop.beforePoll(java.time.Duration.ZERO, 0);
    return answers.get(0).join();
  }

  private void revive() {
    processor.close();
    context = newContext();
    processor.init(context);
  }

  private MockProcessorContext<byte[], byte[]> newContext() {
    MockProcessorContext<byte[], byte[]> fresh = new MockProcessorContext<>();
    fresh.addStateStore(store);
    return fresh;
  }

  private void process(String topic, String key, SpecificRecord value) {
    context.setRecordMetadata(topic, 0, offset++);
    processor.process(
        new Record<>(
            key.getBytes(StandardCharsets.UTF_8), serializer.serialize(topic, value), nowMs));
  }

  private void polled(String topic, long firstOffset, int count) {
    TopicPartition partition = new TopicPartition(topic, 0);
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      records.add(new ConsumerRecord<>(topic, 0, firstOffset + i, null, null));
    }
    loop.polled(new ConsumerRecords<>(Map.of(partition, records), Map.of()));
  }

  private List<JournalRecord> journal() {
    AvroDeserializer<AdmissionEvent> deserializer =
        new AvroDeserializer<>(registry, AdmissionEvent.class);
    List<JournalRecord> records =
        forwarded(AdmissionTopology.JOURNAL).stream()
            .map(
                record ->
                    JournalMapper.toEngine(
                        deserializer.deserialize(topics.journal(), record.value())))
            .toList();
    context.resetForwards();
    return records;
  }

  private List<Record<byte[], byte[]>> forwarded(String child) {
    List<Record<byte[], byte[]>> records = new ArrayList<>();
    for (var forward : context.forwarded(child)) {
      records.add(
          new Record<>(
              forward.record().key(), forward.record().value(), 0, forward.record().headers()));
    }
    return records;
  }

  private int activeTimers() {
    return (int)
        context.scheduledPunctuators().stream().filter(timer -> !timer.cancelled()).count();
  }

  private long newestTimerMs() {
    var timers = context.scheduledPunctuators();
    return timers.get(timers.size() - 1).getInterval().toMillis();
  }

  private void fireNewestTimer() {
    var timers = context.scheduledPunctuators();
    timers.get(timers.size() - 1).getPunctuator().punctuate(nowMs);
  }

  private static String header(Record<byte[], byte[]> record, String name) {
    return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
  }
}
