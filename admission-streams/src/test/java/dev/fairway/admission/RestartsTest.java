package dev.fairway.admission;

import static org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.REPLACE_THREAD;
import static org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RestartsTest {
  private final AtomicLong nanos = new AtomicLong(-5);
  private final Restarts restarts = new Restarts(2, nanos::get);
  private final RuntimeException failure = new IllegalStateException("broken");

  @Test
  void shouldStopAfterTooManyFailuresInTenMinutes() {
    assertThat(restarts.handle(failure)).isEqualTo(REPLACE_THREAD);
    assertThat(restarts.handle(failure)).isEqualTo(REPLACE_THREAD);
    assertThat(restarts.handle(failure)).isEqualTo(SHUTDOWN_CLIENT);
    assertThat(restarts.total()).isEqualTo(3);
  }

  @Test
  void shouldForgetFailuresAfterTenMinutes() {
    // given
    restarts.handle(failure);
    restarts.handle(failure);

    // when
    nanos.addAndGet(Duration.ofMinutes(10).toNanos() + 1);

    // then
    assertThat(restarts.handle(failure)).isEqualTo(REPLACE_THREAD);
    assertThat(restarts.total()).isEqualTo(3);
  }
}
