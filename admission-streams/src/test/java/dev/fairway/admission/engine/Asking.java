package dev.fairway.admission.engine;

import dev.fairway.admission.engine.LeaseRequest.Estimate;

/** A request like another one but for a few fields. */
final class Asking {
  private final LeaseRequest r;
  private String quotaId;
  private String taskId;
  private String retryOf;
  private Estimate estimate;
  private Long deadlineMs;

  private Asking(LeaseRequest r) {
    this.r = r;
    quotaId = r.quotaId();
    taskId = r.taskId();
    retryOf = r.retryOf();
    estimate = r.estimate();
    deadlineMs = r.deadlineMs();
  }

  static Asking like(LeaseRequest request) {
    return new Asking(request);
  }

  Asking of(String otherQuota) {
    quotaId = otherQuota;
    return this;
  }

  Asking task(String other) {
    taskId = other;
    return this;
  }

  Asking retryOf(String other) {
    retryOf = other;
    return this;
  }

  Asking estimate(Estimate other) {
    estimate = other;
    return this;
  }

  Asking deadlineMs(Long other) {
    deadlineMs = other;
    return this;
  }

  LeaseRequest request() {
    return new LeaseRequest(
        r.requestId(),
        r.agentId(),
        quotaId,
        taskId,
        r.role(),
        r.leaseClass(),
        retryOf,
        r.repeatFailures(),
        r.unblocks(),
        estimate,
        r.tenant(),
        deadlineMs,
        r.correlation(),
        r.signature());
  }
}
