package dev.fairway.admission.engine.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.EngineContext;
import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.QuotaDefinition.MarginModeName;
import dev.fairway.admission.engine.QuotaDefinition.Window;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import org.junit.jupiter.api.Test;

class RollingUseTest {

  @Test
  void shouldForgetALeaseWithItsRow() {
    // given
    EngineContext context =
        EngineContext.with(
            EngineContext.quota(
                Amounts.of(Dimension.TOKENS, 600),
                null,
                MarginModeName.RESERVE,
                1.0,
                Window.ROLLING));
    LeaseGranted lease = EngineContext.only(context.ask("r1", "a1", 100), LeaseGranted.class);
    context.settle(lease.leaseId(), "a1", Outcome.SUCCEEDED, 70L, 0L);
    long startMs = context.nowMs;
    KeyState state = RowLoader.load(EngineContext.KEY, context.engine.rows(EngineContext.KEY));
    RollingUse use = state.quota("k/q").lastMinute.use(Dimension.TOKENS);

    // when
    state.begin(startMs + 60_000);
    long inTheMinute = use.at(state.nowMs());
    state.begin(startMs + 75_000);

    // then
    assertThat(inTheMinute).isEqualTo(70);
    assertThat(state.quota("k/q").leases()).isEmpty();
    assertThat(use.size()).isZero();
  }
}
