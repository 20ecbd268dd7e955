package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.TaskUpdate;
import dev.fairway.schemas.DefineQuota;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.RefuseRequest;
import dev.fairway.schemas.RemoveQuota;
import dev.fairway.schemas.RequestLease;
import dev.fairway.schemas.SettleLease;
import dev.fairway.schemas.TaskState;
import dev.fairway.schemas.Tick;
import dev.fairway.schemas.UpdateTask;
import java.util.List;

/**
 * Commands: from the records that agents, operators and orchestrators write, and to and from the
 * journal. Thread-safe.
 */
public final class CommandMapper {
  private CommandMapper() {}

  /**
   * The command of a quota definition.
   *
   * @param salt 32 hex characters for the lease ids of a key that has none yet
   */
  public static Command.DefineQuota toCommand(Quota quota, String salt) {
    return new Command.DefineQuota(QuotaMapper.toEngine(quota), salt);
  }

  /**
   * The command of a lease request.
   *
   * @param appendedAtMs when the broker appended it, epoch milliseconds
   */
  public static Command.RequestLease toCommand(
      dev.fairway.schemas.LeaseRequest request, long appendedAtMs) {
    return new Command.RequestLease(request(request), appendedAtMs);
  }

  /** The command that tells a request's agent what was wrong with its record. */
  public static Command.RefuseRequest refusal(
      dev.fairway.schemas.LeaseRequest request, String detail) {
    return new Command.RefuseRequest(request(request), detail);
  }

  /**
   * The command of a settlement.
   *
   * @param appendedAtMs when the broker appended it, epoch milliseconds
   */
  public static Command.SettleLease toCommand(
      dev.fairway.schemas.Settlement settlement, long appendedAtMs) {
    return new Command.SettleLease(SettlementMapper.toEngine(settlement), appendedAtMs);
  }

  /** The command of a task update. */
  public static Command.UpdateTask toCommand(dev.fairway.schemas.TaskUpdate update) {
    return new Command.UpdateTask(task(update));
  }

  /** The journal's form of a command: one of the types of {@code AdmissionEvent.command}. */
  public static Object toJournal(Command command) {
    if (command instanceof Command.RequestLease c) {
      return new RequestLease(request(c.request()), c.appendedAtMs());
    }
    if (command instanceof Command.RefuseRequest c) {
      return new RefuseRequest(request(c.request()), c.detail());
    }
    if (command instanceof Command.SettleLease c) {
      return new SettleLease(SettlementMapper.toAvro(c.settlement()), c.appendedAtMs());
    }
    if (command instanceof Command.Tick) {
      return new Tick();
    }
    if (command instanceof Command.UpdateTask c) {
      return new UpdateTask(task(c.update()));
    }
    if (command instanceof Command.DefineQuota c) {
      return new DefineQuota(QuotaMapper.toAvro(c.definition()), c.salt());
    }
    if (command instanceof Command.RemoveQuota c) {
      return new RemoveQuota(c.quotaId());
    }
    throw new IllegalArgumentException("Expected a command but found " + command);
  }

  /**
   * The command of a journal record, from what {@link #toJournal} wrote.
   *
   * @throws IllegalArgumentException for anything else, a snapshot too: it is no command of the
   *     engine
   */
  public static Command fromJournal(Object command) {
    if (command instanceof RequestLease c) {
      return toCommand(c.getRequest(), c.getAppendedAtMs());
    }
    if (command instanceof RefuseRequest c) {
      return new Command.RefuseRequest(request(c.getRequest()), c.getDetail());
    }
    if (command instanceof SettleLease c) {
      return toCommand(c.getSettlement(), c.getAppendedAtMs());
    }
    if (command instanceof Tick) {
      return new Command.Tick();
    }
    if (command instanceof UpdateTask c) {
      return toCommand(c.getUpdate());
    }
    if (command instanceof DefineQuota c) {
      return toCommand(c.getQuota(), c.getSalt());
    }
    if (command instanceof RemoveQuota c) {
      return new Command.RemoveQuota(c.getQuota());
    }
    throw new IllegalArgumentException(
        "Expected a command of the engine but found "
            + (command == null ? "null" : command.getClass().getSimpleName()));
  }

  static LeaseRequest request(dev.fairway.schemas.LeaseRequest from) {
    return new LeaseRequest(
        from.getRequestId(),
        from.getAgentId(),
        from.getQuota(),
        from.getTaskId(),
        from.getRole(),
        from.getClass$(),
        from.getRetryOf(),
        from.getRepeatFailures(),
        from.getUnblocks(),
        estimate(from.getEstimate()),
        from.getTenant(),
        from.getDeadlineMs(),
        Values.bytes(from.getCorrelation()),
        Values.bytes(from.getSignature()));
  }

  static dev.fairway.schemas.LeaseRequest request(LeaseRequest from) {
    return new dev.fairway.schemas.LeaseRequest(
        from.requestId(),
        from.agentId(),
        from.quotaId(),
        from.taskId(),
        from.role(),
        from.leaseClass(),
        from.retryOf(),
        from.repeatFailures(),
        from.unblocks(),
        estimate(from.estimate()),
        from.tenant(),
        from.deadlineMs(),
        Values.bytes(from.correlation()),
        Values.bytes(from.signature()));
  }

  private static LeaseRequest.Estimate estimate(Estimate from) {
    return new LeaseRequest.Estimate(
        from.getInputTokens(),
        from.getCachedTokens(),
        from.getCacheExpiresAtMs(),
        from.getMaxOutputTokens(),
        from.getMethod());
  }

  private static Estimate estimate(LeaseRequest.Estimate from) {
    return new Estimate(
        from.inputTokens(),
        from.cachedTokens(),
        from.cacheExpiresAtMs(),
        from.maxOutputTokens(),
        from.method());
  }

  private static TaskUpdate task(dev.fairway.schemas.TaskUpdate from) {
    return new TaskUpdate(
        from.getTaskId(),
        from.getQuota(),
        from.getRole(),
        from.getAgentId(),
        Values.symbol(from.getState(), TaskUpdate.State.class),
        List.copyOf(from.getBlockedOn()));
  }

  private static dev.fairway.schemas.TaskUpdate task(TaskUpdate from) {
    return new dev.fairway.schemas.TaskUpdate(
        from.taskId(),
        from.quotaId(),
        from.role(),
        from.agentId(),
        Values.symbol(from.state(), TaskState.class),
        from.blockedOn());
  }
}
