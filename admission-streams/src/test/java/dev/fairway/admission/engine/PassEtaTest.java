package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.OrderContext.ask;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseQueued;
import dev.fairway.admission.engine.Event.LeaseRejected;
import dev.fairway.admission.engine.OrderContext.Ask;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What small calls are told that will pass a large one: a thousand tokens come in a second. */
class PassEtaTest {
  private static final long SHORT_WAIT_MS = 20_000;

  private final Map<String, Long> told = new HashMap<>();
  private final Map<String, Long> granted = new HashMap<>();

  @Test
  void shouldTellWhoPassesAHeadWhenItPasses() {
    // given: an agent whose small calls stand behind its own large one
    EngineContext context = start(OrderContext.quota());
    queue(context, ask("large", "a", 40_000));
    queue(context, ask("small-1", "a", 500));
    queue(context, ask("small-2", "a", 700));
    queue(context, ask("other", "b", 50_000));

    // when
    context.sleep(5_000);
    noteGrants(context);

    // then
    assertThat(told).containsEntry("small-1", 500L).containsEntry("small-2", 1_200L);
    assertThat(granted).containsEntry("small-1", 500L).containsEntry("small-2", 1_200L);
  }

  @Test
  void shouldNotSendAwayWhoPassesSoon() {
    // given: a wait of 40 s in order, of which 20 are promised, and more to the large one
    EngineContext context = start(OrderContext.quota());
    queue(context, ask("large", "a", 40_000));

    // when
    List<Event> small = queue(context, ask("small", "a", 900));
    List<Event> medium = queue(context, ask("medium", "a", 9_000));
    context.sleep(1_000);
    noteGrants(context);

    // then
    assertThat(small).noneMatch(LeaseRejected.class::isInstance);
    assertThat(medium).anyMatch(LeaseRejected.class::isInstance);
    assertThat(granted).containsEntry("small", 900L);
  }

  @Test
  void shouldSendAwayWhoFindsTheRoomToPassTaken() {
    // given: what may pass is half of 20 000, and 9 900 of it is asked for
    EngineContext context = start(OrderContext.quota());
    queue(context, ask("large", "a", 20_000));
    for (int i = 0; i < 6; i++) {
      queue(context, ask("small-" + i, "a", 1_650));
    }

    // when
    List<Event> last = queue(context, ask("last", "a", 1_650));

    // then
    assertThat(told.get("small-5")).isEqualTo(9_900);
    assertThat(last).anyMatch(LeaseRejected.class::isInstance);
  }

  @Test
  void shouldCountThoseAloneThatAReserveCanCarry() {
    // given: half of it is kept for a class, whose first call is larger than that
    EngineContext context = OrderContext.quota().reserve(0.5).start();
    queue(context, ask("large", "a", 45_000).interactive());
    queue(context, ask("batch", "b", 15_000));

    // when
    queue(context, ask("small", "a", 400).interactive());
    queue(context, ask("next", "a", 600).interactive());
    context.sleep(5_000);
    noteGrants(context);

    // then: five hundred of it come in a second
    assertThat(told).containsEntry("small", 800L).containsEntry("next", 2_000L);
    assertThat(granted).containsEntry("small", 800L).containsEntry("next", 2_000L);
  }

  @Test
  void shouldTellNobodyThatItPassesWhoeverKeepsItsLaneClosed() {
    // given: tokens for the class alone, and its share of requests used up
    Amounts limits = Amounts.of(Dimension.TOKENS, 60_000).with(Dimension.REQUESTS, 600);
    EngineContext context = OrderContext.quota().limits(limits).reserve(0.2).start();
    context.restoring = false;
    ask("first", "z", 48_000).of(context);
    for (int i = 0; i < 120; i++) {
      ask("i" + i, "y", 1).interactive().of(context);
    }
    ask("large", "a", 40_000).of(context);

    // when: a small one of another class comes first in its lane, and has to wait
    queue(context, ask("batch", "a", 1_500));
    queue(context, ask("small", "a", 500).interactive());
    context.sleep(5_000);
    noteGrants(context);

    // then: two requests of the share come in a second
    assertThat(told).containsEntry("small", 500L);
    assertThat(granted).containsEntry("small", 500L);
  }

  private static EngineContext start(OrderContext.Quota quota) {
    return EngineContext.with(
        Redefined.like(quota.definition()).maxQueueWaitMs(SHORT_WAIT_MS).definition());
  }

  private List<Event> queue(EngineContext context, Ask ask) {
    List<Event> events = ask.of(context);
    for (Event event : events) {
      if (event instanceof LeaseQueued e) {
        told.put(e.requestId(), e.etaMs());
      }
    }
    return events;
  }

  /** Everything was asked for at the same time. */
  private void noteGrants(EngineContext context) {
    long startMs = context.journal.get(0).atMs();
    for (Handled handled : context.journal) {
      for (Event event : handled.events()) {
        if (event instanceof LeaseGranted e) {
          granted.put(e.requestId(), e.grantedAtMs() - startMs);
        }
      }
    }
  }
}
