package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.lease.CallTokens;
import dev.fairway.agent.UsageReport;
import org.junit.jupiter.api.Test;

/** Client and coordinator know nothing of each other, and must refuse the same numbers. */
class BoundsAgreeTest {

  @Test
  void shouldTakeNoUsageFromAnAgentThatTheCoordinatorRefuses() {
    assertThat(UsageReport.TOKENS_MAX).isEqualTo(CallTokens.MOST);
  }
}
