package dev.fairway.admission.engine;

import static dev.fairway.admission.engine.EngineContext.only;
import static dev.fairway.admission.engine.OrderContext.ask;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.admission.engine.Event.LeaseGranted;
import dev.fairway.admission.engine.Event.LeaseSettled;
import dev.fairway.admission.engine.LeaseRequest.Estimate;
import dev.fairway.admission.engine.QuotaDefinition.Preset;
import dev.fairway.admission.engine.QuotaDefinition.Tenant;
import dev.fairway.admission.engine.Settlement.Outcome;
import dev.fairway.admission.engine.Signal.Kind;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is left out of a request, or told in place of it, gains nothing. */
class ClaimedMoreTest {
  private static final long OUTPUT = 600;

  // ---- tenants

  @Test
  void shouldLeaveNoTenantByAClaimOfOneWithoutPatterns() {
    // given
    Map<String, Tenant> tenants =
        Map.of(
            "pay", OrderContext.tenant(1, 0.1, "pay-*"),
            "beta", OrderContext.tenant(100, null));
    EngineContext context = OrderContext.quota().full().tenants(tenants).start();

    // when
    LeaseGranted bound =
        only(ask("r1", "pay-1", 10).tenant("beta").of(context), LeaseGranted.class);
    LeaseGranted free = only(ask("r2", "x", 10).tenant("beta").of(context), LeaseGranted.class);
    LeaseGranted none = only(ask("r3", "x", 10).of(context), LeaseGranted.class);

    // then
    assertThat(bound.order().tenant()).isEqualTo("pay");
    assertThat(free.order().tenant()).isEqualTo("beta");
    assertThat(none.order().tenant()).isEqualTo("default");
  }

  // ---- output that a request leaves out

  @ParameterizedTest
  @CsvSource({
    "openai, TOKENS",
    "azure, TOKENS",
    "bedrock, OUTPUT_TOKENS",
    "anthropic, OUTPUT_TOKENS"
  })
  void shouldReserveWhatIsUsualWhereTheOutputIsLeftOut(String provider, Dimension d) {
    // given
    EngineContext context =
        EngineContext.with(quota(provider, Preset.FAIRWAY, Amounts.of(d, 6_000)));

    // when
    long unknown = reserved(context, "u", null);
    learn(context);

    // then: nothing while nothing is known
    assertThat(unknown).isZero();
    assertThat(reserved(context, "null", null)).isEqualTo(OUTPUT);
    assertThat(reserved(context, "zero", 0L)).isZero();
    assertThat(reserved(context, "ten", 10L)).isEqualTo(10);
  }

  @Test
  void shouldReserveNothingInSeedWhereTheOutputIsLeftOut() {
    EngineContext context =
        EngineContext.with(quota("openai", Preset.SEED, Amounts.of(Dimension.TOKENS, 60_000)));
    learn(context);
    assertThat(reserved(context, "null", null)).isZero();
  }

  @Test
  void shouldRefuseNoCallForAGuessOfItsOutput() {
    // given: calls produce more than would fit beside this one
    EngineContext context =
        EngineContext.with(quota("openai", Preset.FAIRWAY, Amounts.of(Dimension.TOKENS, 6_000)));
    learn(context);
    context.sleep(600_000);

    // when
    LeaseGranted lease = only(context.ask(request("large", 5_900, null)), LeaseGranted.class);

    // then
    assertThat(lease.charged().get(Dimension.TOKENS)).isEqualTo(6_000);
  }

  // ---- output that an end leaves out

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldTakeOutputThatNobodyTellsForWhatIsUsual(boolean onTheWay) {
    // given: a call that claims to produce one token
    LeaseSettled told = ended(OUTPUT, onTheWay);
    LeaseSettled untold = ended(null, onTheWay);
    LeaseSettled little = ended(1L, onTheWay);

    // then: in the order, and in its tenant's ceiling
    assertThat(untold.tagShift()).isEqualTo(told.tagShift()).isGreaterThan(little.tagShift());
    assertThat(untold.shift().tenantTag()).isEqualTo(told.shift().tenantTag());
    assertThat(untold.shift().ceiling()).isEqualTo(told.shift().ceiling());
    // The quota's own buckets go by what is known: headers correct them.
    assertThat(untold.adjusted()).isEqualTo(little.adjusted());
  }

