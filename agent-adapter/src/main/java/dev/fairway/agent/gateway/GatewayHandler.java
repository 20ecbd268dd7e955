package dev.fairway.agent.gateway;

import dev.fairway.agent.gateway.BodyCollector.BodyNotTakenException;
import dev.fairway.agent.gateway.CallPlanner.NotTakenException;
import dev.fairway.agent.gateway.GatewayConfig.Bounds;
import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.agent.gateway.LeaseApi.Answer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes calls: who calls, whether there is room, what the body says; then the call lives by itself.
 */
final class GatewayHandler extends Handler.Abstract.NonBlocking {
  private static final Logger log = LoggerFactory.getLogger(GatewayHandler.class);

  /** A body may come slowly, but not for ever: so many times the longest pause. */
  private static final int BODY_PAUSES_MAX = 5;

  private static final String HEALTH = "/healthz";
  private static final String METRICS = "/metrics";

  /**
   * What these ask for is between two ends of a connection; an echo would show the upstream's key.
   */
  private static final Set<String> OF_THE_CONNECTION = Set.of("TRACE", "TRACK", "CONNECT");

  private final GatewayContext context;
  private final Callers callers;
  private final CallPlanner planner;
  private final LeaseApi leases;
  private final Set<ProxiedCall> live = ConcurrentHashMap.newKeySet();
  private volatile boolean draining;

  GatewayHandler(GatewayContext context, Callers callers, CallPlanner planner, LeaseApi leases) {
    this.context = context;
    this.callers = callers;
    this.planner = planner;
    this.leases = leases;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    ApiPath path = ApiPath.of(request.getHttpURI().getPath());
    ApiFamily family = path.family();
    if (path.plain().equals(HEALTH)) {
      plain(
          response,
          callback,
          draining ? 503 : 200,
          (draining ? "draining\n" : "ok\n"),
          "text/plain");
      return true;
    }
    if (path.plain().equals(METRICS)) {
      metrics(request, response, callback, family);
      return true;
    }
    context.counters().calls.increment();
    Bounds bounds = context.config().bounds();
    boolean stopping = draining && !LeaseApi.isOfLeases(path.plain());
    if (stopping || context.counters().open.incrementAndGet() > bounds.openCalls()) {
      if (!stopping) {
        context.counters().open.decrementAndGet();
      }
      refuse(
          family,
          response,
          callback,
          Trouble.unavailable(
              stopping
                  ? "The gateway is stopping. Send the call again."
                  : "The gateway has as many calls as it may. Send the call again later.",
              Duration.ofSeconds(1)));
      return true;
    }
    Request.addCompletionListener(request, failure -> context.counters().open.decrementAndGet());
    if (OF_THE_CONNECTION.contains(request.getMethod().toUpperCase(Locale.ROOT))) {
      refuse(family, response, callback, Trouble.methodNotTaken(request.getMethod()));
      return true;
    }
    if (path.trouble() != null) {
      refuse(family, response, callback, path.trouble());
      return true;
    }
    Caller caller = callers.of(request.getHeaders());
    if (caller == null) {
      refuse(family, response, callback, Trouble.unauthorised());
      return true;
    }
    if (caller.isAnybody() && request.getHeaders().contains("origin")) {
      refuse(family, response, callback, Trouble.fromABrowser());
      return true;
    }
    collect(request, response, callback, path, caller);
    return true;
  }

  /** Whether a path is one that is answered here, to whoever asks. */
  static boolean isOwn(String path) {
    return path.equals(HEALTH) || path.equals(METRICS);
  }

  /** For Prometheus; where callers have tokens, it needs that of an operator. */
  private void metrics(Request request, Response response, Callback callback, ApiFamily family) {
    Caller caller = callers.of(request.getHeaders());
    if (caller == null || !caller.operator()) {
      Trouble trouble = caller == null ? Trouble.unauthorised() : Trouble.notAnOperator();
      refuse(family, response, callback, trouble);
      return;
    }
    String text =
        GatewayMetrics.of(
            context.counters().snapshot(),
            context.admission().stats(),
            context.estimateErrors().all());
    plain(response, callback, 200, text, "text/plain; version=0.0.4; charset=utf-8");
  }

