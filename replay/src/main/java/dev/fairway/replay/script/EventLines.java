package dev.fairway.replay.script;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaSnapshot;
import dev.fairway.admission.engine.bucket.Amounts;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.queue.Tags;
import java.io.Closeable;
import java.io.Flushable;
import java.io.IOException;
import java.io.Writer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes events as JSON, one object a line. Fields of an event stand in one order, always; an
 * unknown value is null and never left out; amounts name the limited dimensions only. Not
 * thread-safe.
 */
public final class EventLines implements Closeable, Flushable {
  private static final double BASIS_POINTS = 10_000;
  private static final double THOUSANDTHS = 1_000;

  private final JsonGenerator json;
  private final Map<Class<? extends Event>, Body<?>> bodies = new HashMap<>();

  /** Lines go to that writer, which {@link #close} closes. */
  public EventLines(Writer out) throws IOException {
    json = new JsonFactory().setRootValueSeparator("").createGenerator(out);
    defineDecisions();
    defineLeases();
    defineQuotas();
  }

  /**
   * Writes one event. Events that only go along with a decision ({@code LeaseEnqueued}, {@code
   * SafeCapacityTold}) are not.
   */
  public void event(long atMs, Event event) throws IOException {
    if (event instanceof Event.LeaseEnqueued || event instanceof Event.SafeCapacityTold) {
      return;
    }
    json.writeStartObject();
    json.writeNumberField("at_ms", atMs);
    json.writeStringField("quota", event.quotaId());
    json.writeStringField("event", name(event));
    body(event);
    endLine();
  }

  /**
   * Writes what holds for a quota.
   *
   * @param snapshot null if there is no such quota: its state is unknown
   */
  public void show(long atMs, QuotaSnapshot snapshot) throws IOException {
    json.writeStartObject();
    json.writeNumberField("at_ms", atMs);
    json.writeFieldName("state");
    if (snapshot == null) {
      json.writeNull();
    } else {
      state(snapshot);
    }
    endLine();
  }

  /** Hands on what is buffered. */
  @Override
  public void flush() throws IOException {
    json.flush();
  }

  @Override
  public void close() throws IOException {
    json.close();
  }

  private void endLine() throws IOException {
    json.writeEndObject();
    json.writeRaw('\n');
  }

  private void state(QuotaSnapshot snapshot) throws IOException {
    Amounts limits = snapshot.definition().limits();
    json.writeStartObject();
    amounts("levels", snapshot.levels());
    share("margin", snapshot.marginBp());
    json.writeStringField("margin_mode", snapshot.marginMode().name());
    json.writeNumberField("leases", snapshot.openLeases());
    json.writeNumberField("waiting", snapshot.waiting());
    tokens("virtual_time", snapshot.virtualTime());
    amounts("reserved", snapshot.reserved());
    json.writeObjectFieldStart("outside_rate");
    for (Dimension d : Dimension.values()) {
      if (limits.has(d) && d.refills()) {
        number(d.wireName(), snapshot.outsideRate().orNull(d));
      }
    }
    json.writeEndObject();
    json.writeEndObject();
  }

  private void defineDecisions() {
    define(
        Event.LeaseGranted.class,
        e -> {
          string("request", e.requestId());
          string("lease", e.leaseId());
          amounts("charged", e.charged());
          json.writeNumberField("expires_at_ms", e.expiresAtMs());
        });
    define(
        Event.WaiterReweighted.class,
        e -> {
          string("request", e.requestId());
          string("reason", e.reason().name());
          json.writeNumberField("weight", e.weightMilli() / 1000.0);
        });
    define(
        Event.TaskUpdated.class,
        e -> {
          string("task", e.taskId());
          string("task_state", e.state().name());
          strings("blocked_on", e.blockedOn());
        });
    define(
        Event.LeaseQueued.class, e -> queued(e.requestId(), e.position(), e.etaMs(), e.etaP90Ms()));
    define(
        Event.EtaRevised.class, e -> queued(e.requestId(), e.position(), e.etaMs(), e.etaP90Ms()));
    define(
        Event.LeaseRejected.class,
        e -> {
          string("request", e.requestId());
          string("reason", e.reason().name());
          number("retry_at_ms", e.retryAtMs());
          string("detail", e.detail());
        });
    define(
        Event.DecisionRepeated.class,
        e -> {
          string("decision", name(e.decision()));
          body(e.decision());
        });
  }

