package dev.fairway.replay.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskUpdate;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class ProtocolGateTest {

  /** Grants whatever is asked for, and keeps what it is told. */
  private static final class Generous implements Admission {
    private final Consumer<Decision> decisions;
    private final List<Settlement> told;

    Generous(Consumer<Decision> decisions, List<Settlement> told) {
      this.decisions = decisions;
      this.told = told;
    }

    @Override
    public void request(LeaseRequest request, long nowMs) {
      Grant grant =
          new Grant("lease-" + request.getRequestId(), 1, new Amounts(), nowMs + 600_000, 600_000L);
      Decision decision =
          new Decision(
              request.getRequestId() + "@" + nowMs,
              request.getRequestId(),
              request.getAgentId(),
              Admission.QUOTA,
              nowMs,
              0,
              0L,
              DecisionStatus.GRANTED,
              grant,
              null,
              null,
              false,
              null,
              null);
      decisions.accept(decision);
    }

    @Override
    public void settle(Settlement settlement, long nowMs) {
      told.add(settlement);
    }

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

  private static List<Settlement> told(WorldOptions options) {
    List<Settlement> told = new ArrayList<>();
    Admission.Maker maker = (terms, decisions) -> new Generous(decisions, told);
    WorldOptions few =
        options
            .with(Parameter.AGENTS, "10")
            .with(Parameter.HOURS, "0.2")
            .with(Parameter.RHO, "0.1")
            .with(Parameter.CRASH_RATE, "0");
    World.run(
        1,
        few,
        World.limits(1, few),
        ProtocolGate.of(maker, Backoff.FULL_JITTER_30),
        new Observer() {});
    assertThat(told).hasSizeGreaterThan(20);
    return told;
  }

  @Test
  void shouldTellHeadersAtTheFirstTokenAndUsageAtTheEnd() {
    // when
    List<Settlement> told = told(WorldOptions.defaults());

    // then
    assertThat(told)
        .filteredOn(s -> s.getOutcome() == Outcome.IN_PROGRESS)
        .isNotEmpty()
        .allSatisfy(s -> assertThat(s.getUsage()).isNull())
        .allSatisfy(s -> assertThat(s.getSignal().getLimits().getInputTokens()).isNotNull());
    assertThat(told)
        .filteredOn(s -> s.getOutcome() == Outcome.SUCCEEDED)
        .isNotEmpty()
        .allSatisfy(s -> assertThat(s.getUsage().getInputTokens()).isPositive())
        .allSatisfy(s -> assertThat(s.getUsage().getOutputTokens()).isPositive());
  }

  @Test
  void shouldTellTheInputWithTheHeadersWhereAgentsDo() {
    // when
    List<Settlement> told = told(WorldOptions.defaults().with(Parameter.USAGE_AT, "first-token"));

    // then
    assertThat(told)
        .filteredOn(s -> s.getOutcome() == Outcome.IN_PROGRESS)
        .isNotEmpty()
        .allSatisfy(s -> assertThat(s.getUsage().getInputTokens()).isPositive())
        .allSatisfy(s -> assertThat(s.getUsage().getOutputTokens()).isNull());
  }

  @Test
  void shouldSayWhichNamesAParameterHas() {
    // when, then
    assertThat(WorldOptions.defaults().parameters()).containsEntry("usage_at", "END");
    assertThat(
            org.assertj.core.api.Assertions.catchThrowable(
                () -> WorldOptions.defaults().with(Parameter.USAGE_AT, "headers")))
        .hasMessage("Expected end or first-token for --usage-at, but found 'headers'");
  }
}
