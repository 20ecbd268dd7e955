package dev.fairway.admission.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TimeTest {
  @ParameterizedTest
  @CsvSource({
    "LOG_APPEND_TIME, 5000, 5000",
    "LOG_APPEND_TIME, -1, 9000",
    "CREATE_TIME, 5000, 9000",
    "CREATE_TIME, -1, 9000",
    "CREATE_TIME, 4102444800000, 9000",
    "NO_TIMESTAMP_TYPE, -1, 9000"
  })
  void shouldBelieveTheBrokerAlone(TimestampType type, long timestampMs, long expectedMs) {
    // given
    ConsumerRecord<Object, Object> record =
        new ConsumerRecord<>(
            "t", 0, 0, timestampMs, type, 0, 0, null, null, new RecordHeaders(), Optional.empty());

    // then
    assertThat(new BrokerTimeExtractor(() -> 9_000).extract(record, 1)).isEqualTo(expectedMs);
  }

  @Test
  void shouldCountFromItsStartByMonotonicTime() {
    // given
    AtomicLong nanos = new AtomicLong(-5_000_000);
    CoordinatorClock clock = new CoordinatorClock(1_000, nanos::get);

    // when
    nanos.addAndGet(2_999_999);

    // then
    assertThat(clock.getAsLong()).isEqualTo(1_002);
  }
}
