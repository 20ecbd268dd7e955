package dev.fairway.admission.topology;

import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.streams.processor.TimestampExtractor;

/**
 * A record's time is when its broker appended it, or now where the topic does not keep that time. A
 * producer's own timestamp is never believed: Streams takes the lowest head of its topics first, so
 * one fast clock would starve the others.
 */
final class BrokerTimeExtractor implements TimestampExtractor {
  private final LongSupplier clock;

  BrokerTimeExtractor(LongSupplier clock) {
    this.clock = clock;
  }

  @Override
  public long extract(ConsumerRecord<Object, Object> record, long partitionTime) {
    boolean appendTime =
        record.timestampType() == TimestampType.LOG_APPEND_TIME && record.timestamp() >= 0;
    return appendTime ? record.timestamp() : Math.max(0, clock.getAsLong());
  }
}
