package dev.fairway.agent.gateway;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
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
import dev.fairway.agent.gateway.LeaseTicket.Again;
import dev.fairway.agent.gateway.LeaseTicket.Report;
import dev.fairway.agent.gateway.LeaseTicket.Status;
import dev.fairway.agent.gateway.LeaseTicket.View;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.WaitsFor;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpFields;

/**
 * Fairway's own calls, for agents in any language: leases here, tasks and the gateway's modes
 * beside it. {@code docs/openapi.yaml} describes them. Thread-safe; nothing here blocks.
 */
final class LeaseApi {
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();
  private static final String LEASES = "/v1/leases";
  private static final String TASKS = "/v1/tasks";
  private static final String IDEMPOTENCY_KEY = "idempotency-key";
  private static final String SETTLE = "/settle";
  private static final Duration WAIT_MAX = Duration.ofSeconds(60);

  /** Clear of the 24 h beyond which the coordinator takes a deadline to be absurd. */
  private static final Duration DEADLINE_MAX = Duration.ofHours(23);

  private static final Set<Outcome> REPORTED =
      EnumSet.of(
          Outcome.IN_PROGRESS,
          Outcome.SUCCEEDED,
          Outcome.RATE_LIMITED,
          Outcome.OVERLOADED,
          Outcome.FAILED_AFTER_SEND,
          Outcome.NOT_SENT,
          Outcome.CANCELLED);

  /**
   * An answer.
   *
   * @param retryAfter may be null
   * @param allow methods that the path takes, of a 405; else null
   * @param sent to be told, once, whether the answer is out: true once its last byte is written
   */
  record Answer(
      int status, ObjectNode body, Duration retryAfter, String allow, Consumer<Boolean> sent) {
    Answer(int status, ObjectNode body, Duration retryAfter) {
      this(status, body, retryAfter, null, out -> {});
    }
  }

  private final TaskApi tasks;
  private final LeaseDesk desk;
  private final ModesApi modes;
  private final Duration holdMax;

  LeaseApi(TaskApi tasks, LeaseDesk desk, ModesApi modes, Duration holdMax) {
    this.tasks = tasks;
    this.desk = desk;
    this.modes = modes;
    this.holdMax = holdMax;
  }

  /** Whether a path is one of these calls. */
  static boolean isOwn(String path) {
    return isOfLeases(path) || path.equals(TASKS) || ModesApi.isOwn(path);
  }

  /** Whether a path is one of leases, which are settled also while the gateway stops. */
  static boolean isOfLeases(String path) {
    return path.equals(LEASES) || path.startsWith(LEASES + "/");
  }

  /**
   * Handles a call.
   *
   * @param gone completes if the caller hangs up: then nothing is waited for any more
   */
  CompletableFuture<Answer> handle(
      String method,
      String path,
      String query,
      HttpFields headers,
      byte[] body,
      Caller caller,
      CompletableFuture<Void> gone) {
    try {
      if (path.equals(LEASES)) {
        return method.equals("POST")
            ? ask(headers, read(body), caller, gone)
            : done(notAllowed("Expected POST to ask for a lease", method, "POST"));
      }
      if (path.equals(TASKS)) {
        return method.equals("POST")
            ? tasks.handle(ApiInput.of(read(body)), caller)
            : done(notAllowed("Expected POST to tell of tasks", method, "POST"));
      }
      if (ModesApi.isOwn(path)) {
        return modes.handle(method, path, body, caller);
      }
      return ofTicket(method, path, query, body, caller, gone);
    } catch (BadInputException e) {
      return done(error(400, e.getMessage(), null));
    } catch (IllegalArgumentException e) {
      return done(error(400, e.getMessage(), null));
    }
  }

  // ---- leases

  /** Gives no lease any more; those that are held go on. */
  void drain() {
    desk.drain();
  }

  private CompletableFuture<Answer> ask(
      HttpFields headers, ObjectNode body, Caller caller, CompletableFuture<Void> gone)
      throws BadInputException {
    ApiInput in = ApiInput.of(body);
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
    Long deadlineMs = in.longOrNull("deadline_ms", 1, DEADLINE_MAX.toMillis());
    if (deadlineMs != null) {
      Duration deadline = Duration.ofMillis(deadlineMs);
      Duration givenUp = deadline.plusMillis(Line.HOLD_SLACK_MS);
      call.deadline(Instant.now().plus(deadline));
      call.timeout(givenUp.compareTo(holdMax) < 0 ? givenUp : holdMax);
    }
    Long waitMs = in.longOrNull("wait_ms");
    in.end();
    Again again = again(headers.get(IDEMPOTENCY_KEY), body, asker);
    LeaseTicket ticket = desk.ask(caller.name(), again, call);
    if (ticket == null) {
      return done(
          desk.isDraining()
              ? stopping()
              : error(503, "The gateway keeps as many leases as it may.", Duration.ofSeconds(1)));
    }
    if (again != null && !again.equals(ticket.again)) {
      return done(
          error(
              409,
              "Expected a new idempotency key, but found that of another request. Send the same one"
                  + " with the same fields alone.",
              null));
    }
    return waited(ticket, waitMs, gone, again == null);
  }

  /** Null where the asker has no name for its request by which it may ask again. */
  private static Again again(String key, ObjectNode body, Asker asker) throws BadInputException {
    if (key == null) {
      return null;
    }
    if (!PlaceBook.isKey(key)) {
      throw new BadInputException(Trouble.noKey(key).message());
    }
    String asked = body.deepCopy().without("wait_ms").toString();
    return new Again(key, CallBody.hash(asked + asker));
  }

