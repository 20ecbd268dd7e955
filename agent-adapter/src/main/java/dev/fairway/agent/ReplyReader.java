package dev.fairway.agent;

import dev.fairway.schemas.Decision;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The poll thread: reads one partition of the reply topic, without a consumer group.
 *
 * <p>No reply may be written before the position it would be read from is known. If the topic
 * exists at the start, that position is its end, asked from the broker before the start returns. If
 * it does not exist, because the agent registers by its first request and the dispatcher creates
 * the topic for the reply, that position is its beginning, whenever it appears: everything in it is
 * younger than this client. Until then the thread looks for it seldom, and often while a request is
 * out. Where a client before this one was killed, what it has not read any more is looked through
 * first.
 */
final class ReplyReader {
  private static final Logger log = LoggerFactory.getLogger(ReplyReader.class);

  private static final Duration POLL = Duration.ofSeconds(1);
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final long LOOK_IDLE_MS = 5_000;
  private static final long LOOK_FIRST_MS = 10;
  private static final long LOOK_MAX_MS = 500;
  private static final long TROUBLE_PAUSE_MS = 1_000;
  private static final long TROUBLE_LOG_MS = 30_000;

  /** Most records that are looked through for what the client before has missed. */
  static final long MISSED_MAX = 100_000;

  /** Who reads the decisions; must not block. */
  interface Handler {
    /** A decision was read. */
    void onDecision(Decision decision, long receivedAtMs);

    /** A decision was read that was there before this client began, and the one before missed. */
    void onMissed(Decision decision);

    /** Whether a reply may come at any moment. */
    boolean expectsReply();
  }

  /** Bytes to a decision. */
  interface Decoder {
    Decision decode(String topic, byte[] bytes);
  }

  private final Consumer<byte[], byte[]> consumer;
  private final TopicPartition partition;
  private final Decoder decoder;
  private final Timers timers;
  private final Counters counters;
  private final Handover handover;
  private final Handler handler;

  /** At most one permit: somebody expects a reply, or the reader is to stop. */
  private final Semaphore nudges = new Semaphore(0);

  private volatile boolean assigned;
  private volatile boolean closed;

  /** What lies before was missed by the client before; 0 once it is looked through. */
  private long liveFrom;

  private long lookDelayMs = LOOK_IDLE_MS;
  private long troubleLoggedAtMs = Long.MIN_VALUE / 2;
  private long unreadableLoggedAtMs = Long.MIN_VALUE / 2;
  private Thread thread;

  ReplyReader(
      Consumer<byte[], byte[]> consumer,
      TopicPartition partition,
      Decoder decoder,
      Timers timers,
      Counters counters,
      Handover handover,
      Handler handler) {
    this.consumer = consumer;
    this.partition = partition;
    this.decoder = decoder;
    this.timers = timers;
    this.counters = counters;
    this.handover = handover;
    this.handler = handler;
  }

  /**
   * Resolves the position. To be called once, before {@link #start}.
   *
   * @throws KafkaException if the brokers do not answer in time, or refuse
   */
  void resolve(Duration timeout) {
    if (exists(timeout)) {
      consumer.assign(List.of(partition));
      consumer.seekToEnd(List.of(partition));
      // seekToEnd is lazy: only asking for the position makes the consumer look it up.
      long end = consumer.position(partition, timeout);
      handover.read(goBackTo(handover.position(), end, timeout));
      assigned = true;
    }
  }

  /** What the client before has not read is looked through first; the position is returned. */
  private long goBackTo(long missedFrom, long end, Duration timeout) {
    if (missedFrom == Handover.UNKNOWN || missedFrom >= end) {
      return end;
    }
    long first = consumer.beginningOffsets(List.of(partition), timeout).get(partition);
    long from = Math.min(end, Math.max(missedFrom, Math.max(first, end - MISSED_MAX)));
    consumer.seek(partition, from);
    liveFrom = end;
    return from;
  }

  /** Starts the poll thread. */
  void start(String threadName) {
    thread = new Thread(this::run, threadName);
    thread.setDaemon(true);
    thread.start();
  }

  /** The first request is out: its reply may bring the topic into being. */
  void nudge() {
    if (!assigned && nudges.availablePermits() == 0) {
      nudges.release();
    }
  }

