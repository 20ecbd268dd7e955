package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SchedulerTimersTest {
  private final SchedulerTimers timers = new SchedulerTimers("test");

  @AfterEach
  void close() {
    timers.close();
  }

  @Test
  void shouldRunATaskAfterItsDelay() throws InterruptedException {
    // given
    CountDownLatch ran = new CountDownLatch(1);
    long startMs = timers.nowMs();

    // when
    timers.schedule(30, ran::countDown);

    // then
    assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(timers.nowMs() - startMs).isGreaterThanOrEqualTo(30);
  }

  @Test
  void shouldNotRunACancelledTask() throws InterruptedException {
    // given
    CountDownLatch cancelled = new CountDownLatch(1);
    CountDownLatch later = new CountDownLatch(1);
    Timers.Timer timer = timers.schedule(20, cancelled::countDown);

    // when
    timer.cancel();
    timers.schedule(60, later::countDown);

    // then
    assertThat(later.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(cancelled.getCount()).isEqualTo(1);
  }

  @Test
  void shouldGoOnAfterATaskThatThrew() throws InterruptedException {
    // given
    CountDownLatch later = new CountDownLatch(1);

    // when
    timers.execute(
        () -> {
          throw new IllegalStateException("task");
        });
    timers.execute(later::countDown);

    // then
    assertThat(later.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void shouldTakeNothingOnceClosed() {
    // given
    timers.close();

    // when / then
    assertThat(timers.execute(() -> {})).isFalse();
    timers.schedule(1, () -> {}).cancel();
  }
}
