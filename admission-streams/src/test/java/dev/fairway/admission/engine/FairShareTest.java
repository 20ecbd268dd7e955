package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.OrderContext.tenant;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.fairway.admission.engine.ClosedLoop.Agent;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Who always has something in line gets its share, whatever else goes on. */
class FairShareTest {
  private static final long FOREVER_MS = 36_000_000;
  private static final double CLOSE = 0.02;

  // ---- tenants

  @Test
  void shouldServeATenantItsShareThoughItsSmallCallsPass() {
    // given: large and small calls in one tenant, small ones in the other
    ClosedLoop equal = tenants(1, 0);
    ClosedLoop heavier = tenants(2, 0);

    // when
    equal.run(5).run(30);
    heavier.run(5).run(30);

    // then
    assertThat(equal.share("a-")).isCloseTo(1 / 2.0, within(CLOSE));
    assertThat(heavier.share("a-")).isCloseTo(2 / 3.0, within(CLOSE));
  }

  @Test
  void shouldServeATenantItsShareThoughItsEstimatesAreOff() {
    for (long off : new long[] {-500, -1, 1, 500}) {
      // given: each settlement moves its tenant's tag by that much
      ClosedLoop loop =
          new ClosedLoop(FOREVER_MS, tenants(1))
              .with(
                  new Agent("a-large", 4, 15_000, 15_000 + off, 20_000),
                  new Agent("b-small", 30, 2_000, 2_000 + off, 20_000));

      // when
      loop.run(5).run(30);

      // then
      assertThat(loop.share("a-")).as("estimates %d off", off).isCloseTo(0.5, within(CLOSE));
    }
  }

  private static ClosedLoop tenants(double weight, long off) {
    return new ClosedLoop(FOREVER_MS, tenants(weight))
        .with(
            new Agent("a-large", 4, 15_000, 15_000 + off, 1_000),
            new Agent("a-small", 30, 600, 600 + off, 1_000),
            new Agent("b-small", 30, 600, 600 + off, 1_000));
  }

  private static Map<String, Tenant> tenants(double weight) {
    return Map.of("a", tenant(weight, null, "a-*"), "b", tenant(1, null, "b-*"));
  }
}
