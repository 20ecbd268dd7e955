package dev.fairway.cli.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.cli.demo.emulator.Ledger;
import dev.fairway.cli.demo.emulator.LedgerEntry;
import dev.fairway.cli.demo.emulator.ModelSpeed;
import dev.fairway.cli.demo.emulator.ProviderEmulator;
import dev.fairway.cli.demo.emulator.ProviderLimits;
import dev.fairway.cli.demo.emulator.ProviderLimits.Limit;
import dev.fairway.cli.demo.fleet.AgentLog.Counts;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RetryingHarnessTest {
  private static final Turn TURN =
      new Turn(
          "agent-00", "worker", 0, 0, new Turn.Place(true, true), 30_000, 30_000, 50, 1024, 10);

  private final AgentLog log =
      new AgentLog(new AgentPlan("agent-00", "worker", 0, Stage.WORK, 0, List.of(TURN)));

  private List<LedgerEntry> callOnce(ProviderLimits limits, double endMs) throws Exception {
    try (ProviderEmulator provider =
        ProviderEmulator.start(0, limits, ModelSpeed.REAL.faster(1000), Ledger.inMemory())) {
      Harness harness =
          new RetryingHarness(
              new ProviderClient(provider.uri()),
              log,
              new Clock(endMs),
              Backoff.FULL_JITTER,
              new SplittableRandom(1));
      harness.call(TURN);
      return provider.ledger().entries();
    }
  }

  @Test
  void shouldCallOnceWhereTheLimitCoversIt() throws Exception {
    // when
    List<LedgerEntry> calls = callOnce(ProviderLimits.full(100, 100_000, 10_000), 20_000);

    // then
    assertThat(calls).hasSize(1);
    assertThat(log.counts()).isEqualTo(new Counts(1, 0, 0, 30_050, 0, 1, 0));
  }

  @Test
  void shouldRePlanInLargeCallsAfterSixRetries() throws Exception {
    // given: the seven tries take a second at most, and the limit covers the call after ten
    ProviderLimits limits =
        new ProviderLimits(Limit.full(1_000_000), new Limit(180_000, 0), Limit.full(1_000_000));

    // when
    List<LedgerEntry> calls = callOnce(limits, 3_000);

    // then
    int tries = RetryingHarness.RETRIES_MAX + 1;
    assertThat(calls).hasSizeGreaterThan(tries).allMatch(call -> call.status() == 429);
    assertThat(calls.subList(0, tries))
        .extracting(LedgerEntry::inputTokens)
        .containsOnly(TURN.inputTokens());
    assertThat(calls.subList(tries, calls.size()))
        .extracting(LedgerEntry::inputTokens)
        .containsOnly(RetryingHarness.RE_PLAN_CALL_TOKENS_MAX);
    assertThat(log.counts().turns()).isZero();
    assertThat(log.waitsMs()).hasSize(1).allMatch(waitMs -> waitMs >= 2_900);
  }
}
