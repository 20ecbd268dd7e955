package dev.fairway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.LeaseRequest;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.RejectReason;
import dev.fairway.admission.engine.Settlement;
import dev.fairway.admission.engine.alert.AlertKind;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.lease.Claims;
import dev.fairway.admission.engine.lease.Forecast;
import dev.fairway.admission.engine.lease.Told;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Standing;
import dev.fairway.admission.engine.state.Taken;
import dev.fairway.admission.mapping.RandomValues;
import dev.fairway.schemas.DeadLetterReason;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AdmissionMetricsTest {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final QuotaLabels labels = new QuotaLabels(2);
  private final AdmissionMetrics metrics = new AdmissionMetrics(registry, labels);

  @Test
  void shouldCountDecisionsByTypeAndReason() {
    handled(
        Map.of(),
        new Event.LeaseQueued("q", "r", "a", 1, 5, null, null, null),
        new Event.LeaseRejected(
            "q", "r", "a", RejectReason.QUEUE_FULL, "", null, null, null, null, 1, null, null));
    assertThat(registry.scrape())
        .contains("fairway_decisions_total{quota=\"q\",type=\"queued\"} 1.0")
        .contains("fairway_decisions_total{quota=\"q\",type=\"rejected\"} 1.0")
        .contains("fairway_rejections_total{quota=\"q\",reason=\"QUEUE_FULL\"} 1.0");
  }

  @Test
  void shouldMeasureTheWaitFromTheBrokersAppend() {
    // given
    Row.LeaseRow row = new Row.LeaseRow(lease(1_000));

    // when
    handled(
        Map.of(row.id(), row),
        new Event.LeaseGranted(
            "q",
            "r",
            "a",
            "lease",
            1,
            Amounts.NONE,
            false,
            4_000,
            9_000,
            0,
            null,
            new Event.Order(Event.Lane.IN_ORDER, "default", "batch", null, null, 0, 0),
            Taken.NOTHING));

    // then
    assertThat(registry.scrape())
        .contains("fairway_wait_seconds_sum{quota=\"q\"} 3.0")
        .contains("fairway_wait_seconds_bucket{quota=\"q\",le=\"1.0\"} 0")
        .contains("fairway_wait_seconds_bucket{quota=\"q\",le=\"5.0\"} 1");
  }

  @Test
  void shouldCountSettlementsByOutcomeAnd429s() {
    handled(
        Map.of(),
        settled(Settlement.Outcome.RATE_LIMITED, 0, 100),
        settled(Settlement.Outcome.SUCCEEDED, 150, -50),
        expired("q"));
    assertThat(registry.scrape())
        .contains("fairway_settlements_total{outcome=\"RATE_LIMITED\",quota=\"q\"} 1.0")
        .contains("fairway_provider_429_total{quota=\"q\"} 1.0")
        .contains("fairway_leases_expired_total{quota=\"q\"} 1.0")
        .contains("fairway_estimate_error_sum{dimension=\"input_tokens\",quota=\"q\"} 0.5")
        .contains("fairway_estimate_error_count{dimension=\"input_tokens\",quota=\"q\"} 1");
  }

  @Test
  void shouldHaveTheCountersOfFaultsBeforeTheirFirst() {
    assertThat(registry.scrape())
        .contains("fairway_engine_failures_total{kind=\"handle\"} 0.0")
        .contains("fairway_dead_letters_total{reason=\"MAGIC_BYTE\"} 0.0");
  }

  @Test
  void shouldCountDeadLettersAndForwards() {
    metrics.deadLettered(DeadLetterReason.MAGIC_BYTE);
    metrics.forwarded("fairway.requests");
    metrics.engineFailed();
    metrics.restored(0, 2, 30, 1_000_000);
    assertThat(registry.scrape())
        .contains("fairway_dead_letters_total{reason=\"MAGIC_BYTE\"} 1.0")
        .contains("fairway_forwarded_total{topic=\"fairway.requests\"} 1.0")
        .contains("fairway_engine_failures_total{kind=\"handle\"} 1.0")
        .contains("fairway_restore_rows_total 30.0");
  }

  @Test
  void shouldBoundTheQuotaLabel() {
    for (int i = 0; i < 10; i++) {
      handled(Map.of(), expired("q" + i));
    }
    assertThat(registry.scrape())
        .contains("fairway_leases_expired_total{quota=\"q0\"} 1.0")
        .contains("fairway_leases_expired_total{quota=\"other\"} 8.0")
        .doesNotContain("q2");
  }

  @Test
  void shouldRenewGaugesAndDropWhatIsGone() {
    // given
    QuotaGauges gauges = new QuotaGauges(registry, labels);

    // when
    gauges.renew(List.of(snapshot("a", 3), snapshot("b", 4), snapshot("c", 5), snapshot("d", 6)));
    String first = registry.scrape();
    gauges.renew(List.of(snapshot("b", 7)));

    // then
    assertThat(first)
        .contains("fairway_balance{dimension=\"requests\",quota=\"a\"} -3.0")
        .contains("fairway_margin{quota=\"a\"} 0.85")
        .contains("fairway_waiting{quota=\"a\"} 3.0")
        .contains("fairway_waiting{quota=\"other\"} 11.0")
        .contains("fairway_oldest_wait_seconds{quota=\"a\"} 0.5");
    assertThat(registry.scrape())
        .contains("fairway_waiting{quota=\"b\"} 7.0")
        .doesNotContain("fairway_waiting{quota=\"a\"}", "fairway_waiting{quota=\"other\"}");
  }

  @Test
  void shouldTellOfARemovedQuotaOnlyWhatIsLeftOfIt() {
    // given: one with an open lease, one whose leases may only be settled late, and one that holds
    List<QuotaSnapshot> quotas =
        List.of(
            snapshot("held", 0, 1, true),
            snapshot("gone", 0, 0, true),
            snapshot("live", 0, 0, false));

    // when
    JsonNode told = StatusJson.status(true, 1, 4, quotas).path("quotas");
    JsonNode definitions = StatusJson.definitions(quotas, null, 1).path("definitions");

    // then
    assertThat(told.findValuesAsText("id")).containsExactly("held", "live");
    assertThat(told.findValuesAsText("state")).containsExactly("REMOVED", "ACTIVE");
    assertThat(definitions).hasSize(1);
    assertThat(definitions.get(0).path("id").asText()).isEqualTo("live");
  }

  @Test
  void shouldTellUnknownAsNull() {
    String json = StatusJson.status(true, 1, 4, List.of(snapshot("a", 2))).toString();
    assertThat(json)
        .isEqualTo(
            "{\"ready\":true,\"partitions_owned\":1,\"partitions\":4,\"engine_version\":\"1\","
                + "\"quotas\":[{\"id\":\"a\",\"at_ms\":1000,"
                + "\"levels\":{\"requests\":-2},\"caps\":{},\"margin\":0.85,\"margin_mode\":\"RATE\","
                + "\"state\":\"ACTIVE\",\"open_leases\":1,\"waiting\":2,\"reserved\":{},"
                + "\"outside_rate\":{\"requests\":3},"
                + "\"hold_until_ms\":null,\"hold_reason\":null,\"breaker\":\"CLOSED\","
                + "\"breaker_until_ms\":null,\"pace\":1.0,\"virtual_time\":9,"
                + "\"alerts\":[{\"kind\":\"OUTSIDE_USE\",\"subject\":\"requests\",\"raised_at_ms\":7}],"
                + "\"oldest_wait_ms\":500}]}");
  }

  private void handled(Map<Row.RowId, Row> rows, Event... events) {
    metrics.handled(new Command.Tick(), new Handled("k", 1, 0, 5, List.of(events), rows), 1_000);
  }

  private static Event.LeaseSettled settled(
      Settlement.Outcome outcome, long actual, long adjusted) {
    return new Event.LeaseSettled(
        "q",
        "r",
        "a",
        "l",
        outcome,
        Amounts.of(Dimension.INPUT_TOKENS, actual),
        Amounts.of(Dimension.INPUT_TOKENS, adjusted),
        0,
        false,
        null,
        null,
        null,
        Event.Shift.NONE);
  }

  private static Lease lease(long appendedAtMs) {
    LeaseRequest request =
        new LeaseRequest(
            "r",
            "a",
            "q",
            null,
            "worker",
            "batch",
            null,
            0,
            null,
            new LeaseRequest.Estimate(1L, 0, null, null, ""),
            null,
            null,
            null,
            null);
    return new Lease(
        request,
        "",
        appendedAtMs,
        9,
        "lease",
        1,
        Lease.Status.OPEN,
        4_000,
        9_000,
        null,
        Amounts.NONE,
        Told.NOTHING,
        false,
        1,
        1_000,
        0,
        0,
        false,
        0,
        new Forecast(1, 0),
        200,
        false,
        Standing.of(new Claims("default", "worker", "batch"), null, null),
        Taken.NOTHING);
  }

  private static QuotaSnapshot snapshot(String id, int waiting) {
    return snapshot(id, waiting, 1, false);
  }

  private static QuotaSnapshot snapshot(String id, int waiting, int openLeases, boolean removed) {
    QuotaDefinition any = new RandomValues(new Random(1)).definition();
    QuotaDefinition definition =
        new QuotaDefinition(
            id,
            any.provider(),
            any.preset(),
            any.models(),
            any.also(),
            any.window(),
            any.limits(),
            any.depth(),
            any.level(),
            any.margin(),
            any.leaseTtlMs(),
            any.maxQueueWaitMs(),
            any.outputReservation(),
            any.defaultEstimate(),
            any.outputBurndown(),
            any.cacheReadsCount(),
            any.lateSettlementWindowMs(),
            any.queueMax(),
            any.queueMaxPerAgent(),
            any.budgets(),
            any.classes(),
            any.tenants(),
            any.roles(),
            null,
            QuotaDefinition.State.ACTIVE,
            any.clearCount());
    return new QuotaSnapshot(
        definition,
        1_000,
        Amounts.of(Dimension.REQUESTS, -waiting),
        Amounts.NONE,
        8_500,
        QuotaDefinition.MarginModeName.RATE,
        openLeases,
        waiting,
        9,
        Amounts.NONE,
        Amounts.of(Dimension.REQUESTS, 3),
        null,
        null,
        500L,
        List.of(new Row.AlertRow(id, AlertKind.OUTSIDE_USE, "requests", 7)),
        BreakerState.NONE,
        removed);
  }

  private static Event expired(String quota) {
    return new Event.LeaseExpired(quota, "r", "a", "l", 0, null, Amounts.NONE, Event.Shift.NONE);
  }
}