  private CompletableFuture<Answer> ofTicket(
      String method,
      String path,
      String query,
      byte[] body,
      Caller caller,
      CompletableFuture<Void> gone)
      throws BadInputException {
    String rest = path.startsWith(LEASES + "/") ? path.substring(LEASES.length() + 1) : "";
    boolean settling = rest.endsWith(SETTLE) && method.equals("POST");
    String id = settling ? rest.substring(0, rest.length() - SETTLE.length()) : rest;
    LeaseTicket ticket = desk.find(caller.name(), id);
    if (ticket == null) {
      return done(
          error(
              404,
              "Expected the id of a lease that was asked for here, and POST to settle it, GET to look,"
                  + " or DELETE to withdraw it.",
              null));
    }
    if (settling) {
      return reported(ticket, report(ApiInput.of(read(body))));
    }
    if (method.equals("GET")) {
      return waited(ticket, waitMs(query), gone, false);
    }
    if (method.equals("DELETE")) {
      return reported(ticket, Report.WITHDRAWN);
    }
    return done(notAllowed("Expected GET, DELETE, or POST to /settle", method, "GET, DELETE"));
  }

  /**
   * Answers once it is decided.
   *
   * @param unknown whether the asker has no other way to the ticket than this answer
   */
  private CompletableFuture<Answer> waited(
      LeaseTicket ticket, Long waitMs, CompletableFuture<Void> gone, boolean unknown) {
    Duration wait = Duration.ofMillis(waitMs == null ? 0 : waitMs);
    return ticket
        .decided(wait.compareTo(WAIT_MAX) > 0 ? WAIT_MAX : wait, gone)
        .thenApply(
            decided -> {
              View view = ticket.tell();
              if (view == null) {
                return stopping();
              }
              Answer answer = answer(view);
              return new Answer(
                  answer.status(),
                  answer.body(),
                  answer.retryAfter(),
                  answer.allow(),
                  out -> {
                    ticket.told(view, out);
                    if (!out && unknown) {
                      ticket.report(Report.WITHDRAWN);
                    }
                  });
            });
  }

  private static CompletableFuture<Answer> reported(LeaseTicket ticket, Report report) {
    boolean taken = ticket.report(report);
    return done(taken ? answer(ticket.view()) : notTaken(ticket.view()));
  }

  private static Report report(ApiInput in) throws BadInputException {
    Outcome outcome = in.constant("outcome", Outcome.class, REPORTED);
    boolean requeue = in.bool("requeue", false);
    if (requeue && outcome != Outcome.RATE_LIMITED) {
      throw new BadInputException(
          "Expected requeue with outcome RATE_LIMITED alone, but found it with "
              + outcome
              + ". Settle without it; to call again, ask for a new lease, with retry_of.");
    }
    Long named = in.longOrNull("attempt", 1, Integer.MAX_VALUE);
    Integer attempt = named == null ? null : (Integer) named.intValue();
    UsageReport usage = usage(in.objectOrNull("usage"));
    ApiInput told = in.objectOrNull("signal");
    Duration sinceSent = ApiSignal.sinceSent(told);
    Duration sinceAnswered = ApiSignal.sinceAnswered(told);
    ProviderSignal signal = ApiSignal.of(told);
    in.end();
    return new Report(outcome, requeue, attempt, usage, signal, sinceSent, sinceAnswered);
  }

  private static Answer notTaken(View view) {
    return error(
        409,
        "Expected a report on a lease that is granted and not settled otherwise, but it is "
            + view.status()
            + (view.outcome() == null ? "" : " as " + view.outcome())
            + (view.grant() == null ? "" : ", attempt " + view.attempt())
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
      body.put("attempt", view.attempt());
    }
    if (view.status() == Status.GRANTED) {
      body.put("expires_in_ms", view.leftMs());
      body.set("charged", charge(view.grant().charged()));
    }
    if (view.status() == Status.QUEUED && view.place() != null) {
      body.put("position", view.place().position());
      body.put("eta_ms", view.place().eta().toMillis());
      view.place().etaP90().ifPresent(eta -> body.put("eta_p90_ms", eta.toMillis()));
      view.place().waitsFor().ifPresent(waitsFor -> body.set("waits_for", waitsFor(waitsFor)));
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

  private static ObjectNode waitsFor(WaitsFor waitsFor) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    node.put("reason", waitsFor.getReason().name());
    node.put("quota", waitsFor.getQuota());
    node.put("dimension", waitsFor.getDimension());
    return node;
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

  // ---- in and out

  /** For who closed its side while it waited: if that was all that it closed, it reads this. */
  static Answer hungUp() {
    return error(
        400,
        "Expected a client that keeps its side of the connection open until it has its answer, but"
            + " found that it closed it. It is told of no lease by this.",
        null);
  }

  private static Answer stopping() {
    return error(
        503,
        "The gateway is stopping and gives no lease any more; what waited in line here is withdrawn."
            + " Ask another gateway, or this one again when it is back.",
        Duration.ofSeconds(1));
  }

  static Answer error(int status, String message, Duration retryAfter) {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("error").put("message", message);
    return new Answer(status, body, retryAfter);
  }

  private static Answer notAllowed(String expected, String method, String allow) {
    Answer error = error(405, expected + ", but found " + CallPlanner.shown(method) + ".", null);
    return new Answer(405, error.body(), null, allow, error.sent());
  }

  static ObjectNode read(byte[] body) throws BadInputException {
    try {
      if (JSON.readTree(body) instanceof ObjectNode object) {
        return object;
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
