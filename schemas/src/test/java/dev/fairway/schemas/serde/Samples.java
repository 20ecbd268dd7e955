package dev.fairway.schemas.serde;

import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.TaskState;
import dev.fairway.schemas.TaskUpdate;
import java.nio.ByteBuffer;
import java.util.List;

/** Records for tests. */
final class Samples {

  private Samples() {}

  static LeaseRequest leaseRequest() {
    return LeaseRequest.newBuilder()
        .setRequestId("r-1")
        .setAgentId("a1")
        .setQuota("prod/sonnet")
        .setTaskId("T-7")
        .setEstimate(Estimate.newBuilder().setInputTokens(1_200L).setMaxOutputTokens(400L).build())
        .setCorrelation(ByteBuffer.wrap(new byte[] {0, -1, 7}))
        .build();
  }

  static TaskUpdate taskUpdate() {
    return TaskUpdate.newBuilder()
        .setTaskId("T1")
        .setState(TaskState.BLOCKED)
        .setBlockedOn(List.of("T2", "T3"))
        .build();
  }
}
