package dev.fairway.agent;

import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskUpdate;
import java.util.concurrent.CompletableFuture;

/** Where records to the coordinator go. Never blocks, never throws: failures are in the future. */
interface Outbox {

  /** Sends a request; completes when the broker has it. */
  CompletableFuture<Void> send(LeaseRequest request);

  /** Sends a settlement; completes when the broker has it. */
  CompletableFuture<Void> send(Settlement settlement);

  /**
   * Sends a task update; completes when the broker has it.
   *
   * @param update names its quota
   */
  CompletableFuture<Void> send(TaskUpdate update);
}
