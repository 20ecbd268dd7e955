package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.SALT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Slots of a tenant's ceiling when its quota is defined anew while calls are open. */
class CeilingSlotsTest {
  private static final int CALLS = 60;

  private final List<String> open = new ArrayList<>();
  private EngineContext context;

  @ParameterizedTest
  @CsvSource({"4, .5, 20, .5, 10", "20, .5, 8, .5, 4", "10, .5, 10, .4, 4", "20, .2, 20, .5, 10"})
  void shouldHoldATenantToItsCeilingOnceCallsOfBeforeHaveEnded(
      int slotsBefore, double ceilingBefore, int slots, double ceiling, int expected) {
    // given: a long line of one tenant
    context = EngineContext.with(quota(slotsBefore, ceilingBefore));
    for (int i = 0; i < CALLS; i++) {
      note(context.ask("r" + i, "t" + i % 5, 1));
    }

    // when
    note(context.submit(new Command.DefineQuota(quota(slots, ceiling), SALT)));
    List<Integer> counts = new ArrayList<>();
    for (int i = 0; i < CALLS / 2; i++) {
      endOldest();
      counts.add(open.size());
    }

    // then
    assertThat(counts.subList(10, counts.size())).containsOnly(expected);
  }

  @Test
  void shouldLetGoAllThatARaisedCeilingHasWhereNothingIsOpen() {
    // given
    context = EngineContext.with(quota(4, .5));

    // when
    context.submit(new Command.DefineQuota(quota(40, .5), SALT));
    for (int i = 0; i < 30; i++) {
      note(context.ask("r" + i, "t" + i % 5, 1));
    }

    // then
    assertThat(open).hasSize(20);
  }

  @Test
  void shouldCountWhoIsOpenWhereACeilingIsNew() {
    // given: four calls of a tenant that has no ceiling yet
    context = EngineContext.with(quota(20, null));
    for (int i = 0; i < 4; i++) {
      note(context.ask("r" + i, "t1", 1));
    }

    // when
    context.submit(new Command.DefineQuota(quota(20, .25), SALT));
    for (int i = 4; i < 12; i++) {
      note(context.ask("r" + i, "t1", 1));
    }
    int withCeiling = open.size();
    for (int i = 0; i < 5; i++) {
      endOldest();
    }

    // then
    assertThat(withCeiling).isEqualTo(5);
    assertThat(open).hasSize(5);
  }

  private void note(List<Event> events) {
    for (Event event : events) {
      if (event instanceof LeaseGranted e) {
        open.add(e.leaseId() + " " + e.agentId());
      }
    }
  }

  private void endOldest() {
    String[] oldest = open.remove(0).split(" ");
    note(context.settle(oldest[0], oldest[1], Outcome.SUCCEEDED, 1L, 0L));
  }

  private static QuotaDefinition quota(long slots, Double ceiling) {
    Tenant tenant = new Tenant(1, ceiling, List.of("t*"), List.of(), List.of(), null, null);
    QuotaDefinition plain =
        EngineContext.quota(Amounts.of(Dimension.CONCURRENT_REQUESTS, slots), null);
    return Redefined.like(plain).tenants(Map.of("t", tenant)).definition();
  }
}
