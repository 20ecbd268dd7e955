package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class CompletionsTest {

  @Test
  void shouldNotLoseATaskThatTheExecutorRefuses() {
    // given
    VirtualTimers timers = new VirtualTimers();
    Completions completions =
        new Completions(
            task -> {
              throw new RejectedExecutionException("shut down");
            },
            timers);
    List<String> ran = new ArrayList<>();

    // when
    completions.execute(() -> ran.add("task"));

    // then
    assertThat(ran).containsExactly("task");
  }

  @Test
  void shouldRunATaskHereWhenTheSchedulerIsClosedToo() {
    // given
    SchedulerTimers timers = new SchedulerTimers("test");
    timers.close();
    Completions completions =
        new Completions(
            task -> {
              throw new RejectedExecutionException("shut down");
            },
            timers);
    List<Thread> ran = new ArrayList<>();

    // when
    completions.execute(() -> ran.add(Thread.currentThread()));

    // then
    assertThat(ran).containsExactly(Thread.currentThread());
  }
}