  /** Stops the thread and closes the consumer; returns when that is done, or after the timeout. */
  void close(Duration timeout) {
    closed = true;
    nudges.release();
    consumer.wakeup();
    if (thread == null) {
      closeConsumer();
      return;
    }
    try {
      thread.join(Math.max(1, timeout.toMillis()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      while (!closed) {
        step();
      }
    } catch (RuntimeException e) {
      if (!closed) {
        log.error("Expected to read replies for ever, but the poll thread failed.", e);
      }
    } finally {
      closeConsumer();
    }
  }

  private void closeConsumer() {
    // There is no group to leave; with time given, it would wait for the fetch that is under way.
    consumer.close(CloseOptions.timeout(Duration.ZERO));
  }

  /** One turn of the poll thread. */
  void step() {
    try {
      if (assigned || appeared()) {
        onRecords(consumer.poll(POLL));
      } else {
        awaitTopic();
      }
    } catch (WakeupException | InterruptException e) {
      // Only close() wakes or interrupts this thread, and the loop looks at that.
      closed = true;
    } catch (TimeoutException e) {
      // The brokers are out of reach, which the Kafka client logs; it keeps its position.
    } catch (KafkaException e) {
      onTrouble(e);
    }
  }

  private void onRecords(ConsumerRecords<byte[], byte[]> records) {
    List<ConsumerRecord<byte[], byte[]>> read = records.records(partition);
    if (!read.isEmpty()) {
      handover.read(read.get(read.size() - 1).offset() + 1);
    }
    read.forEach(this::onRecord);
    if (liveFrom > 0 && consumer.position(partition) >= liveFrom) {
      liveFrom = 0;
    }
  }

  private void onRecord(ConsumerRecord<byte[], byte[]> record) {
    Decision decision;
    try {
      decision = decoder.decode(record.topic(), record.value());
    } catch (RuntimeException e) {
      counters.unreadableReplies.increment();
      if (timers.nowMs() - unreadableLoggedAtMs >= TROUBLE_LOG_MS) {
        unreadableLoggedAtMs = timers.nowMs();
        log.warn(
            "Expected a decision in {} at offset {}, but it cannot be read; it is skipped, and a"
                + " call that waits for it asks again. ({})",
            partition,
            record.offset(),
            e.toString());
      }
      return;
    }
    if (decision == null) {
      counters.unreadableReplies.increment();
      return;
    }
    if (record.offset() < liveFrom) {
      handler.onMissed(decision);
    } else {
      liveFrom = 0;
      handler.onDecision(decision, timers.nowMs());
    }
  }

  private boolean appeared() {
    if (!exists(LOOK)) {
      return false;
    }
    consumer.assign(List.of(partition));
    consumer.seekToBeginning(List.of(partition));
    handover.read(0);
    assigned = true;
    return true;
  }

  private boolean exists(Duration timeout) {
    List<PartitionInfo> partitions = consumer.partitionsFor(partition.topic(), timeout);
    if (partitions == null || partitions.isEmpty()) {
      return false;
    }
    if (partition.partition() >= partitions.size()) {
      throw new KafkaException(
          "Expected reply topic "
              + partition.topic()
              + " to have partition "
              + partition.partition()
              + ", but it has "
              + partitions.size()
              + ". Use the partition of the agent's registration (`fairway agent list`).");
    }
    return true;
  }

  private void awaitTopic() {
    lookDelayMs = handler.expectsReply() ? Math.min(2 * lookDelayMs, LOOK_MAX_MS) : LOOK_IDLE_MS;
    try {
      if (nudges.tryAcquire(lookDelayMs, TimeUnit.MILLISECONDS)) {
        lookDelayMs = LOOK_FIRST_MS;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      closed = true;
    }
  }

  private void onTrouble(KafkaException e) {
    if (timers.nowMs() - troubleLoggedAtMs >= TROUBLE_LOG_MS) {
      troubleLoggedAtMs = timers.nowMs();
      log.warn(
          "Expected to read replies from {}, but it failed; trying on. Calls that get no answer end"
              + " by their timeouts.",
          partition,
          e);
    }
    try {
      if (!closed) {
        var unused = nudges.tryAcquire(TROUBLE_PAUSE_MS, TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      closed = true;
    }
  }
}
