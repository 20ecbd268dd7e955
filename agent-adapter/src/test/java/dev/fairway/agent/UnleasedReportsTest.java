package dev.fairway.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

/** Reports that the brokers do not take are kept, and not without bound. */
class UnleasedReportsTest {
  private final RecordingOutbox outbox = new RecordingOutbox();
  private final Counters counters = new Counters();
  private final UnleasedReports reports = new UnleasedReports(outbox, counters);

  @Test
  void shouldLoseTheOldestBeyondTheBoundAndCountIt() {
    // given
    outbox.fail(new TimeoutException("no broker"));
    for (int i = 0; i < UnleasedReports.KEPT_MAX; i++) {
      reports.send(report(i)).exceptionally(error -> null);
    }
    assertThat(counters.unreported.sum()).isZero();

    // when
    reports.send(report(UnleasedReports.KEPT_MAX)).exceptionally(error -> null);

    // then
    assertThat(reports.kept()).isEqualTo(UnleasedReports.KEPT_MAX);
    assertThat(counters.unreported.sum()).isEqualTo(1);

    // when: the brokers are back
    outbox.fail(null);
    outbox.settlements.clear();
    reports.sendKept();

    // then: all but the oldest
    assertThat(outbox.settlements).hasSize(UnleasedReports.KEPT_MAX);
    assertThat(outbox.settlements.get(0).getRequestId()).isEqualTo("r1");
    assertThat(reports.kept()).isZero();
  }

  private static Settlement report(int i) {
    return Settlement.newBuilder()
        .setRequestId("r" + i)
        .setAgentId("agent-1")
        .setQuota("key/sonnet")
        .setOutcome(Outcome.UNLEASED)
        .build();
  }
}
