package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.EngineContext.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.SafeCapacityTold;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.capacity.Share;
import dev.fairway.admission.engine.state.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SafeCapacityTest {
  private static final long FLOOR_OF_LIMIT = 36_000;
  private final EngineContext context = EngineContext.with(tokens(60_000), tokens(59_000));

  @Test
  void shouldGoAlongWithEveryDecision() {
    // when
    List<Event> granted = context.ask("r1", "a1", 59_000);
    List<Event> queued = context.ask("r2", "a1", 5_000);
    List<Event> repeated = context.ask("r2", "a1", 5_000);
    List<Event> rejected = context.ask("r3", "a1", 90_000);
    List<Event> later = context.sleep(10_000);

    // then
    for (List<Event> events : List.of(granted, queued, repeated, rejected, later)) {
      SafeCapacityTold told = only(events, SafeCapacityTold.class);
      assertThat(told.agentId()).isEqualTo("a1");
      assertThat(told.validUntilMs()).isEqualTo(context.nowMs + 600_000 - sinceMs(events, later));
      assertThat(told.perMinute().get(Dimension.TOKENS)).isBetween(1L, FLOOR_OF_LIMIT);
    }
  }

  @Test
  void shouldShareFairlyAndNeverMoreThanThereIs() {
    // when: twenty agents start at once and go on for half an hour
    Map<String, SafeCapacityTold> last = new HashMap<>();
    List<SafeCapacityTold> told = new ArrayList<>();
    for (int minute = 0; minute < 30; minute++) {
      for (int agent = 0; agent < 20; agent++) {
        SafeCapacityTold e =
            only(context.ask("r" + minute + "-" + agent, "a" + agent, 1), SafeCapacityTold.class);
        last.put(e.agentId(), e);
        told.add(e);
        assertThat(valid(told)).isLessThanOrEqualTo(FLOOR_OF_LIMIT);
      }
      context.sleep(60_000);
    }

    // then: a quarter is kept for who may come, and everybody has as much as any other
    assertThat(told.subList(0, 20)).allMatch(e -> e.perMinute().get(Dimension.TOKENS) > 0);
    long fair = FLOOR_OF_LIMIT / 25;
    assertThat(last.values())
        .allMatch(e -> e.perMinute().get(Dimension.TOKENS) >= fair * 7 / 8)
        .allMatch(e -> e.perMinute().get(Dimension.TOKENS) <= fair * 9 / 8);
  }

  @Test
  void shouldGiveWhatAnAgentThatIsGoneHeldToTheOthers() {
    // given
    for (int i = 0; i < 20; i++) {
      context.ask("x" + i, "gone", 1);
      context.ask("y" + i, "stays", 1);
    }
    long shared = share("stays").part();

    // when
    for (int i = 0; i < 40; i++) {
      context.sleep(30_000);
      context.ask("z" + i, "stays", 1);
    }

    // then
    assertThat(share("gone")).isNull();
    assertThat(shared).isLessThanOrEqualTo(Share.WHOLE / 3);
    assertThat(share("stays").part()).isGreaterThan(Share.WHOLE * 7 / 16);
  }

  @Test
  void shouldTellNobodyAShareOfWhatAnOperatorStopped() {
    // given
    QuotaDefinition definition = EngineContext.quota(tokens(60_000), tokens(59_000));

    for (QuotaDefinition.State state :
        List.of(QuotaDefinition.State.PAUSED, QuotaDefinition.State.DRAINING)) {
      // when
      context.submit(
          new Command.DefineQuota(
              Redefined.like(definition).state(state).definition(), EngineContext.SALT));

      // then
      assertThat(context.ask("r" + state, "a1", 1)).noneMatch(SafeCapacityTold.class::isInstance);
    }
  }

  @Test
  void shouldHaveNoneWhereOnlyConcurrencyIsLimited() {
    // given
    EngineContext slots = EngineContext.with(Amounts.of(Dimension.CONCURRENT_REQUESTS, 5), null);

    // then
    assertThat(slots.ask("r", "a", 1)).noneMatch(SafeCapacityTold.class::isInstance);
  }

  @Test
  void shouldKeepWhatAllTakeFromAQuotaTogetherWithinItsFloor() {
    // given: two quotas take from an organisation's, which is asked for by itself, too
    EngineContext shared = new EngineContext(1_000_000);
    shared.restoring = false;
    OrderContext.Quota quota = OrderContext.quota().full();
    quota
        .limits(tokens(60_000).with(Dimension.REQUESTS, 100))
        .named("k/organisation")
        .defineIn(shared);
    for (String name : List.of("k/small", "k/large")) {
      quota.limits(tokens(50_000)).named(name).takingFrom("k/organisation").defineIn(shared);
    }

    // when: agents ask for one, the other, or both, for half an hour
    Map<String, List<SafeCapacityTold>> told = new HashMap<>();
    for (int minute = 0; minute < 30; minute++) {
      for (int i = 0; i < 12; i++) {
        String agent = "a" + i % 4;
        String name = List.of("k/small", "k/large", "k/organisation").get(i / 4);
        String id = "r" + minute + "-" + i;
        List<Event> events = OrderContext.ask(id, agent, 1).in(name).of(shared);
        SafeCapacityTold e =
            events.stream()
                .filter(SafeCapacityTold.class::isInstance)
                .map(SafeCapacityTold.class::cast)
                .filter(each -> each.quotaId().equals(name) && each.agentId().equals(agent))
                .findFirst()
                .orElseThrow();
        told.computeIfAbsent(name + agent, key -> new ArrayList<>()).add(e);
        assertThat(valid(told, Dimension.TOKENS, shared.nowMs)).isLessThanOrEqualTo(FLOOR_OF_LIMIT);
        assertThat(valid(told, Dimension.REQUESTS, shared.nowMs)).isLessThanOrEqualTo(60);
        assertThat(e.perMinute().has(Dimension.REQUESTS)).as("limited by the other").isTrue();
      }
      shared.sleep(60_000);
    }

    // then: everybody has something to go on with, a quarter kept for who may come
    long fair = FLOOR_OF_LIMIT / 15;
    assertThat(told.values())
        .hasSize(12)
        .allSatisfy(
            each ->
                assertThat(each.get(each.size() - 1).perMinute().get(Dimension.TOKENS))
                    .isBetween(fair * 7 / 8, fair * 9 / 8));
  }

  @Test
  void shouldTellNothingWhereAQuotaThatIsTakenFromIsNotDefined() {
    // given
    EngineContext alone = new EngineContext(1_000_000);
    OrderContext.quota().limits(tokens(50_000)).takingFrom("k/organisation").defineIn(alone);

    // then
    assertThat(alone.ask("r", "a", 1)).noneMatch(SafeCapacityTold.class::isInstance);
  }

  private static long valid(
      Map<String, List<SafeCapacityTold>> told, Dimension dimension, long nowMs) {
    return told.values().stream()
        .mapToLong(
            each ->
                each.stream()
                    .filter(e -> e.validUntilMs() > nowMs)
                    .mapToLong(e -> e.perMinute().get(dimension))
                    .max()
                    .orElse(0))
        .sum();
  }

  private long sinceMs(List<Event> events, List<Event> later) {
    return events == later
        ? context.nowMs - context.journal.get(context.journal.size() - 1).atMs()
        : 10_000;
  }

  /** What may be used at this time if every agent uses the largest share that it was told. */
  private long valid(List<SafeCapacityTold> told) {
    Map<String, Long> largest = new HashMap<>();
    for (SafeCapacityTold e : told) {
      if (e.validUntilMs() > context.nowMs) {
        largest.merge(e.agentId(), e.perMinute().get(Dimension.TOKENS), Math::max);
      }
    }
    return largest.values().stream().mapToLong(Long::longValue).sum();
  }

  private Share share(String agent) {
    return context.engine.rows(EngineContext.KEY).stream()
        .filter(Row.ShareRow.class::isInstance)
        .map(Row.ShareRow.class::cast)
        .filter(row -> row.agentId().equals(agent))
        .map(Row.ShareRow::share)
        .findFirst()
        .orElse(null);
  }
}
