package dev.fairway.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.AdmissionEngine.Placed;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.WaitsFor;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Lease;
import dev.fairway.admission.engine.state.Waiter;
import dev.fairway.admission.mapping.QuotaMapper;
import dev.fairway.schemas.ProtocolData;
import dev.fairway.schemas.Quota;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.io.JsonEncoder;

/** What holds now, as JSON. Unknown is null, never left out. */
final class StatusJson {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private StatusJson() {}

  /**
   * What holds now. A removed quota is there as long as it has leases, or requests in line.
   *
   * @param owned partitions that this process decides for: quotas of the others are not here
   * @param partitions partitions that there are
   */
  static ObjectNode status(boolean ready, int owned, int partitions, List<QuotaSnapshot> quotas) {
    ObjectNode status = JSON.objectNode();
    status.put("ready", ready);
    status.put("partitions_owned", owned);
    status.put("partitions", partitions);
    status.put("engine_version", AdmissionEngine.VERSION);
    ArrayNode list = status.putArray("quotas");
    quotas.stream().filter(quota -> !quota.gone()).forEach(quota -> list.add(quota(quota)));
    return status;
  }

  static ObjectNode leases(List<Lease> leases, long nowMs) {
    ObjectNode answer = JSON.objectNode();
    answer.put("at_ms", nowMs);
    ArrayNode list = answer.putArray("leases");
    leases.forEach(lease -> list.add(lease(lease)));
    return answer;
  }

  static ObjectNode queue(List<Placed> waiting, long nowMs) {
    ObjectNode answer = JSON.objectNode();
    answer.put("at_ms", nowMs);
    ArrayNode list = answer.putArray("queue");
    waiting.forEach(placed -> list.add(waiter(placed, nowMs)));
    return answer;
  }

  /**
   * The definitions that are decided by, each in Avro's JSON form of the {@code Quota} record.
   *
   * @param quotaId null: of all quotas
   */
  static ObjectNode definitions(List<QuotaSnapshot> quotas, String quotaId, long nowMs) {
    ObjectNode answer = JSON.objectNode();
    answer.put("at_ms", nowMs);
    ArrayNode list = answer.putArray("definitions");
    quotas.stream()
        .filter(quota -> !quota.removed())
        .map(QuotaSnapshot::definition)
        .filter(definition -> quotaId == null || quotaId.equals(definition.id()))
        .forEach(definition -> list.add(definition(QuotaMapper.toAvro(definition))));
    return answer;
  }

  private static JsonNode definition(Quota from) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    try {
      JsonEncoder encoder = EncoderFactory.get().jsonEncoder(Quota.getClassSchema(), text);
      ProtocolData.writer(Quota.class).write(from, encoder);
      encoder.flush();
      return MAPPER.readTree(text.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException("Memory took no bytes", e);
    }
  }

  private static ObjectNode quota(QuotaSnapshot from) {
    ObjectNode quota = JSON.objectNode();
    quota.put("id", from.definition().id());
    quota.put("at_ms", from.atMs());
    quota.set("levels", amounts(from.levels()));
    quota.set("caps", amounts(from.caps()));
    quota.put("margin", from.marginBp() / 10_000.0);
    quota.put("margin_mode", from.marginMode().name());
    quota.put("state", from.removed() ? "REMOVED" : from.definition().state().name());
    quota.put("open_leases", from.openLeases());
    quota.put("waiting", from.waiting());
    quota.set("reserved", amounts(from.reserved()));
    quota.set("outside_rate", amounts(from.outsideRate()));
    quota.put("hold_until_ms", from.holdUntilMs());
    quota.put("hold_reason", from.holdReason() == null ? null : from.holdReason().name());
    quota.put("breaker", from.breaker().phase().name());
    quota.put("breaker_until_ms", from.breaker().isOpen() ? (Long) from.breaker().untilMs() : null);
    quota.put("pace", from.paceBp() / 10_000.0);
    quota.put("virtual_time", from.virtualTime());
    ArrayNode alerts = quota.putArray("alerts");
    from.alerts()
        .forEach(
            alert ->
                alerts
                    .addObject()
                    .put("kind", alert.kind().name())
                    .put("subject", alert.subject())
                    .put("raised_at_ms", alert.raisedAtMs()));
    quota.put(
        "oldest_wait_ms",
        from.oldestEnqueuedAtMs() == null
            ? null
            : Long.valueOf(Math.max(0, from.atMs() - from.oldestEnqueuedAtMs())));
    return quota;
  }

  private static ObjectNode lease(Lease from) {
    ObjectNode lease = JSON.objectNode();
    lease.put("quota", from.request().quotaId());
    lease.put("lease", from.leaseId());
    lease.put("request", from.request().requestId());
    lease.put("agent", from.request().agentId());
    lease.put("role", from.request().role());
    lease.put("attempt", from.attempt());
    lease.put("granted_at_ms", from.grantedAtMs());
    lease.put("expires_at_ms", from.expiresAtMs());
    lease.set("charged", amounts(from.charged()));
    return lease;
  }

  private static ObjectNode waiter(Placed placed, long nowMs) {
    Waiter from = placed.waiter();
    ObjectNode waiter = JSON.objectNode();
    waiter.put("quota", from.request().quotaId());
    waiter.put("position", placed.position());
    waiter.put("request", from.request().requestId());
    waiter.put("agent", from.request().agentId());
    waiter.put("role", from.request().role());
    waiter.put("attempt", from.attempt());
    waiter.put("waited_ms", Math.max(0, nowMs - from.enqueuedAtMs()));
    waiter.put("told_eta_ms", from.toldEtaMs());
    waiter.set("waits_for", waitsFor(placed.waitsFor()));
    waiter.put("deadline_ms", from.deadlineMs());
    waiter.set("estimate", amounts(from.estimate()));
    return waiter;
  }

  private static JsonNode waitsFor(WaitsFor from) {
    if (from == null) {
      return JSON.nullNode();
    }
    ObjectNode waitsFor = JSON.objectNode();
    waitsFor.put("reason", from.reason().name());
    waitsFor.put("quota", from.quotaId());
    waitsFor.put("dimension", from.dimension() == null ? null : from.dimension().wireName());
    return waitsFor;
  }

  private static ObjectNode amounts(Amounts from) {
    ObjectNode amounts = JSON.objectNode();
    for (Dimension dimension : Dimension.values()) {
      if (from.has(dimension)) {
        amounts.put(dimension.wireName(), from.get(dimension));
      }
    }
    return amounts;
  }
}
