package dev.fairway.agent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the users' code away from the client's own threads. A pool that refuses (full or shut down)
 * must not lose a grant, so the task then runs on the scheduler thread.
 */
final class Completions implements Executor {
  private static final Logger log = LoggerFactory.getLogger(Completions.class);

  private final Executor executor;
  private final Timers timers;

  Completions(Executor executor, Timers timers) {
    this.executor = executor;
    this.timers = timers;
  }

  @Override
  public void execute(Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      log.warn(
          "Expected the completion executor to take a task, but it refused ({}); it runs on the"
              + " client's scheduler. Give the client an executor that outlives it.",
          e.toString());
      if (!timers.execute(task)) {
        task.run();
      }
    }
  }

  /** Completes a user's future as an internal one is, on the executor. */
  void follow(
      CompletableFuture<Void> internal, CompletableFuture<Void> future, String failureMessage) {
    var unused =
        internal.whenComplete(
            (done, error) ->
                execute(
                    () -> {
                      if (error == null) {
                        future.complete(null);
                      } else {
                        future.completeExceptionally(
                            new AdmissionException(failureMessage + " (" + error + ")", error));
                      }
                    }));
  }
}
