package dev.fairway.replay.simulate;

import dev.fairway.replay.world.Admission;
import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskUpdate;
import java.util.function.Consumer;

/**
 * A counter that the fleet shares: so many calls a clock minute, whatever their size. Who comes too
 * late waits for the next minute.
 */
final class SharedRpm implements Admission {
  private static final long MINUTE_MS = 60_000;
  private static final long LEASE_MS = 120_000;

  private final long requestsPerMinute;
  private final Consumer<Decision> decisions;
  private long minute = -1;
  private long calls;

  SharedRpm(Terms terms, Consumer<Decision> decisions) {
    this.requestsPerMinute = terms.requestsPerMinute();
    this.decisions = decisions;
  }

  @Override
  public void request(LeaseRequest request, long nowMs) {
    if (nowMs / MINUTE_MS != minute) {
      minute = nowMs / MINUTE_MS;
      calls = 0;
    }
    String id = request.getRequestId();
    if (calls < requestsPerMinute) {
      calls++;
      Amounts one = new Amounts(1L, null, null, null, null);
      decisions.accept(
          Decisions.granted(id, request.getAgentId(), nowMs, id, 1, one, nowMs + LEASE_MS));
    } else {
      decisions.accept(
          Decisions.rejected(
              id,
              request.getAgentId(),
              nowMs,
              RejectReason.QUEUE_WAIT_TOO_LONG,
              "The minute has had its calls",
              (minute + 1) * MINUTE_MS));
    }
  }

  @Override
  public void settle(Settlement settlement, long nowMs) {}

  @Override
  public void task(TaskUpdate update, long nowMs) {}

  @Override
  public long nextDeadlineMs() {
    return Long.MAX_VALUE;
  }

  @Override
  public void tick(long nowMs) {}

  @Override
  public boolean requeues() {
    return false;
  }
}
