package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Queued;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SafeCapacitiesTest {
  private final ClientFixture client = new ClientFixture();
  private final SafeCapacities capacities = new SafeCapacities();
  private final CoordinatorClock clock = new CoordinatorClock();

  @Test
  void shouldTellWhatTheLastDecisionToldUntilItEnds() {
    // when
    note(decision(7, 1_000, 600_000), 50_000);

    // then
    SafeCapacity told =
        capacities.of(ClientFixture.AGENT, ClientFixture.QUOTA, 60_000).orElseThrow();
    assertThat(told.inputTokensPerMinute()).hasValue(1_000);
    assertThat(told.tokensPerMinute()).isEmpty();
    assertThat(told.remaining()).isEqualTo(Duration.ofMillis(590_000));
    assertThat(capacities.of(ClientFixture.AGENT, ClientFixture.QUOTA, 650_000)).isEmpty();
    assertThat(capacities.of(ClientFixture.AGENT, "k/other", 60_000)).isEmpty();
    assertThat(capacities.of("another", ClientFixture.QUOTA, 60_000)).isEmpty();
  }

  @Test
  void shouldKeepTheNewestWhateverComesLast() {
    // when
    note(decision(9, 500, 600_000), 50_000);
    note(decision(8, 1_000, 600_000), 50_001);

    // then
    assertThat(
            capacities
                .of(ClientFixture.AGENT, ClientFixture.QUOTA, 50_002)
                .orElseThrow()
                .inputTokensPerMinute())
        .hasValue(500);
  }

  @Test
  void shouldCountADecisionsTimeInAReplyTopicAsPassed() {
    // given: the fastest delivery so far, then one that was read four minutes late
    note(decision(7, 1_000, 600_000), 50_000);
    Decision late = decision(8, 1_000, 600_000);

    // when
    note(late, 290_000);

    // then
    assertThat(
            capacities
                .of(ClientFixture.AGENT, ClientFixture.QUOTA, 290_000)
                .map(SafeCapacity::remaining))
        .isEqualTo(Optional.of(Duration.ofMillis(360_000)));
  }

  @Test
  void shouldBeThereForWhoeverUsesTheClient() {
    // given
    client.acquire();
    Decision queued =
        client
            .decision(client.lastRequestId(), DecisionStatus.QUEUED)
            .setQueued(new Queued(1, 500L, null, null))
            .setSafeCapacity(share(300, 600_000))
            .build();

    // when
    client.deliver(queued);

    // then
    assertThat(
            client
                .calls
                .safeCapacity(ClientFixture.AGENT, ClientFixture.QUOTA)
                .orElseThrow()
                .inputTokensPerMinute())
        .hasValue(300);
  }

  private void note(Decision decision, long receivedAtMs) {
    clock.observe(decision.getDecidedAtMs(), receivedAtMs);
    capacities.note(decision, true, clock, receivedAtMs);
  }

  private Decision decision(long sequence, long inputTokens, long validForMs) {
    return client
        .decision("r", DecisionStatus.QUEUED)
        .setQueued(new Queued(1, 500L, null, null))
        .setSequence(sequence)
        .setDecidedAtMs(40_000)
        .setSafeCapacity(share(inputTokens, validForMs))
        .build();
  }

  private static dev.fairway.schemas.SafeCapacity share(long inputTokens, long validForMs) {
    return new dev.fairway.schemas.SafeCapacity(
        new Amounts(null, inputTokens, null, null, null), validForMs);
  }
}
