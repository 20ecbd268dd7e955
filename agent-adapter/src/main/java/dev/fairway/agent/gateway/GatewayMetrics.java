package dev.fairway.agent.gateway;

import dev.fairway.agent.AdmissionClientStats;
import dev.fairway.agent.estimate.EstimateQuality;
import java.util.Locale;
import java.util.Map;

/** A gateway's counters as Prometheus reads them. */
final class GatewayMetrics {
  /** Models that get lines of their own. */
  static final int MODELS_MAX = 50;

  private final StringBuilder text = new StringBuilder();

  private GatewayMetrics() {}

  /**
   * The text.
   *
   * @param client counters of the client through which the gateway asks, or null
   * @param estimates how good estimates are, by model; of more than {@value #MODELS_MAX} the first
   */
  static String of(
      GatewayStats gateway, AdmissionClientStats client, Map<String, EstimateQuality> estimates) {
    GatewayMetrics metrics = new GatewayMetrics();
    metrics.gauge("open_calls", "Calls that the gateway has now.", gateway.open());
    metrics.counter(
        "calls",
        "Requests taken: calls, counted or not, and those of the gateway's own API.",
        gateway.calls());
    metrics.counter("uncounted_calls", "Calls passed without a lease.", gateway.uncounted());
    metrics.counter("refused_calls", "Calls answered by the gateway itself.", gateway.refused());
    metrics.counter("retries", "Calls that repeat an earlier one.", gateway.retries());
    metrics.counter("requeues", "Calls put back in line after a 429.", gateway.requeues());
    metrics.counter("retry_budgets_spent", "Calls that failed for good.", gateway.budgetsSpent());
    metrics.counter("kept_alive", "Streams that began before their grant.", gateway.keptAlive());
    metrics.counter("clients_gone", "Calls whose client hung up.", gateway.clientsGone());
    metrics.counter(
        "upstream_failures", "Calls whose upstream broke off.", gateway.upstreamFailures());
    if (client != null) {
      metrics.gauge("pending_requests", "Requests that wait.", client.pendingCalls());
      metrics.gauge("open_leases", "Leases granted and not settled.", client.openLeases());
      metrics.gauge(
          "coordinator_silent_keys",
          "Keys whose coordinator does not answer; above 0 is an alert.",
          client.silentKeys());
      metrics.counter("coordinator_silences", "How often one fell silent.", client.silences());
      metrics.counter("unleased_calls", "Calls made without a lease.", client.unleased());
      metrics.counter(
          "unreported_calls",
          "Calls made without a lease whose report was lost.",
          client.unreported());
    }
    metrics.estimates(estimates);
    return metrics.text.toString();
  }

  private void estimates(Map<String, EstimateQuality> estimates) {
    if (estimates.isEmpty()) {
      return;
    }
    head("estimate_error_p90", "gauge", "Error of input estimates, nine calls in ten, as a share.");
    estimates.entrySet().stream()
        .limit(MODELS_MAX)
        .forEach(e -> line("estimate_error_p90", e.getKey(), e.getValue().errorP90()));
    head("estimate_correction", "gauge", "Learned factor on the tokenizer's count.");
    estimates.entrySet().stream()
        .limit(MODELS_MAX)
        .forEach(e -> line("estimate_correction", e.getKey(), e.getValue().correction()));
  }

  private void line(String name, String model, double value) {
    String label = model.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    text.append(
        String.format(Locale.ROOT, "fairway_gateway_%s{model=\"%s\"} %.4f\n", name, label, value));
  }

  private void counter(String name, String help, long value) {
    head(name + "_total", "counter", help);
    text.append("fairway_gateway_").append(name).append("_total ").append(value).append('\n');
  }

  private void gauge(String name, String help, long value) {
    head(name, "gauge", help);
    text.append("fairway_gateway_").append(name).append(' ').append(value).append('\n');
  }

  private void head(String name, String type, String help) {
    text.append("# HELP fairway_gateway_").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE fairway_gateway_").append(name).append(' ').append(type).append('\n');
  }
}
