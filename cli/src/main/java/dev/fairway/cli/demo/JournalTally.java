package dev.fairway.cli.demo;

import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.TopicReader;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.LeaseExpired;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.serde.AvroDeserializer;

/** Counts leases where they are recorded. */
final class JournalTally {
  private final String quota;
  private long grants;
  private long settled;
  private long expired;

  private JournalTally(String quota) {
    this.quota = quota;
  }

  /** All leases of a quota that the journal holds. */
  static LeaseTally count(Pipeline pipeline, String quota) {
    String topic = pipeline.topics().journal();
    JournalTally tally = new JournalTally(quota);
    try (AvroDeserializer<AdmissionEvent> deserializer =
        new AvroDeserializer<>(pipeline.registry(), AdmissionEvent.class)) {
      pipeline
          .reader()
          .read(
              topic,
              new TopicReader.From.Beginning(),
              record -> {
                tally.add(deserializer.deserialize(topic, record.value()));
                return true;
              });
    }
    return new LeaseTally(tally.grants, tally.settled, tally.expired);
  }

  private void add(AdmissionEvent record) {
    for (Object event : record.getEvents()) {
      if (event instanceof LeaseGranted granted && quota.equals(granted.getQuota())) {
        grants++;
      } else if (event instanceof LeaseSettled lease
          && quota.equals(lease.getQuota())
          // A late settlement reconciles a lease that has been counted as expired.
          && !lease.getLate()) {
        settled++;
      } else if (event instanceof LeaseExpired lease && quota.equals(lease.getQuota())) {
        expired++;
      }
    }
  }
}
