package dev.fairway.admission;

import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.breaker.BreakerState;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;

/** Gauges of what holds for each quota, renewed before a scrape. Thread-safe. */
final class QuotaGauges {
  private final QuotaLabels labels;
  private final MultiGauge balance;
  private final MultiGauge cap;
  private final MultiGauge reserved;
  private final MultiGauge margin;
  private final MultiGauge openLeases;
  private final MultiGauge waiting;
  private final MultiGauge oldestWait;
  private final MultiGauge held;
  private final MultiGauge outside;
  private final MultiGauge alerts;
  private final MultiGauge breaker;
  private final MultiGauge pace;

  QuotaGauges(MeterRegistry registry, QuotaLabels labels) {
    this.labels = labels;
    balance = gauge(registry, "fairway.balance", "Usable balance, negative in debt");
    cap = gauge(registry, "fairway.balance.cap", "Highest balance at the present margin");
    reserved = gauge(registry, "fairway.reserved", "What open leases hold");
    margin = gauge(registry, "fairway.margin", "Share of the limit that is used");
    openLeases = gauge(registry, "fairway.leases.open", "Leases neither settled nor reaped");
    waiting = gauge(registry, "fairway.waiting", "Requests in line");
    oldestWait = gauge(registry, "fairway.oldest.wait.seconds", "Wait of who waits longest");
    held = gauge(registry, "fairway.held", "1 while the quota grants nothing because of a hold");
    outside = gauge(registry, "fairway.outside.rate", "What others take of a limit, per minute");
    alerts = gauge(registry, "fairway.alerts", "Alerts that are raised");
    breaker =
        gauge(
            registry,
            "fairway.breaker.state",
            "0 closed, 1 open with a probe in flight, 2 open and waiting");
    pace = gauge(registry, "fairway.pace", "Pace of grants after a pause, as a share of the rate");
  }

  private static MultiGauge gauge(MeterRegistry registry, String name, String description) {
    return MultiGauge.builder(name).description(description).register(registry);
  }

  /**
   * Replaces all values; quotas without a label of their own are summed up where a sum says
   * something.
   */
  synchronized void renew(List<QuotaSnapshot> quotas) {
    List<QuotaSnapshot> own = new ArrayList<>();
    long otherLeases = 0;
    long otherWaiting = 0;
    for (QuotaSnapshot quota : quotas) {
      if (labels.of(quota.definition().id()).equals(QuotaLabels.OTHER)) {
        otherLeases += quota.openLeases();
        otherWaiting += quota.waiting();
      } else {
        own.add(quota);
      }
    }
    amounts(balance, own, QuotaSnapshot::levels);
    amounts(cap, own, QuotaSnapshot::caps);
    amounts(reserved, own, QuotaSnapshot::reserved);
    numbers(margin, own, quota -> quota.marginBp() / 10_000.0, null);
    numbers(openLeases, own, QuotaSnapshot::openLeases, otherLeases);
    numbers(waiting, own, QuotaSnapshot::waiting, otherWaiting);
    numbers(oldestWait, own, QuotaGauges::oldestWaitSeconds, null);
    numbers(held, own, quota -> quota.holdReason() == null ? 0 : 1, null);
    amounts(outside, own, QuotaSnapshot::outsideRate);
    numbers(alerts, own, quota -> quota.alerts().size(), null);
    numbers(breaker, own, quota -> breakerState(quota.breaker().phase()), null);
    numbers(pace, own, quota -> quota.paceBp() / 10_000.0, null);
  }

  private static int breakerState(BreakerState.Phase phase) {
    switch (phase) {
      case OPEN:
        return 2;
      case HALF_OPEN:
        return 1;
      default:
        return 0;
    }
  }

  private static double oldestWaitSeconds(QuotaSnapshot quota) {
    return quota.oldestEnqueuedAtMs() == null
        ? 0
        : Math.max(0, quota.atMs() - quota.oldestEnqueuedAtMs()) / 1_000.0;
  }

  private interface Value {
    double of(QuotaSnapshot quota);
  }

  private interface Several {
    Amounts of(QuotaSnapshot quota);
  }

  private static void numbers(
      MultiGauge gauge, List<QuotaSnapshot> quotas, Value value, Long other) {
    List<Row<?>> rows = new ArrayList<>();
    for (QuotaSnapshot quota : quotas) {
      rows.add(Row.of(Tags.of("quota", quota.definition().id()), value.of(quota)));
    }
    if (other != null && other > 0) {
      rows.add(Row.of(Tags.of("quota", QuotaLabels.OTHER), other));
    }
    gauge.register(rows, true);
  }

  private static void amounts(MultiGauge gauge, List<QuotaSnapshot> quotas, Several several) {
    List<Row<?>> rows = new ArrayList<>();
    for (QuotaSnapshot quota : quotas) {
      Amounts amounts = several.of(quota);
      for (Dimension dimension : Dimension.values()) {
        if (amounts.has(dimension)) {
          rows.add(
              Row.of(
                  Tags.of("quota", quota.definition().id(), "dimension", dimension.wireName()),
                  amounts.get(dimension)));
        }
      }
    }
    gauge.register(rows, true);
  }
}