  private static void plain(
      Response response, Callback callback, int status, String text, String contentType) {
    response.setStatus(status);
    response.getHeaders().put("content-type", contentType);
    response.write(true, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), callback);
  }

  /**
   * Sends those away that wait, and takes no more; what is under way goes on, leases that agents
   * hold included.
   */
  void drain() {
    leases.drain();
    draining = true;
    live.forEach(ProxiedCall::drain);
    context.places().drain();
  }

  private void collect(
      Request request, Response response, Callback callback, ApiPath path, Caller caller) {
    Bounds bounds = context.config().bounds();
    BodyCollector body = new BodyCollector(request, bounds.bodyBytes(), context.bodies());
    Request.addCompletionListener(request, failure -> context.bodies().give(body.taken()));
    var late =
        context
            .scheduler()
            .schedule(
                () -> request.fail(new TimeoutException("The body took too long to come")),
                BODY_PAUSES_MAX * bounds.clientIdle().toMillis(),
                TimeUnit.MILLISECONDS);
    var unused =
        body.collect()
            .whenComplete(
                (bytes, error) -> {
                  late.cancel();
                  if (error == null) {
                    begin(request, response, callback, path, caller, bytes);
                  } else {
                    notTaken(response, callback, path.family(), error);
                  }
                });
  }

  private void begin(
      Request request,
      Response response,
      Callback callback,
      ApiPath path,
      Caller caller,
      byte[] body) {
    if (LeaseApi.isOwn(path.plain())) {
      own(request, response, callback, path, caller, body);
      return;
    }
    ApiFamily family = path.family();
    CallPlan planned;
    try {
      planned =
          planner.plan(
              request.getMethod(),
              path,
              request.getHttpURI().getQuery(),
              request.getHeaders(),
              body,
              caller,
              Request.getRemoteAddr(request),
              Request.getRemotePort(request));
    } catch (NotTakenException e) {
      refuse(family, response, callback, e.trouble());
      return;
    } catch (RuntimeException e) {
      log.error("Expected to understand a call, but failed", e);
      refuse(
          family,
          response,
          callback,
          new Trouble(500, "The gateway failed on this call; its log says why.", null, false));
      return;
    }
    CallPlan first = planned;
    var unused =
        planner
            .counted(planned, context.countCalls())
            .thenAccept(tokens -> take(request, response, callback, caller, first.counted(tokens)));
  }

  private void take(
      Request request, Response response, Callback callback, Caller caller, CallPlan plan) {
    String key = plan.counted() ? request.getHeaders().get("idempotency-key") : null;
    if (key != null && !PlaceBook.isKey(key) && !isObserved(plan)) {
      // Taken for none, a client would think itself safe from a second call, and is not.
      refuse(plan.family(), response, callback, Trouble.noKey(key));
      return;
    }
    if (!PlaceBook.isKey(key)) {
      ProxiedCall call = new ProxiedCall(context, plan, null);
      start(call, request, call.begin(request, response, callback));
      return;
    }
    PlaceBook.Key place = new PlaceBook.Key(caller.name(), key);
    ProxiedCall call = new ProxiedCall(context, plan, place);
    Runnable begin = call.begin(request, response, callback); // Others join what has begun.
    PlaceBook.Place found = context.places().findOrKeep(place, call);
    if (found == null) {
      refuse(plan.family(), response, callback, Trouble.tooManyKeys());
    } else if (found == call) {
      start(call, request, begin);
    } else {
      found.join(request, response, callback, plan);
    }
  }

  private boolean isObserved(CallPlan plan) {
    return context.modes().of(plan.target().quota()) == GatewayConfig.Mode.OBSERVE;
  }

  private void start(ProxiedCall call, Request request, Runnable begin) {
    live.add(call);
    Request.addCompletionListener(request, failure -> live.remove(call));
    begin.run();
    if (draining) {
      call.drain();
    }
  }

  private void own(
      Request request,
      Response response,
      Callback callback,
      ApiPath path,
      Caller caller,
      byte[] body) {
    request.addIdleTimeoutListener(timeout -> false);
    CompletableFuture<Void> gone = new CompletableFuture<>();
    CompletableFuture<Answer> answer =
        leases
            .handle(
                request.getMethod(),
                path.plain(),
                request.getHttpURI().getQuery(),
                request.getHeaders(),
                body,
                caller,
                gone)
            .exceptionally(error -> LeaseApi.error(500, "The gateway failed on this call.", null));
    ClientWatch watch =
        answer.isDone()
            ? null
            : ClientWatch.start(
                request.getConnectionMetaData().getConnection(), cause -> gone.complete(null));
    var unused =
        answer.thenAccept(
            ready -> {
              if (watch != null) {
                watch.stop();
              }
              if (gone.isDone()) {
                ready.sent().accept(false);
                send(LeaseApi.hungUp(), response, callback);
              } else {
                send(ready, response, callback);
              }
            });
  }

  private static void send(Answer answer, Response response, Callback callback) {
    response.setStatus(answer.status());
    response.getHeaders().put("content-type", "application/json");
    if (answer.retryAfter() != null) {
      long seconds = (answer.retryAfter().toMillis() + 999) / 1_000;
      response.getHeaders().put("retry-after", Long.toString(Math.max(1, seconds)));
    }
    if (answer.allow() != null) {
      response.getHeaders().put("allow", answer.allow());
    }
    response.write(
        true,
        ByteBuffer.wrap(answer.body().toString().getBytes(StandardCharsets.UTF_8)),
        Callback.from(
            () -> {
              answer.sent().accept(true);
              callback.succeeded();
            },
            failure -> {
              answer.sent().accept(false);
              callback.failed(failure);
            }));
  }

  private void notTaken(Response response, Callback callback, ApiFamily family, Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    if (cause instanceof BodyNotTakenException refused) {
      // What is left of the body is not read: the connection ends with the answer.
      response.getHeaders().put("connection", "close");
      refuse(family, response, callback, refused.trouble());
    } else {
      callback.failed(cause);
    }
  }

  private void refuse(ApiFamily family, Response response, Callback callback, Trouble trouble) {
    context.counters().refused.increment();
    new ClientAnswer(family, response, callback, null, () -> null, cause -> {}).trouble(trouble);
  }
}
