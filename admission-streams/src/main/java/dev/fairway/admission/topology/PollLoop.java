package dev.fairway.admission.topology;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;

/**
 * What a stream thread's consumer and its processors have to know of each other, one for each
 * thread:
 *
 * <ul>
 *   <li>which partitions of the polled batch still have records to handle, so that a decision is
 *       committed when the batch is used up and not before (a commit after every record halves the
 *       batch each time, until it stays at one);
 *   <li>when the next timer is due, so that {@code poll()} does not sleep past it;
 *   <li>questions of other threads, answered between polls, when no record is being handled.
 * </ul>
 *
 * <p>All methods but {@link #submit} belong to the stream thread.
 */
final class PollLoop {
  private static final int QUESTIONS_MAX = 64;
  private static final ThreadLocal<PollLoop> OF_THREAD = new ThreadLocal<>();

  private final Map<TopicPartition, Long> lastPolled = new HashMap<>();
  private final Map<Integer, Long> timersNanos = new HashMap<>();
  private final Queue<Runnable> questions = new ArrayBlockingQueue<>(QUESTIONS_MAX);

  /** The loop of the calling stream thread; one that knows nothing where its consumer has none. */
  static PollLoop ofThread() {
    PollLoop loop = OF_THREAD.get();
    return loop == null ? new PollLoop() : loop;
  }

  /** Makes this the loop of the calling thread. */
  void attach() {
    OF_THREAD.set(this);
  }

  /** Before a poll: answers questions, and shortens the wait to the next timer. */
  Duration beforePoll(Duration timeout, long nowNanos) {
    for (int i = 0; i < QUESTIONS_MAX; i++) {
      Runnable question = questions.poll();
      if (question == null) {
        break;
      }
      question.run();
    }
    long nanos = timeout.toNanos();
    for (Long due : timersNanos.values()) {
      nanos = Math.min(nanos, Math.max(0, due - nowNanos));
    }
    // Fires by Streams' own clock. If that was set back, waiting here at zero would spin.
    timersNanos.values().removeIf(due -> due - nowNanos <= 0);
    return Duration.ofNanos(nanos);
  }

  /** After a poll: what it returned is still to be handled. */
  void polled(ConsumerRecords<byte[], byte[]> records) {
    for (TopicPartition partition : records.partitions()) {
      var polled = records.records(partition);
      ConsumerRecord<byte[], byte[]> last = polled.get(polled.size() - 1);
      lastPolled.put(partition, last.offset());
    }
  }

  /** A record was handled. */
  void handled(String topic, int partition, long offset) {
    TopicPartition source = new TopicPartition(topic, partition);
    Long last = lastPolled.get(source);
    if (last != null && offset >= last) {
      lastPolled.remove(source);
    }
  }

  /** Whether every record that was polled is handled. */
  boolean usedUp() {
    return lastPolled.isEmpty();
  }

  /** A task's timer fires in that many nanoseconds. */
  void timer(int partition, long dueNanos) {
    timersNanos.put(partition, dueNanos);
  }

  void noTimer(int partition) {
    timersNanos.remove(partition);
  }

  /** A task comes or goes: whatever was polled for its partition is not going to be handled. */
  void forget(int partition) {
    timersNanos.remove(partition);
    Set<TopicPartition> gone = new HashSet<>();
    for (TopicPartition polled : lastPolled.keySet()) {
      if (polled.partition() == partition) {
        gone.add(polled);
      }
    }
    lastPolled.keySet().removeAll(gone);
  }

  /**
   * Has this run between two polls. Called by any thread.
   *
   * @return false if too many wait already
   */
  boolean submit(Runnable question) {
    return questions.offer(question);
  }
}
