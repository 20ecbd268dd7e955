package dev.fairway.cli.demo.fleet;

import dev.fairway.cli.demo.fleet.Admission.Permit;
import dev.fairway.cli.demo.fleet.Span.Activity;
import java.util.Optional;

/** What agents do with admission: ask, wait, call, and tell what was used. */
final class AdmittedHarness implements Harness {
  private final Admission admission;
  private final ProviderClient provider;
  private final AgentLog log;
  private final Clock clock;

  AdmittedHarness(Admission admission, ProviderClient provider, AgentLog log, Clock clock) {
    this.admission = admission;
    this.provider = provider;
    this.log = log;
    this.clock = clock;
  }

  @Override
  public boolean call(Turn turn) throws InterruptedException {
    double readyMs = clock.nowMs();
    String previous = null;
    for (int attempt = 1; !clock.over(); attempt++) {
      ModelCall call = ModelCall.of(turn, attempt, previous);
      double askedMs = clock.nowMs();
      log.doing(Activity.WAIT);
      Optional<Permit> permit = admission.acquire(call, clock.endNanos());
      double sentMs = clock.nowMs();
      log.span(Activity.WAIT, askedMs, sentMs, turn.index());
      if (permit.isEmpty()) {
        break;
      }
      log.doing(Activity.CALL);
      ProviderAnswer answer = provider.send(call, permit.get().requestId());
      double answeredMs = clock.nowMs();
      permit.get().settle(answer);
      log.answered(answer, false, answeredMs);
      if (answer.ok()) {
        log.span(Activity.CALL, sentMs, answeredMs, turn.index());
        log.turnCalled(sentMs - readyMs);
        return true;
      }
      previous = permit.get().requestId();
    }
    log.turnBrokenOff(clock.nowMs() - readyMs);
    return false;
  }
}
