package dev.fairway.agent.gateway;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.agent.Charge;
import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.agent.gateway.ApiInput.BadInputException;
import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.agent.gateway.GatewayConfig.Mode;
import dev.fairway.agent.gateway.LeaseDesk.Status;
import dev.fairway.agent.gateway.LeaseDesk.Ticket;
import dev.fairway.agent.gateway.LeaseDesk.View;
import dev.fairway.schemas.Ids;
import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.eclipse.jetty.http.HttpFields;

/**
 * Fairway's own calls, for agents in any language: leases, tasks, and the gateway's modes. {@code
 * docs/openapi.yaml} describes them. Thread-safe; nothing here blocks.
 */
final class LeaseApi {
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();
  private static final String LEASES = "/v1/leases";
  private static final String TASKS = "/v1/tasks";
  private static final String MODES = "/fairway/modes";
  private static final String SETTLE = "/settle";
  private static final Duration WAIT_MAX = Duration.ofSeconds(60);
  private static final Set<Outcome> REPORTED =
      EnumSet.of(
          Outcome.IN_PROGRESS,
          Outcome.SUCCEEDED,
          Outcome.RATE_LIMITED,
          Outcome.OVERLOADED,
          Outcome.FAILED_AFTER_SEND,
          Outcome.NOT_SENT,
          Outcome.CANCELLED);

  /** An answer; {@code retryAfter} may be null. */
  record Answer(int status, ObjectNode body, Duration retryAfter) {}

  private final TaskApi tasks;
  private final LeaseDesk desk;
  private final Modes modes;
  private final Observations observations;
  private final Duration holdMax;

  LeaseApi(
      TaskApi tasks, LeaseDesk desk, Modes modes, Observations observations, Duration holdMax) {
    this.tasks = tasks;
    this.desk = desk;
    this.modes = modes;
    this.observations = observations;
    this.holdMax = holdMax;
  }

  /** Whether a path is one of these calls. */
  static boolean isOwn(String path) {
    return path.equals(LEASES)
        || path.startsWith(LEASES + "/")
        || path.equals(TASKS)
        || path.equals(MODES)
        || path.startsWith(MODES + "/");
  }

  /** Handles a call. */
  CompletableFuture<Answer> handle(
      String method, String path, String query, HttpFields headers, byte[] body, Caller caller) {
    try {
      if (path.equals(LEASES) && method.equals("POST")) {
        return ask(headers, ApiInput.of(read(body)), caller);
      }
      if (path.equals(TASKS) && method.equals("POST")) {
        return tasks.handle(ApiInput.of(read(body)), caller);
      }
      if (path.startsWith(MODES)) {
        return modes(method, path, body, caller);
      }
      return ofTicket(method, path, query, body, caller);
    } catch (BadInputException e) {
      return done(error(400, e.getMessage(), null));
    } catch (IllegalArgumentException e) {
      return done(error(400, e.getMessage(), null));
    }
  }

  // ---- leases

  private CompletableFuture<Answer> ask(HttpFields headers, ApiInput in, Caller caller)
      throws BadInputException {
    Asker asker = Identification.claimed(caller, headers, in);
    LeaseCall.Builder call =
        LeaseCall.of(in.quotaId("quota"))
            .member(asker.member())
            .taskId(asker.task())
            .role(asker.role())
            .leaseClass(asker.leaseClass())
            .tenant(asker.tenant())
            .repeatFailures(asker.repeatFailures())
            .retryOf(in.requestIdOrNull("retry_of"))
            .timeout(holdMax)
            .estimateMethod("told over HTTP");
    Long input = in.longOrNull("input_tokens", 0, UsageReport.TOKENS_MAX);
    Long output = in.longOrNull("max_output_tokens", 0, UsageReport.TOKENS_MAX);
    Long cached = in.longOrNull("cached_tokens", 0, UsageReport.TOKENS_MAX);
    Long cacheEnd = in.longOrNull("cache_expires_at_ms");
    Long unblocks = in.longOrNull("unblocks", 0, Integer.MAX_VALUE);
    if (input != null) {
      call.inputTokens(input);
    }
    if (output != null) {
      call.maxOutputTokens(output);
    }
    if (cached != null) {
      call.cachedTokens(cached, cacheEnd == null ? null : Instant.ofEpochMilli(cacheEnd));
    }
    if (unblocks != null) {
      call.unblocks(unblocks.intValue());
    }
    Long waitMs = in.longOrNull("wait_ms");
    in.end();
    Ticket ticket = desk.ask(caller.name(), call);
    if (ticket == null) {
      return done(error(503, "The gateway keeps as many leases as it may.", Duration.ofSeconds(1)));
    }
    return waited(ticket, waitMs);
  }

