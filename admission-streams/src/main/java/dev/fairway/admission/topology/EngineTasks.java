package dev.fairway.admission.topology;

import dev.fairway.admission.engine.AdmissionEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * The tasks that run in this process, and a way to ask their engines something. An engine is
 * touched by its stream thread only: a question is answered there, between two polls, within about
 * {@code poll.ms}. Thread-safe.
 */
public final class EngineTasks {
  private final Map<Integer, Task> tasks = new ConcurrentHashMap<>();

  private record Task(AdmissionEngine engine, PollLoop loop) {}

  /** Partitions owned here, sorted. */
  public Set<Integer> partitions() {
    return new TreeSet<>(tasks.keySet());
  }

  /**
   * Asks every engine of this process.
   *
   * @param question called on stream threads, with the engine and its partition, the partition
   *     unless the task is gone by then; must be fast, and return nothing that changes
   * @return answers in no order; an answer fails if its task was closed or has too many questions
   */
  public <T> List<CompletableFuture<T>> ask(BiFunction<AdmissionEngine, Integer, T> question) {
    List<CompletableFuture<T>> answers = new ArrayList<>();
    tasks.forEach((partition, task) -> answers.add(ask(partition, task, question)));
    return answers;
  }

  private <T> CompletableFuture<T> ask(
      int partition, Task task, BiFunction<AdmissionEngine, Integer, T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    boolean accepted =
        task.loop()
            .submit(
                () -> {
                  // Identity: a revived task has a new engine, and the old one is not to be read.
                  if (answer.isDone() || !isCurrent(partition, task)) {
                    answer.completeExceptionally(gone(partition));
                    return;
                  }
                  try {
                    answer.complete(question.apply(task.engine(), partition));
                  } catch (RuntimeException e) {
                    answer.completeExceptionally(e);
                  }
                });
    if (!accepted) {
      answer.completeExceptionally(
          new IllegalStateException(
              "Expected partition " + partition + " to answer, but too many questions wait"));
    }
    return answer;
  }

  @SuppressWarnings("ReferenceEquality")
  private boolean isCurrent(int partition, Task task) {
    return tasks.get(partition) == task;
  }

  void opened(int partition, AdmissionEngine engine, PollLoop loop) {
    tasks.put(partition, new Task(engine, loop));
  }

  void closed(int partition, AdmissionEngine engine) {
    tasks.computeIfPresent(partition, (p, task) -> task.engine() == engine ? null : task);
  }

  private static IllegalStateException gone(int partition) {
    return new IllegalStateException("Partition " + partition + " is no longer owned here");
  }
}