  private void defineLeases() {
    define(
        Event.LeaseRenewed.class,
        e -> {
          string("request", e.requestId());
          string("lease", e.leaseId());
          amounts("adjusted", e.adjusted());
          json.writeNumberField("expires_at_ms", e.expiresAtMs());
        });
    define(
        Event.LeaseSettled.class,
        e -> {
          string("request", e.requestId());
          string("lease", e.leaseId());
          string("outcome", e.outcome().name());
          amounts("adjusted", e.adjusted());
          json.writeBooleanField("late", e.late());
        });
    define(
        Event.LeaseExpired.class,
        e -> {
          string("request", e.requestId());
          string("lease", e.leaseId());
          if (!e.adjusted().isEmpty()) {
            amounts("adjusted", e.adjusted());
          }
        });
    define(
        Event.LeaseCancelled.class,
        e -> {
          string("request", e.requestId());
          json.writeBooleanField("was_waiting", e.wasWaiting());
        });
    define(Event.RequestIgnored.class, e -> string("request", e.requestId()));
    define(
        Event.UnleasedCharged.class,
        e -> {
          string("request", e.requestId());
          amounts("charged", e.charged());
        });
    define(
        Event.DuplicateIgnored.class,
        e -> {
          string("request", e.requestId());
          string("lease", e.leaseId());
        });
    define(
        Event.SettlementIgnored.class,
        e -> {
          string("request", e.requestId());
          string("lease", e.leaseId());
          string("reason", e.reason());
        });
  }

  private void defineQuotas() {
    define(Event.QuotaDefined.class, e -> strings("not_enforced", e.notEnforced()));
    define(Event.QuotaRemoved.class, e -> {});
    define(Event.QuotaReleased.class, e -> {});
    define(
        Event.QuotaHeld.class,
        e -> {
          string("reason", e.reason().name());
          number("until_ms", e.untilMs());
        });
    define(Event.RefusalCounted.class, e -> string("lease", e.leaseId()));
    define(
        Event.BreakerOpened.class,
        e -> {
          string("cause", e.cause().name());
          json.writeNumberField("failures", e.failures());
          json.writeNumberField("probe_at_ms", e.probeAtMs());
        });
    define(
        Event.BreakerHalfOpen.class,
        e -> {
          string("lease", e.leaseId());
          json.writeNumberField("probe_until_ms", e.probeUntilMs());
        });
    define(
        Event.BreakerClosed.class,
        e -> {
          string("lease", e.leaseId());
          number("trickle_from_ms", e.trickleFromMs());
        });
    define(Event.RampStarted.class, e -> json.writeNumberField("from_ms", e.fromMs()));
    define(Event.RampEnded.class, e -> {});
    define(Event.MarginCut.class, e -> margin(e.fromBp(), e.toBp()));
    define(Event.MarginRestored.class, e -> margin(e.fromBp(), e.toBp()));
    define(
        Event.MarginModeChanged.class,
        e -> {
          string("dimension", e.dimension().wireName());
          string("from", e.from().name());
          string("to", e.to().name());
        });
    define(
        Event.SafetyFactorChanged.class,
        e -> {
          json.writeNumberField("from", e.fromMilli() / THOUSANDTHS);
          json.writeNumberField("to", e.toMilli() / THOUSANDTHS);
        });
    define(
        Event.CacheClaimChecked.class,
        e -> {
          string("agent", e.agentId());
          json.writeBooleanField("believed", e.believed());
        });
    define(
        Event.ResetLearned.class,
        e -> {
          string("dimension", e.dimension().wireName());
          json.writeNumberField("reset_at_ms", e.resetAtMs());
        });
    define(
        Event.AlertRaised.class,
        e -> {
          string("kind", e.kind().name());
          string("subject", e.subject());
          string("detail", e.detail());
        });
    define(
        Event.AlertCleared.class,
        e -> {
          string("kind", e.kind().name());
          string("subject", e.subject());
        });
    define(
        Event.LimitLearned.class,
        e -> {
          string("dimension", e.dimension().wireName());
          json.writeNumberField("limit_per_minute", e.limitPerMinute());
        });
    define(Event.LimitForgotten.class, e -> string("dimension", e.dimension().wireName()));
    define(
        Event.BucketsResynced.class,
        e -> {
          string("lease", e.leaseId());
          json.writeNumberField("sent_at_ms", e.sentAtMs());
          json.writeObjectFieldStart("dimensions");
          for (Event.Resync resync : e.dimensions()) {
            json.writeObjectFieldStart(resync.dimension().wireName());
            json.writeNumberField("before", resync.before());
            number("low", resync.low());
            json.writeNumberField("high", resync.high());
            json.writeNumberField("after", resync.after());
            number(
                "outside_rate",
                resync.outsideMilli() == null ? null : (Long) (resync.outsideMilli() / 1000));
            json.writeEndObject();
          }
          json.writeEndObject();
        });
  }

