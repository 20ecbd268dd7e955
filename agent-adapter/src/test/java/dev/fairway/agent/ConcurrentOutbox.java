package dev.fairway.agent;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskUpdate;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** Acknowledges everything at once and answers requests; for any number of threads. */
final class ConcurrentOutbox implements Outbox {
  private Function<LeaseRequest, Decision> answer;
  private Consumer<Decision> deliver;

  /** How requests are answered; to be called before the first one. */
  void onRequest(Function<LeaseRequest, Decision> answer, Consumer<Decision> deliver) {
    this.answer = answer;
    this.deliver = deliver;
  }

  @Override
  public CompletableFuture<Void> send(LeaseRequest request) {
    deliver.accept(answer.apply(request));
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletableFuture<Void> send(TaskUpdate update) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletableFuture<Void> send(Settlement settlement) {
    return CompletableFuture.completedFuture(null);
  }
}
