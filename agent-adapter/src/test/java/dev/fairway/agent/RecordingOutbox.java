package dev.fairway.agent;

import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskUpdate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Keeps what was sent; acknowledges at once, or when the test says so. */
final class RecordingOutbox implements Outbox {
  final List<LeaseRequest> requests = new ArrayList<>();
  final List<Settlement> settlements = new ArrayList<>();
  final List<TaskUpdate> updates = new ArrayList<>();
  private final Deque<CompletableFuture<Void>> unacknowledged = new ArrayDeque<>();
  private boolean silent;
  private Throwable failure;

  @Override
  public CompletableFuture<Void> send(LeaseRequest request) {
    requests.add(request);
    return sent();
  }

  @Override
  public CompletableFuture<Void> send(TaskUpdate update) {
    updates.add(update);
    return sent();
  }

  @Override
  public CompletableFuture<Void> send(Settlement settlement) {
    settlements.add(settlement);
    return sent();
  }

  /** From now on nothing is acknowledged until {@link #acknowledge()}. */
  void silence() {
    silent = true;
  }

  void acknowledge() {
    silent = false;
    while (!unacknowledged.isEmpty()) {
      unacknowledged.poll().complete(null);
    }
  }

  /** From now on every send fails; null: no more. */
  void fail(Throwable error) {
    failure = error;
  }

  /** Who made a request; empty if nobody did. */
  Optional<String> agentOf(String requestId) {
    return requests.stream()
        .filter(request -> request.getRequestId().equals(requestId))
        .map(LeaseRequest::getAgentId)
        .findFirst();
  }

  List<Outcome> outcomes() {
    return settlements.stream().map(Settlement::getOutcome).toList();
  }

  Settlement lastSettlement() {
    return settlements.get(settlements.size() - 1);
  }

  private CompletableFuture<Void> sent() {
    if (failure != null) {
      return CompletableFuture.failedFuture(failure);
    }
    if (!silent) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> pending = new CompletableFuture<>();
    unacknowledged.add(pending);
    return pending;
  }
}
