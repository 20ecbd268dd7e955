package dev.fairway.it.admission;

import static org.awaitility.Awaitility.await;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.mapping.JournalRecord;
import dev.fairway.admission.mapping.JournalRecord.Decided;
import dev.fairway.schemas.Quota;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The committed journal as far as it was read, with the checks that always hold. */
final class Journal implements AutoCloseable {
  final List<Decided> decided = new ArrayList<>();
  final List<JournalRecord.Snapshot> snapshots = new ArrayList<>();
  final Map<String, Integer> partitionOfKey = new HashMap<>();
  private final Map<String, Long> sequences = new HashMap<>();
  private final AdmissionFixture fixture;
  private final AdmissionFixture.Reader reader;

  Journal(AdmissionFixture fixture) {
    this.fixture = fixture;
    this.reader = fixture.reader(fixture.topics.journal());
  }

  /** Reads on until the journal says so. */
  void readUntil(Predicate<Journal> enough) {
    await()
        .atMost(Duration.ofSeconds(60))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(1))
        .until(
            () -> {
              reader.poll().forEach(this::read);
              return enough.test(this);
            });
  }

  /**
   * Defines a quota, and waits until it took effect: the topics' order among each other is none.
   */
  void define(Quota quota) {
    fixture.send(fixture.topics.quotas(), quota.getId(), quota);
    readUntil(
        j ->
            j.events(Event.QuotaDefined.class).stream()
                .anyMatch(defined -> defined.quotaId().equals(quota.getId())));
  }

  /** Events of that kind, in order. */
  <E extends Event> List<E> events(Class<E> type) {
    return decided.stream()
        .flatMap(record -> record.events().stream())
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  /** The grant of a request; fails if there is none. */
  Event.LeaseGranted grantOf(String requestId) {
    return events(Event.LeaseGranted.class).stream()
        .filter(grant -> grant.requestId().equals(requestId))
        .findFirst()
        .orElseThrow(() -> new AssertionError("Expected a grant of " + requestId));
  }

  private void read(ConsumerRecord<byte[], byte[]> record) {
    JournalRecord read = fixture.journal(record);
    Integer partition = partitionOfKey.putIfAbsent(read.key(), record.partition());
    if (partition != null && partition != record.partition()) {
      throw new AssertionError(
          "Expected key "
              + read.key()
              + " in partition "
              + partition
              + " alone, but found "
              + record);
    }
    long last = sequences.getOrDefault(read.key(), 0L);
    if (read instanceof Decided now) {
      if (now.sequence() != last + 1) {
        throw new AssertionError(
            "Expected sequence "
                + (last + 1)
                + " of key "
                + read.key()
                + ", but found "
                + now.sequence());
      }
      sequences.put(read.key(), now.sequence());
      decided.add(now);
    } else if (read instanceof JournalRecord.Snapshot snapshot) {
      if (snapshot.sequence() != last) {
        throw new AssertionError(
            "Expected a snapshot after sequence " + last + ", but found " + snapshot.sequence());
      }
      snapshots.add(snapshot);
    }
  }

  @Override
  public void close() {
    reader.close();
  }
}
