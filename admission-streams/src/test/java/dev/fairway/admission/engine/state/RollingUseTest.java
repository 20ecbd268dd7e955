package dev.fairway.admission.engine.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RollingUseTest {
  private static final String SALT = "00112233445566778899aabbccddeeff";
  private static final long START_MS = 1_000_000;

  @Test
  void shouldForgetALeaseWithItsRow() {
    // given
    AdmissionEngine engine = new AdmissionEngine();
    engine.handle("k", new Command.DefineQuota(rolling(), SALT), START_MS);
    LeaseGranted lease =
        (LeaseGranted)
            engine
                .handle("k", new Command.RequestLease(request(), START_MS), START_MS)
                .events()
                .stream()
                .filter(LeaseGranted.class::isInstance)
                .findFirst()
                .orElseThrow();
    engine.handle("k", new Command.SettleLease(settlement(lease), START_MS), START_MS);
    KeyState state = RowLoader.load("k", engine.rows("k"));
    RollingUse use = state.quota("k/q").lastMinute.use(Dimension.TOKENS);

    // when
    state.begin(START_MS + 60_000);
    long inTheMinute = use.at(state.nowMs());
    state.begin(START_MS + 75_000);

    // then
    assertThat(inTheMinute).isEqualTo(70);
    assertThat(state.quota("k/q").leases()).isEmpty();
    assertThat(use.size()).isZero();
  }

  private static QuotaDefinition rolling() {
    return new QuotaDefinition(
        "k/q",
        "generic",
        Preset.FAIRWAY,
        List.of(),
        List.of(),
        Window.ROLLING,
        Amounts.of(Dimension.TOKENS, 600),
        null,
        null,
        new QuotaDefinition.Margin(MarginModeName.RESERVE, 1.0, null, null, null, null),
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        Map.of(),
        Map.of(),
        Map.of(),
        QuotaDefinition.State.ACTIVE,
        0);
  }

  private static LeaseRequest request() {
    return new LeaseRequest(
        "r1",
        "a1",
        "k/q",
        null,
        "worker",
        "batch",
        null,
        0,
        null,
        new LeaseRequest.Estimate(100L, 0, null, 1L, ""),
        null,
        null,
        null,
        null);
  }

  private static Settlement settlement(LeaseGranted lease) {
    Settlement.Usage usage = new Settlement.Usage(70L, 0L, 0L, 0L, true);
    return new Settlement(
        lease.leaseId(), "r1", "a1", "k/q", Outcome.SUCCEEDED, usage, false, null);
  }
}
