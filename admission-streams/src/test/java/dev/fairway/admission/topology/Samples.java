package dev.fairway.admission.topology;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Limits;
import dev.fairway.schemas.Margin;
import dev.fairway.schemas.MarginMode;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.PolicyPreset;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaState;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskState;
import dev.fairway.schemas.TaskUpdate;
import dev.fairway.schemas.Usage;
import java.util.List;
import java.util.Map;

/** Records as clients write them. */
final class Samples {
  static final String QUOTA = "k/sonnet";
  static final String KEY = "k";
  static final String AGENT = "agent-1";

  private Samples() {}

  /** Two requests at once, then one a second; leases live for a minute. */
  static Quota.Builder quota() {
    return quota(QUOTA);
  }

  static Quota.Builder quota(String id) {
    return Quota.newBuilder()
        .setId(id)
        .setProvider("generic")
        .setPolicy(PolicyPreset.SEED)
        .setWindow(ProviderWindow.TOKEN_BUCKET)
        .setLimits(Limits.newBuilder().setRequestsPerMinute(60L).build())
        .setDepth(Amounts.newBuilder().setRequests(2L).build())
        .setMargin(Margin.newBuilder().setMode(MarginMode.RATE).setStart(1.0).build())
        .setLeaseTtlMs(60_000L)
        .setMaxQueueWaitMs(30_000L)
        .setClasses(Map.of())
        .setTenants(Map.of())
        .setRoles(Map.of())
        .setState(QuotaState.ACTIVE);
  }

  static LeaseRequest.Builder request(String id) {
    return LeaseRequest.newBuilder()
        .setRequestId(id)
        .setAgentId(AGENT)
        .setQuota(QUOTA)
        .setEstimate(Estimate.newBuilder().setInputTokens(100L).setMaxOutputTokens(50L).build());
  }

  static Settlement.Builder settlement(String leaseId) {
    return Settlement.newBuilder()
        .setLeaseId(leaseId)
        .setAgentId(AGENT)
        .setQuota(QUOTA)
        .setOutcome(Outcome.SUCCEEDED)
        .setUsage(Usage.newBuilder().setInputTokens(90L).setOutputTokens(20L).build());
  }

  static TaskUpdate.Builder task(String id) {
    return TaskUpdate.newBuilder()
        .setTaskId(id)
        .setState(TaskState.STARTED)
        .setBlockedOn(List.of());
  }
}