  private CompletableFuture<Answer> ofTicket(
      String method, String path, String query, byte[] body, Caller caller)
      throws BadInputException {
    String rest = path.startsWith(LEASES + "/") ? path.substring(LEASES.length() + 1) : "";
    boolean settling = rest.endsWith(SETTLE) && method.equals("POST");
    String id = settling ? rest.substring(0, rest.length() - SETTLE.length()) : rest;
    Ticket ticket = desk.find(caller.name(), id);
    if (ticket == null) {
      return done(
          error(
              404,
              "Expected the id of a lease that was asked for here, and POST to settle it, GET to look,"
                  + " or DELETE to withdraw it.",
              null));
    }
    if (settling) {
      return settle(ticket, ApiInput.of(read(body)));
    }
    if (method.equals("GET")) {
      return waited(ticket, waitMs(query));
    }
    if (method.equals("DELETE")) {
      ticket.cancel();
      return done(answer(ticket.look()));
    }
    return done(error(405, "Expected GET, DELETE, or POST to /settle.", null));
  }

  private CompletableFuture<Answer> waited(Ticket ticket, Long waitMs) {
    Duration wait = Duration.ofMillis(waitMs == null ? 0 : waitMs);
    return desk.decided(ticket, wait.compareTo(WAIT_MAX) > 0 ? WAIT_MAX : wait)
        .thenApply(done -> answer(ticket.look()));
  }

  private CompletableFuture<Answer> settle(Ticket ticket, ApiInput in) throws BadInputException {
    Outcome outcome = in.constant("outcome", Outcome.class, REPORTED);
    boolean requeue = in.bool("requeue", false);
    Long named = in.longOrNull("attempt", 1, Integer.MAX_VALUE);
    Integer attempt = named == null ? null : (Integer) named.intValue();
    UsageReport usage = usage(in.objectOrNull("usage"));
    ProviderSignal signal = ApiSignal.of(in.objectOrNull("signal"));
    in.end();
    boolean taken;
    if (outcome == Outcome.IN_PROGRESS) {
      taken = ticket.renew(attempt, usage, signal);
    } else if (outcome == Outcome.CANCELLED) {
      ticket.cancel();
      taken = true;
    } else if (outcome == Outcome.RATE_LIMITED && requeue) {
      taken = ticket.requeue(attempt, signal);
    } else {
      taken = ticket.settle(attempt, outcome, usage, signal);
    }
    return done(taken ? answer(ticket.look()) : notTaken(ticket.peek()));
  }

  private static Answer notTaken(View view) {
    return error(
        409,
        "Expected a report on a lease that is granted and not settled otherwise, but it is "
            + view.status()
            + (view.outcome() == null ? "" : " as " + view.outcome())
            + (view.grant() == null ? "" : ", attempt " + view.grant().attempt())
            + ".",
        null);
  }

  private static UsageReport usage(ApiInput in) throws BadInputException {
    if (in == null) {
      return null;
    }
    UsageReport report =
        new UsageReport(
            in.longOrNull("input_tokens", 0, UsageReport.TOKENS_MAX),
            in.longOrNull("cache_read_tokens", 0, UsageReport.TOKENS_MAX),
            in.longOrNull("cache_write_tokens", 0, UsageReport.TOKENS_MAX),
            in.longOrNull("output_tokens", 0, UsageReport.TOKENS_MAX),
            in.bool("exact", true));
    in.end();
    return report;
  }

