package dev.fairway.admission.topology;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.InvalidCommandException;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.mapping.Cause;
import dev.fairway.admission.mapping.JournalMapper;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.DeadLetterFormat;
import dev.fairway.schemas.DeadLetterReason;
import dev.fairway.schemas.serde.AvroSerializer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Feeds one partition's records and timers to its engine, and writes down what comes of it.
 *
 * <p>Bad input ends as a dead letter, and the task goes on. A failure of the engine itself ends the
 * task: its state may be half changed, the transaction aborts, and {@link #init} starts over from
 * the rows of the last commit.
 */
final class AdmissionProcessor implements Processor<byte[], byte[], byte[], byte[]> {
  private static final Logger LOG = LoggerFactory.getLogger(AdmissionProcessor.class);

  /** A registry that hangs costs each retry a second of the thread. */
  private static final long PARKED_RETRY_MS = 15_000;

  private static final long PARKED_MS_MAX = 300_000;

  /** A key whose tick the engine cannot bear would else be due at every poll. */
  private static final long STALLED_TICK_MS = 1_000;

  /** How a command reaches the engine; a seam, for an engine that fails. */
  interface Handling {
    Handled handle(AdmissionEngine engine, String key, Command command, long nowMs);
  }

  private final TopologySettings settings;
  private final AdmissionTopology.Parts parts;
  private final Handling handling;
  private final InputReader reader;
  private final DeadLetterFormat deadLetters;
  private final ForeignKeys foreignKeys;
  private final AvroSerializer<AdmissionEvent> journal;

  private ProcessorContext<byte[], byte[]> context;
  private PollLoop loop;
  private AdmissionEngine engine;
  private StateRows rows;
  private ParkedRecords parked;
  private DecisionTimer timer;
  private Cancellable parkedRetry;
  private boolean snapshotDue;
  private boolean decisionPending;
  private DeadLetterLog deadLetterLog;

  AdmissionProcessor(TopologySettings settings, AdmissionTopology.Parts parts) {
    this(settings, parts, AdmissionEngine::handle);
  }

  AdmissionProcessor(TopologySettings settings, AdmissionTopology.Parts parts, Handling handling) {
    this.settings = settings;
    this.parts = parts;
    this.handling = handling;
    this.reader =
        new InputReader(
            settings.topics(), parts.registry(), settings.recordBytesMax(), parts.salts());
    this.deadLetters = new DeadLetterFormat(settings.deadLetterBytesMax());
    this.foreignKeys = new ForeignKeys(settings.partitions());
    this.journal = new AvroSerializer<>(parts.registry());
  }

  /** Streams calls this again on the same instance when it revives a task: nothing may stay. */
  @Override
  public void init(ProcessorContext<byte[], byte[]> newContext) {
    context = newContext;
    loop = PollLoop.ofThread();
    loop.forget(partition());
    long startNanos = System.nanoTime();
    KeyValueStore<Bytes, byte[]> store = context.getStateStore(AdmissionTopology.STORE);
    engine = new AdmissionEngine();
    rows = new StateRows(store);
    long read = rows.restore(engine);
    parked = new ParkedRecords(store);
    parkedRetry = null;
    decisionPending = false;
    deadLetterLog = new DeadLetterLog(LOG::warn);
    snapshotDue = !engine.keys().isEmpty();
    timer = new DecisionTimer(context, loop, this::onTime);
    context.schedule(
        Duration.ofMillis(settings.snapshotIntervalMs()),
        PunctuationType.WALL_CLOCK_TIME,
        firedAt -> {
          snapshotDue = true;
          onTime();
        });
    long nowMs = parts.clock().getAsLong();
    // Children are not ready inside init, so the snapshot of the restart waits for a timer.
    timer.arm(snapshotDue ? nowMs : engine.nextDeadlineMs(), nowMs);
    retryParkedLater();
    parts.tasks().opened(partition(), engine, loop);
    parts
        .observer()
        .restored(partition(), engine.keys().size(), read, System.nanoTime() - startNanos);
  }

  @Override
  public void close() {
    if (deadLetterLog != null) {
      deadLetterLog.close();
    }
    parts.tasks().closed(partition(), engine);
    loop.forget(partition());
  }

  @Override
  public void process(Record<byte[], byte[]> record) {
    RecordMetadata at =
        context
            .recordMetadata()
            .orElseThrow(() -> new IllegalStateException("Expected a record with its source"));
    SourceRecord source =
        new SourceRecord(
            at.topic(),
            at.partition(),
            at.offset(),
            record.timestamp(),
            record.key(),
            record.value(),
            record.headers());
    long nowMs = beforeCommand();
    if (!foreignKeys.isOwn(source)) {
      foreign(source, nowMs);
    } else if (tooLarge(source)) {
      deadLetter(
          source,
          DeadLetterReason.TOO_LARGE,
          "Expected a value of at most "
              + settings.recordBytesMax()
              + " bytes but found "
              + source.value().length,
          nowMs);
    } else {
      own(source, nowMs);
    }
    loop.handled(source.topic(), source.partition(), source.offset());
    afterCommand(nowMs);
  }

  private void own(SourceRecord source, long nowMs) {
    InputReader.Input input = reader.read(source);
    if (!(input instanceof InputReader.Postponed postponed)) {
      decide(source, input, nowMs);
    } else if (parked.park(source, nowMs)) {
      retryParkedLater();
    } else {
      deadLetter(source, DeadLetterReason.REGISTRY_UNAVAILABLE, postponed.detail(), nowMs);
    }
  }

  private void decide(SourceRecord source, InputReader.Input input, long nowMs) {
    if (input instanceof InputReader.Accepted accepted) {
      submit(accepted, source, nowMs);
    } else if (input instanceof InputReader.Refused refused) {
      deadLetter(source, refused.reason(), refused.detail(), nowMs);
    } else if (input instanceof InputReader.Keyless keyless) {
      deadLetter(source, DeadLetterReason.KEY_MISMATCH, keyless.detail(), nowMs);
      // Set aside here, as it was read; the owner of the quota's key only tells the agent.
      Record<byte[], byte[]> forwarded =
          foreignKeys.forwarded(source, keyless.ownerKey(), keyless.detail());
      context.forward(forwarded, AdmissionTopology.FORWARD);
      parts.observer().forwarded(source.topic());
    }
  }

  private void submit(InputReader.Accepted accepted, SourceRecord source, long nowMs) {
    String failed = parts.failures().exhausted(source.coordinates());
    if (failed != null) {
      deadLetter(source, DeadLetterReason.ENGINE_FAILED, failed, nowMs);
      return;
    }
    Cause cause = Cause.record(source.topic(), source.partition(), source.offset());
    try {
      Handled handled =
          handle(accepted.key(), accepted.command(), cause, nowMs, source.coordinates());
      String invalid = rejectedAsInvalid(handled);
      if (invalid != null && !foreignKeys.isAnswerOnly(source)) {
        deadLetter(source, reasonOf(accepted.command()), invalid, nowMs);
      }
    } catch (InvalidCommandException e) {
      deadLetter(source, DeadLetterReason.INVALID, e.getMessage(), nowMs);
    }
  }

  /**
   * Has the engine handle a command, and writes down what it did.
   *
   * @param what what to remember a failure under
   */
  private Handled handle(String key, Command command, Cause cause, long nowMs, String what) {
    Handled handled;
    AdmissionEvent event;
    List<KeyValue<Bytes, byte[]>> changed;
    long startNanos = System.nanoTime();
    try {
      handled = handling.handle(engine, key, command, nowMs);
      event = JournalMapper.toAvro(handled, command, cause);
      changed = rows.encoded(key, handled.changedRows());
    } catch (InvalidCommandException e) {
      throw e;
    } catch (RuntimeException e) {
      parts.failures().failed(what, e);
      parts.observer().engineFailed();
      LOG.error("The engine failed on {} of key {}; the task starts over", what, key, e);
      throw e;
    }
    long nanos = System.nanoTime() - startNanos;
    write(event);
    rows.write(changed);
    decisionPending |= hasDecision(handled);
    parts.observer().handled(command, handled, nanos);
    return handled;
  }

  private long beforeCommand() {
    if (snapshotDue) {
      snapshotDue = false;
      Snapshots.writeAll(engine, rows, this::write);
    }
    long nowMs = parts.clock().getAsLong();
    for (String key : engine.keysDue(nowMs)) {
      if (parts.failures().exhausted(tickOf(key)) == null) {
        handle(key, new Command.Tick(), Cause.TICK, nowMs, tickOf(key));
      }
    }
    return nowMs;
  }

  private void afterCommand(long nowMs) {
    timer.arm(nextDeadlineMs(nowMs), nowMs);
    if (decisionPending && loop.usedUp()) {
      decisionPending = false;
      context.commit();
    }
  }

  private void onTime() {
    afterCommand(beforeCommand());
  }

  private long nextDeadlineMs(long nowMs) {
    long deadlineMs = engine.nextDeadlineMs();
    return deadlineMs <= nowMs ? nowMs + STALLED_TICK_MS : deadlineMs;
  }

  private void foreign(SourceRecord source, long nowMs) {
    if (foreignKeys.mayForward(source)) {
      context.forward(foreignKeys.forwarded(source), AdmissionTopology.FORWARD);
      parts.observer().forwarded(source.topic());
    } else {
      deadLetter(
          source,
          DeadLetterReason.FOREIGN_KEY,
          "Expected partition "
              + foreignKeys.ownerOf(source.key())
              + " for this record key, with "
              + settings.partitions()
              + " partitions, but found it in "
              + source.partition()
              + " after "
              + ForeignKeys.HOPS_MAX
              + " hops; check that all input topics have that many partitions",
          nowMs);
    }
  }

  private void retryParkedLater() {
    if (parkedRetry == null && !parked.isEmpty()) {
      parkedRetry =
          context.schedule(
              Duration.ofMillis(PARKED_RETRY_MS),
              PunctuationType.WALL_CLOCK_TIME,
              firedAt -> retryParked());
    }
  }

  private void retryParked() {
    parkedRetry.cancel();
    parkedRetry = null;
    long nowMs = beforeCommand();
    for (ParkedRecords.Parked waiting : parked.all()) {
      retryParked(waiting, nowMs);
    }
    retryParkedLater();
    afterCommand(nowMs);
  }

  private void retryParked(ParkedRecords.Parked waiting, long nowMs) {
    InputReader.Input input = reader.read(waiting.source());
    if (!(input instanceof InputReader.Postponed postponed)) {
      parked.remove(waiting.source());
      decide(waiting.source(), input, nowMs);
    } else if (nowMs - waiting.sinceMs() >= PARKED_MS_MAX) {
      parked.remove(waiting.source());
      deadLetter(
          waiting.source(), DeadLetterReason.REGISTRY_UNAVAILABLE, postponed.detail(), nowMs);
    }
  }

  private void deadLetter(SourceRecord source, DeadLetterReason reason, String detail, long atMs) {
    deadLetterLog.put(reason, source.coordinates(), detail, atMs);
    DeadLetterFormat.Letter letter =
        deadLetters.of(
            new DeadLetterFormat.Source(
                source.topic(),
                source.partition(),
                source.offset(),
                source.key(),
                source.value(),
                source.headers()),
            reason,
            detail,
            atMs);
    context.forward(
        new Record<>(letter.key(), letter.value(), Math.max(0, atMs), letter.headers()),
        AdmissionTopology.DEAD_LETTERS);
    parts.observer().deadLettered(reason);
  }

  private void write(AdmissionEvent event) {
    byte[] value = journal.serialize(settings.topics().journal(), event);
    byte[] key = event.getKey().getBytes(StandardCharsets.UTF_8);
    context.forward(
        new Record<>(key, value, Math.max(0, event.getAtMs())), AdmissionTopology.JOURNAL);
  }

  private int partition() {
    return context.taskId().partition();
  }

  private boolean tooLarge(SourceRecord source) {
    return source.value() != null && source.value().length > settings.recordBytesMax();
  }

  private static String tickOf(String key) {
    return "the tick of " + key;
  }

  private static DeadLetterReason reasonOf(Command refused) {
    return refused instanceof Command.RefuseRequest
        ? DeadLetterReason.KEY_MISMATCH
        : DeadLetterReason.INVALID;
  }

  private static boolean hasDecision(Handled handled) {
    for (Event event : handled.events()) {
      if (event instanceof Event.Decision || event instanceof Event.DecisionRepeated) {
        return true;
      }
    }
    return false;
  }

  /** The detail of the rejection by which the engine told the agent so, or null. */
  private static String rejectedAsInvalid(Handled handled) {
    for (Event event : handled.events()) {
      if (event instanceof Event.LeaseRejected rejected
          && rejected.reason() == RejectReason.INVALID) {
        return rejected.detail();
      }
    }
    return null;
  }
}
