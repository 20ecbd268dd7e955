package dev.fairway.replay.simulate;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.mapping.CommandMapper;
import dev.fairway.admission.mapping.EventMapper;
import dev.fairway.replay.world.Admission;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionRepeated;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseQueued;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskUpdate;
import java.util.function.Consumer;

/**
 * The real engine, fed with the records that agents write and answering with those that they read,
 * by the mapping of the pipeline. Only the bytes between are left out.
 */
final class EngineAdmission implements Admission {
  private static final String SALT = "5eed5eed5eed5eed5eed5eed5eed5eed";

  private final AdmissionEngine engine = new AdmissionEngine();
  private final Consumer<Decision> decisions;
  private final String key;

  /**
   * An engine with that quota.
   *
   * @throws dev.fairway.admission.engine.InvalidCommandException if the engine refuses the quota
   */
  EngineAdmission(Quota quota, Consumer<Decision> decisions) {
    this.decisions = decisions;
    this.key = QuotaDefinition.keyOf(quota.getId());
    handle(CommandMapper.toCommand(quota, SALT), 0);
  }

  @Override
  public void request(LeaseRequest request, long nowMs) {
    handle(CommandMapper.toCommand(request, nowMs), nowMs);
  }

  @Override
  public void settle(Settlement settlement, long nowMs) {
    handle(CommandMapper.toCommand(settlement, nowMs), nowMs);
  }

  @Override
  public void task(TaskUpdate update, long nowMs) {
    handle(CommandMapper.toCommand(update), nowMs);
  }

  @Override
  public long nextDeadlineMs() {
    return engine.nextDeadlineMs();
  }

  @Override
  public void tick(long nowMs) {
    handle(new Command.Tick(), nowMs);
  }

  @Override
  public boolean requeues() {
    return true;
  }

  private void handle(Command command, long nowMs) {
    Handled handled = engine.handle(key, command, nowMs);
    for (Event event : handled.events()) {
      boolean told =
          event instanceof Event.LeaseGranted
              || event instanceof Event.LeaseQueued
              || event instanceof Event.LeaseRejected
              || event instanceof Event.DecisionRepeated;
      if (told) {
        tell(handled, EventMapper.toAvro(event));
      }
    }
  }

  private void tell(Handled handled, Object event) {
    Object decided = event instanceof DecisionRepeated again ? again.getDecision() : event;
    if (decided instanceof LeaseGranted e) {
      decisions.accept(
          Decisions.granted(
              e.getRequestId(),
              e.getAgentId(),
              handled.atMs(),
              e.getLeaseId(),
              e.getAttempt(),
              e.getCharged(),
              e.getExpiresAtMs()));
    } else if (decided instanceof LeaseQueued e) {
      decisions.accept(
          Decisions.queued(
              e.getRequestId(), e.getAgentId(), handled.atMs(), e.getPosition(), e.getEtaMs()));
    } else if (decided instanceof LeaseRejected e) {
      decisions.accept(
          Decisions.rejected(
              e.getRequestId(),
              e.getAgentId(),
              handled.atMs(),
              e.getReason(),
              e.getDetail(),
              e.getRetryAtMs()));
    }
  }
}