  private static Answer answer(View view) {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.put("id", view.id());
    body.put("status", view.status().name());
    if (view.grant() != null) {
      body.put("request_id", view.grant().requestId());
      body.put("attempt", view.grant().attempt());
    }
    if (view.status() == Status.GRANTED) {
      body.put("expires_in_ms", view.leftMs());
      body.set("charged", charge(view.grant().charged()));
    }
    if (view.status() == Status.QUEUED && view.place() != null) {
      body.put("position", view.place().position());
      body.put("eta_ms", view.place().eta().toMillis());
      view.place().etaP90().ifPresent(eta -> body.put("eta_p90_ms", eta.toMillis()));
    }
    if (view.outcome() != null) {
      body.put("outcome", view.outcome().name());
    }
    if (view.refused() == null) {
      return new Answer(view.status() == Status.QUEUED ? 202 : 200, body, null);
    }
    RefusedException refused = view.refused();
    body.put("request_id", refused.requestId());
    body.put("reason", refused.reason() == null ? null : refused.reason().name());
    body.put("message", refused.getMessage());
    body.put(
        "retry_after_ms",
        refused.retryAfter() == null ? null : (Long) refused.retryAfter().toMillis());
    return new Answer(200, body, refused.retryAfter());
  }

  private static ObjectNode charge(Charge charge) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    node.put("requests", charge.requests());
    node.put("input_tokens", charge.inputTokens());
    node.put("output_tokens", charge.outputTokens());
    node.put("tokens", charge.tokens());
    node.put("concurrent_requests", charge.concurrentRequests());
    return node;
  }

  // ---- modes

  private CompletableFuture<Answer> modes(String method, String path, byte[] body, Caller caller)
      throws BadInputException {
    if (!caller.operator()) {
      return done(error(403, "Expected a caller that is an operator.", null));
    }
    if (path.equals(MODES) && method.equals("GET")) {
      ObjectNode answer = JsonNodeFactory.instance.objectNode();
      answer.put("mode", modes.standard().name());
      ObjectNode quotas = answer.putObject("quotas");
      modes.all().forEach((quota, mode) -> quotas.put(quota, mode.name()));
      ObjectNode observed = answer.putObject("observed");
      observations
          .all()
          .forEach(
              (quota, sums) ->
                  observed
                      .putObject(quota)
                      .put("calls", sums.calls())
                      .put("rate_limited", sums.rateLimited())
                      .put("rate_limited_admitted", sums.rateLimitedAdmitted())
                      .put("rate_limited_tokens", sums.rateLimitedTokens()));
      return done(new Answer(200, answer, null));
    }
    String quota = path.substring(Math.min(path.length(), MODES.length() + 1));
    if (!method.equals("PUT") || !Ids.isQuotaId(quota)) {
      return done(
          error(
              404,
              "Expected GET " + MODES + ", or PUT " + MODES + "/{quota id} to set one.",
              null));
    }
    if (!modes.isOfARoute(quota)) {
      return done(error(404, "Expected the quota of a route, but found '" + quota + "'.", null));
    }
    ApiInput in = ApiInput.of(read(body));
    Mode mode = in.constant("mode", Mode.class, EnumSet.allOf(Mode.class));
    in.end();
    if (!modes.hasRoomFor(quota)) {
      return done(error(503, "Too many quotas have a mode of their own.", null));
    }
    return modes
        .set(quota, mode)
        .handle(
            (done, failure) -> {
              if (failure != null) {
                Throwable why = failure.getCause() == null ? failure : failure.getCause();
                return error(503, "The switch was not taken: " + why.getMessage(), null);
              }
              ObjectNode answer = JsonNodeFactory.instance.objectNode();
              answer.put("quota", quota);
              answer.put("mode", mode.name());
              return new Answer(200, answer, null);
            });
  }

  // ---- in and out

  static Answer error(int status, String message, Duration retryAfter) {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("error").put("message", message);
    return new Answer(status, body, retryAfter);
  }

  private static JsonNode read(byte[] body) throws BadInputException {
    try {
      JsonNode json = JSON.readTree(body);
      if (json != null && json.isObject()) {
        return json;
      }
    } catch (JsonProcessingException e) {
      // Told below.
    } catch (IOException e) {
      throw new IllegalStateException("bytes in memory that cannot be read", e);
    }
    throw new BadInputException(
        "Expected one JSON object as body, with each name once and nothing behind it, but found"
            + " something else.");
  }

  private static Long waitMs(String query) throws BadInputException {
    if (query == null || query.isEmpty()) {
      return null;
    }
    if (!query.matches("wait_ms=[0-9]{1,18}")) {
      throw new BadInputException("Expected wait_ms=MILLISECONDS alone in the query.");
    }
    return Long.valueOf(query.substring(query.indexOf('=') + 1));
  }

  private static CompletableFuture<Answer> done(Answer answer) {
    return CompletableFuture.completedFuture(answer);
  }
}
