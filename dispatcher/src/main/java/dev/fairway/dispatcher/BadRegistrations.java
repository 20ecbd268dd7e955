package dev.fairway.dispatcher;

import dev.fairway.dispatcher.ReplySender.Attempt;
import dev.fairway.schemas.DeadLetterFormat;
import dev.fairway.schemas.DeadLetterReason;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts records of the topic of agents that cannot be used aside as dead letters.
 *
 * <p>The topic is a table that every dispatcher reads again at each start, so the same record comes
 * again and again. One dispatcher, the leader, writes the dead letters, and marks up to where it
 * has; what lies before the mark was put aside before. So there is one dead letter a record, and
 * another one only if the process ended between the two, or the mark was lost: the broker forgets
 * it some days after the last change ({@code offsets.retention.minutes}).
 *
 * <p>Used by the loop's thread.
 */
final class BadRegistrations {

  /** How many wait at most; what comes then is read again when these are done. */
  static final int WAITING_MAX = 200;

  private static final Logger log = LoggerFactory.getLogger(BadRegistrations.class);
  private static final long FAILURE_PAUSE_MS = 10_000;

  private final String deadLetterTopic;
  private final NonBlockingProducer producer;
  private final ReadMarks marks;
  private final DispatcherMetrics metrics;
  private final DeadLetterFormat format = new DeadLetterFormat(DeadLetterFormat.TRUNCATED_BYTES);

  /** By coordinates; those of one partition in the order of their offsets. */
  private final Map<Coordinates, Waiting> waiting = new LinkedHashMap<>();

  /** What this run knows to be put aside, next offset by partition. */
  private final Map<TopicPartition, Long> done = new HashMap<>();

  private boolean leftOut;
  private boolean busy;
  private int underWay;
  private Exception failure;
  private boolean failed;
  private long retryAtMs = Long.MIN_VALUE;

  BadRegistrations(
      String deadLetterTopic,
      NonBlockingProducer producer,
      ReadMarks marks,
      DispatcherMetrics metrics) {
    this.deadLetterTopic = deadLetterTopic;
    this.producer = producer;
    this.marks = marks;
    this.metrics = metrics;
  }

  /** Takes a record that cannot be used; the same one as often as it is read. */
  void add(
      ConsumerRecord<byte[], byte[]> record, DeadLetterReason reason, String detail, long nowMs) {
    Coordinates at =
        new Coordinates(new TopicPartition(record.topic(), record.partition()), record.offset());
    if (at.offset() < done.getOrDefault(at.partition(), 0L) || waiting.containsKey(at)) {
      return;
    }
    // Once one is left out all are, so that those of a partition stay without a gap.
    if (leftOut || waiting.size() >= WAITING_MAX) {
      leftOut = true;
      return;
    }
    DeadLetterFormat.Letter letter =
        format.of(
            new DeadLetterFormat.Source(
                record.topic(),
                record.partition(),
                record.offset(),
                record.key(),
                record.value(),
                record.headers()),
            reason,
            detail,
            nowMs);
    waiting.put(at, new Waiting(letter));
  }

  /**
   * Goes on with what waits; the leader calls this now and then.
   *
   * @return whether the table must be read again, because some were left out
   */
  boolean turn(long nowMs) {
    if (failed) {
      failed = false;
      retryAtMs = nowMs + FAILURE_PAUSE_MS;
    }
    if (busy || nowMs < retryAtMs) {
      return false;
    }
    if (waiting.isEmpty()) {
      boolean again = leftOut;
      leftOut = false;
      return again;
    }
    busy = true;
    marks.read(this::send);
    return false;
  }

  private void send(ReadMarks.Answer answer) {
    if (answer.error() != null) {
      fail("Expected the marks of what was put aside before", answer.error());
      busy = false;
      return;
    }
    waiting
        .keySet()
        .removeIf(
            at -> {
              boolean before = at.offset() < answer.marks().getOrDefault(at.partition(), 0L);
              if (before) {
                done.merge(at.partition(), at.offset() + 1, Math::max);
              }
              return before;
            });
    failure = null;
    // One more than are sent: this is over when the loop is, too.
    underWay = 1;
    for (Waiting letter : waiting.values()) {
      if (!letter.written && failure == null) {
        send(letter);
      }
    }
    answered();
  }

  private void send(Waiting letter) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(
            deadLetterTopic,
            null,
            letter.letter.key(),
            letter.letter.value(),
            letter.letter.headers());
    Attempt attempt =
        producer.send(
            record,
            error -> {
              if (error == null) {
                letter.written = true;
                metrics.deadLettered();
              } else {
                failure = error;
              }
              answered();
            });
    if (attempt == Attempt.ACCEPTED) {
      underWay++;
    } else {
      failure = new IllegalStateException("the producer does not take it now: " + attempt);
    }
  }

  private void answered() {
    underWay--;
    if (underWay > 0) {
      return;
    }
    Map<TopicPartition, Long> written = takeWritten();
    if (failure != null) {
      fail("Expected topic " + deadLetterTopic + " to take dead letters", failure);
    }
    if (written.isEmpty()) {
      busy = false;
    } else {
      marks.write(written, this::marked);
    }
  }

  private void marked(ReadMarks.Answer answer) {
    busy = false;
    if (answer.error() != null) {
      log.warn(
          "Bad registrations were put aside, but that cannot be marked, so they will be once more after the next start: {}",
          answer.error().toString());
    }
  }

  /** The new marks: of each partition up to the first that is not written. */
  private Map<TopicPartition, Long> takeWritten() {
    Map<TopicPartition, Long> written = new HashMap<>();
    Set<TopicPartition> open = new HashSet<>();
    waiting
        .entrySet()
        .removeIf(
            entry -> {
              Coordinates at = entry.getKey();
              if (!entry.getValue().written) {
                open.add(at.partition());
              }
              boolean whole = !open.contains(at.partition());
              if (whole) {
                written.put(at.partition(), at.offset() + 1);
              }
              return whole;
            });
    done.putAll(written);
    return written;
  }

  private void fail(String expected, Throwable error) {
    failed = true;
    log.warn("{}, but: {}. It is tried again.", expected, error.toString());
  }

  private record Coordinates(TopicPartition partition, long offset) {}

  /** A dead letter that waits, and whether the broker has it. */
  private static final class Waiting {

    private final DeadLetterFormat.Letter letter;
    private boolean written;

    Waiting(DeadLetterFormat.Letter letter) {
      this.letter = letter;
    }
  }
}