  private void queued(String requestId, int position, long etaMs, Long etaP90Ms)
      throws IOException {
    string("request", requestId);
    json.writeNumberField("position", position);
    json.writeNumberField("eta_ms", etaMs);
    number("eta_p90_ms", etaP90Ms);
  }

  private void margin(int fromBp, int toBp) throws IOException {
    share("from", fromBp);
    share("to", toBp);
  }

  private void share(String field, int basisPoints) throws IOException {
    json.writeNumberField(field, basisPoints / BASIS_POINTS);
  }

  private void amounts(String field, Amounts amounts) throws IOException {
    json.writeObjectFieldStart(field);
    for (Dimension d : Dimension.values()) {
      if (amounts.has(d)) {
        json.writeNumberField(d.wireName(), amounts.get(d));
      }
    }
    json.writeEndObject();
  }

  /** A virtual time in tokens of the reference dimension, with a fraction only if it has one. */
  private void tokens(String field, long tag) throws IOException {
    if (tag % Tags.SCALE == 0) {
      json.writeNumberField(field, tag / Tags.SCALE);
    } else {
      json.writeNumberField(field, (double) tag / Tags.SCALE);
    }
  }

  private void strings(String field, List<String> values) throws IOException {
    json.writeArrayFieldStart(field);
    for (String value : values) {
      json.writeString(value);
    }
    json.writeEndArray();
  }

  private void string(String field, String value) throws IOException {
    json.writeFieldName(field);
    json.writeString(value);
  }

  private void number(String field, Long value) throws IOException {
    if (value == null) {
      json.writeNullField(field);
    } else {
      json.writeNumberField(field, value);
    }
  }

  private static String name(Event event) {
    return event.getClass().getSimpleName();
  }

  private <E extends Event> void define(Class<E> type, Body<E> body) {
    bodies.put(type, body);
  }

  /** The map pairs each class with the body of that very class, so the cast holds. */
  @SuppressWarnings("unchecked")
  private <E extends Event> void body(E event) throws IOException {
    Body<E> body = (Body<E>) bodies.get(event.getClass());
    if (body == null) {
      throw new IllegalArgumentException("Expected an event with a line form, but found " + event);
    }
    body.write(event);
  }

  /** The fields of one kind of event, after those that all of them have. */
  @FunctionalInterface
  private interface Body<E extends Event> {
    void write(E event) throws IOException;
  }
}