  private static LeaseSettled ended(Long output, boolean onTheWay) {
    Amounts limits =
        Amounts.of(Dimension.INPUT_TOKENS, 600_000).with(Dimension.OUTPUT_TOKENS, 12_000);
    Map<String, Tenant> tenants = Map.of("t", OrderContext.tenant(1, 0.5, "*"));
    EngineContext context = OrderContext.quota().limits(limits).tenants(tenants).start();
    learn(context);
    LeaseGranted lease = only(context.ask(request("r", 1_000, 1L)), LeaseGranted.class);
    Long input = 1_000L;
    if (onTheWay) {
      context.settle(lease.leaseId(), "x", Outcome.IN_PROGRESS, input, null);
      input = output == null ? null : input;
    }
    return only(
        context.settle(lease.leaseId(), "x", Outcome.SUCCEEDED, input, output), LeaseSettled.class);
  }

  // ---- a call that is put back in line

  @Test
  void shouldCountACallThatIsPutBackInLine() {
    // given: two agents with six calls each in line, and two of the first one's are refused
    EngineContext context = OrderContext.quota().start();
    for (int i = 1; i <= 6; i++) {
      ask("a" + i, "a", 1_000).of(context);
      ask("b" + i, "b", 1_000).of(context);
    }
    List<String> order = new ArrayList<>(OrderContext.granted(context.sleep(5_500)));
    refused(context, "a1");
    order.addAll(OrderContext.granted(context.sleep(3_100)));
    refused(context, "a2");
    for (int i = 7; i <= 12; i++) {
      ask("b" + i, "b", 1_000).of(context);
      ask("a" + i, "a", 1_000).of(context);
    }

    // when
    order.addAll(OrderContext.granted(context.sleep(60_000)));

    // then: of calls that were not refused the first has never more than its share
    int ofA = 0;
    int ofB = 0;
    for (int i = 0; i < order.size(); i++) {
      String id = order.get(i);
      boolean refused = order.lastIndexOf(id) > i;
      ofA += id.startsWith("a") && !refused ? 1 : 0;
      ofB += id.startsWith("b") ? 1 : 0;
      if (ofB < 12) {
        assertThat(ofA - ofB).as(order.toString()).isLessThanOrEqualTo(1);
      }
    }
    assertThat(order).hasSize(26);
  }

  private static void refused(EngineContext context, String id) {
    LeaseGranted lease =
        context.journal.stream()
            .flatMap(handled -> handled.events().stream())
            .filter(e -> e instanceof LeaseGranted g && g.requestId().equals(id))
            .map(LeaseGranted.class::cast)
            .findFirst()
            .orElseThrow();
    Signal signal = new Signal(429, Kind.RATE_LIMITED, null, 1L, 0L, null, Map.of());
    context.settle(
        lease.leaseId(),
        "a",
        Outcome.RATE_LIMITED,
        null,
        null,
        s -> new Settlement(s.leaseId(), null, "a", s.quotaId(), s.outcome(), null, true, signal));
  }

  // ---- helpers

  /** Five calls are settled, each with the same output. */
  private static void learn(EngineContext context) {
    for (int i = 0; i < 5; i++) {
      LeaseGranted lease = only(context.ask(request("l" + i, 10, 0L)), LeaseGranted.class);
      context.settle(lease.leaseId(), "x", Outcome.SUCCEEDED, 10L, OUTPUT);
      context.sleep(60_000);
    }
  }

  private static long reserved(EngineContext context, String id, Long maxOutput) {
    LeaseGranted lease = only(context.ask(request(id, 0, maxOutput)), LeaseGranted.class);
    context.sleep(60_000);
    Dimension d =
        lease.charged().has(Dimension.TOKENS) ? Dimension.TOKENS : Dimension.OUTPUT_TOKENS;
    return lease.charged().get(d);
  }

  private static LeaseRequest request(String id, long input, Long maxOutput) {
    LeaseRequest like = EngineContext.request(id, "x", input, 0);
    return Asking.like(like).estimate(new Estimate(input, 0, null, maxOutput, "")).request();
  }

  private static QuotaDefinition quota(String provider, Preset preset, Amounts limits) {
    QuotaDefinition like = OrderContext.quota().limits(limits).definition();
    return new QuotaDefinition(
        like.id(),
        provider,
        preset,
        List.of(),
        List.of(),
        like.window(),
        limits,
        null,
        null,
        like.margin(),
        null,
        null,
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
        null,
        QuotaDefinition.State.ACTIVE,
        0);
  }
}
