package dev.fairway.agent.gateway;

import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.ProviderReports;
import dev.fairway.agent.gateway.GatewayConfig.Mode;
import dev.fairway.agent.provider.AnswerClass;
import dev.fairway.agent.provider.ProviderProfile;
import dev.fairway.agent.provider.ProviderProfiles;
import dev.fairway.agent.provider.ProviderReading;
import dev.fairway.agent.provider.ResponseBody;
import dev.fairway.schemas.Outcome;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.util.thread.SerializedInvoker;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call, from its request to the last byte of its answer: it waits for its grant, goes upstream,
 * and comes back. Nothing blocks; what happens is handled one at a time, in the order in which it
 * happens.
 *
 * <p>Until it has to, it promises nothing: a call that waits has no status. A client that would
 * give up gets, if it asked for a stream, the beginning of one, which comments keep alive; else an
 * honest 429. Once an answer has begun to pass, the call is not sent again.
 *
 * <p>A call with an idempotency key outlives its client for a while: one that comes back with the
 * same key takes over the place in line, or gets the answer that was recorded meanwhile.
 */
final class ProxiedCall {
  private static final Logger log = LoggerFactory.getLogger(ProxiedCall.class);

  /** How long a place in line is kept for a client that is gone. */
  static final long PLACE_KEPT_MS = 60_000;

  /** How long an answer is kept for a client that missed it. */
  static final long ANSWER_KEPT_MS = 600_000;

  private static final int ERROR_BODY_BYTES_MAX = 1 << 20;
  private static final int GRANTS_EXPIRED_MAX = 3;

  private enum State {
    WAITING,
    SENT,
    RELAYING,
    OVER
  }

  private final GatewayContext context;
  private final CallPlan plan;
  private final SerializedInvoker invoker = new SerializedInvoker(ProxiedCall.class);
  private final Line line;
  private final Recording recording;

  private volatile State state = State.WAITING;
  private ClientLink client;
  private boolean detached;
  private long bodyTaken;
  private boolean joined;
  private Grant held;
  private Grant grant;
  private UpstreamCall upstream;
  private AnswerRelay relay;
  private int requeues;
  private int expiredGrants;
  private Scheduler.Task patience;
  private Scheduler.Task grace;

  /**
   * A call that has not begun.
   *
   * @param keeps whether it outlives its client
   */
  ProxiedCall(GatewayContext context, CallPlan plan, boolean keeps) {
    this.context = context;
    this.plan = plan;
    this.recording = keeps ? new Recording(context.bodies()) : null;
    Duration holdMax = context.config().waits().holdMax();
    boolean patient = keeps || plan.stream() || plan.patience().compareTo(holdMax) > 0;
    long untilMs = context.nowMs() + (patient ? holdMax : plan.patience()).toMillis();
    this.line = new Line(context, plan, invoker, untilMs, new Decided());
  }

  /** Begins for its first client. */
  void start(Request request, Response response, Callback callback) {
    ClientLink first = link(request, response, callback);
    invoker.run(
        () -> {
          client = first;
          client.start();
          if (!plan.counted()) {
            context.counters().uncounted.increment();
            send(FreeGrant.UNCOUNTED);
            return;
          }
          if (plan.retryOf() != null) {
            context.counters().retries.increment();
          }
          beginPatience(plan.patience());
          if (context.modes().of(plan.target().quota()) == Mode.OBSERVE) {
            send(ObservedGrant.of(context.admission(), plan));
          } else if (plan.tries().isSpent()) {
            refuseForGood();
          } else {
            line.ask(plan.retryOf());
          }
        });
  }

  /** The gateway stops: a call that still waits is sent away, one that is under way goes on. */
  void drain() {
    invoker.run(
        () -> {
          if (state == State.WAITING) {
            refuse(
                Trouble.unavailable(
                    "The gateway is stopping. Send the call again.", Duration.ofSeconds(1)));
          }
        });
  }

  private ClientLink link(Request request, Response response, Callback callback) {
    return new ClientLink(plan.family(), request, response, callback, invoker, this::onClientGone);
  }

  // ---- waiting

  private final class Decided implements Line.Listener {
    @Override
    public void granted(Grant granted) {
      if (detached) {
        hold(granted);
      } else {
        send(granted);
      }
    }

    @Override
    public void refused(Trouble trouble, String requestId) {
      remember(requestId);
      refuse(trouble);
    }
  }

  private void beginPatience(Duration clients) {
    cancel(patience);
    if (plan.stream() || recording != null) {
      patience = schedule(clients.toMillis(), this::onPatienceOver);
    }
  }

  private void onPatienceOver() {
    boolean nothingYet = state == State.WAITING || state == State.SENT || joined;
    if (detached || !nothingYet) {
      return;
    }
    if (plan.stream()) {
      context.counters().keptAlive.increment();
      client.answer().beginStream();
      keepAlive();
    } else if (state == State.WAITING) {
      // Its place is kept: it may come back for it.
      context.counters().refused.increment();
      client.stopWatching();
      client
          .answer()
          .trouble(
              new Trouble(
                  429,
                  "Expected a grant within the client's patience, but none came. The same"
                      + " idempotency key gets the place back.",
                  line.remainingEta(),
                  false));
      detach();
    }
  }

  private void keepAlive() {
    if (!detached && (state == State.WAITING || state == State.SENT || joined)) {
      client.answer().comment(line.words());
      patience = schedule(context.config().waits().keepAlive().toMillis(), this::keepAlive);
    }
  }

  // ---- upstream

  private void send(Grant granted) {
    grant = granted;
    if (granted.canRequeue() && !plan.tries().trySend(context.epochMs())) {
      granted.settle(Outcome.NOT_SENT, null, null);
      refuseForGood();
      return;
    }
    try {
      granted.markSent();
    } catch (AdmissionException e) {
      granted.settle(Outcome.NOT_SENT, null, null);
      expiredGrants++;
      if (expiredGrants >= GRANTS_EXPIRED_MAX) {
        refuse(Trouble.unavailable(e.getMessage(), Duration.ofSeconds(1)));
      } else {
        line.ask(plan.retryOf());
      }
      return;
    }
    state = State.SENT;
    upstream = new UpstreamCall(context, plan, invoker);
    upstream.send(this::onHead, this::onUpstreamFailed);
  }

  private void onHead(org.eclipse.jetty.client.Response head, Content.Source source) {
    if (state != State.SENT) {
      source.fail(new IllegalStateException("nobody waits for it"));
      return;
    }
    grant.markAnswered();
    Instant receivedAt = Instant.ofEpochMilli(context.epochMs());
    if (head.getStatus() / 100 == 2) {
      relay(head.getStatus(), head.getHeaders(), source, receivedAt);
      return;
    }
    var unused =
        bounded(source)
            .whenComplete(
                (body, error) ->
                    invoker.run(
                        () -> {
                          if (error != null) {
                            onUpstreamFailed(error);
                          } else {
                            onError(head.getStatus(), head.getHeaders(), body, receivedAt);
                          }
                        }));
  }

  private void onError(int status, HttpFields headers, byte[] body, Instant receivedAt) {
    if (state != State.SENT) {
      return;
    }
    ProviderReading reading =
        profile().read(Readings.response(status, headers, ResponseBody.of(body), receivedAt));
    var signal = ProviderReports.signal(status, reading);
    boolean again =
        grant.canRequeue()
            && status == 429
            && reading.kind() == AnswerClass.RATE_LIMITED
            && !plan.tries().isSpent()
            && requeues < context.config().bounds().requeues();
    if (again && line.requeue(grant, signal)) {
      requeues++;
      context.counters().requeues.increment();
      state = State.WAITING;
      return;
    }
    Outcome outcome = Readings.outcome(status, reading.kind());
    boolean refusedUnread = outcome == Outcome.FAILED_AFTER_SEND && status / 100 == 4;
    grant.settle(outcome, refusedUnread ? Nothing.USED : null, signal);
    remember(grant.requestId());
    over();
    boolean spent = plan.counted() && plan.tries().isSpent();
    if (spent) {
      tellSpent();
    }
    tellRetriesLeft();
    client
        .answer()
        .upstreamError(status, headers, body, spent || (grant.canRequeue() && status == 429));
  }

  private void onUpstreamFailed(Throwable cause) {
    if (state != State.SENT) {
      return;
    }
    context.counters().upstreamFailures.increment();
    boolean sent = upstream.wasSent();
    grant.settle(sent ? Outcome.FAILED_AFTER_SEND : Outcome.NOT_SENT, null, null);
    remember(grant.requestId());
    refuse(
        Trouble.badGateway(
            "Expected an answer of upstream "
                + plan.target().upstream().name()
                + ", but "
                + (sent ? "it broke off" : "it could not be reached")
                + " ("
                + cause.getClass().getSimpleName()
                + ")."));
  }

  private void relay(int status, HttpFields headers, Content.Source source, Instant receivedAt) {
    state = State.RELAYING;
    cancel(patience);
    var response = Readings.response(status, headers, ResponseBody.none(), receivedAt);
    String contentType = headers.get("content-type");
    boolean events = contentType != null && contentType.startsWith("text/event-stream");
    AnswerTap tap = new AnswerTap(profile(), response, events);
    Settling settling =
        new Settling(
            context, plan, grant, tap, ProviderReports.signal(status, profile().read(response)));
    ClientAnswer answer = client.answer();
    if (answer.hasBegun() && !events) {
      noStream(source, tap, settling);
      return;
    }
    UsageChunkFilter filter = plan.hideUsage() && events ? new UsageChunkFilter() : null;
    if (recording != null) {
      recording.begin(status, headers);
    }
    answer.begin(
        status,
        headers,
        filter == null,
        grant.requestId(),
        () -> {
          if (state == State.RELAYING) {
            Content.Sink sink = recording == null ? answer.sink() : recording.sink(answer);
            Relayed relayed = new Relayed(client, settling);
            relay = new AnswerRelay(source, sink, tap, filter, answer::writing, relayed);
            relay.iterate();
          }
        });
  }

  /** The upstream answered with something else than the stream that the client was promised. */
  private void noStream(Content.Source source, AnswerTap tap, Settling settling) {
    var unused =
        bounded(source)
            .whenComplete(
                (body, error) ->
                    invoker.run(
                        () -> {
                          if (error == null) {
                            tap.read(ByteBuffer.wrap(body));
                            settling.complete();
                          } else {
                            settling.brokenOff();
                          }
                          refuse(
                              Trouble.badGateway(
                                  "Expected a stream of events from the upstream, but found"
                                      + " something else."));
                        }));
  }

  private static CompletableFuture<byte[]> bounded(Content.Source source) {
    ByteBudget budget = new ByteBudget(ERROR_BODY_BYTES_MAX);
    return new BodyCollector(source, ERROR_BODY_BYTES_MAX, budget).collect();
  }

  /** Hears of the relay, which hears one thing at a time, on threads of its own. */
  private final class Relayed implements AnswerRelay.Listener {
    private final ClientLink first;
    private final Settling settling;

    Relayed(ClientLink first, Settling settling) {
      this.first = first;
      this.settling = settling;
    }

    @Override
    public void progressed() {
      settling.progressed();
    }

    @Override
    public void complete() {
      settling.complete();
      first.stopWatching();
    }

    @Override
    public void delivered() {
      first.answer().succeeded();
      invoker.run(ProxiedCall.this::onDelivered);
    }

    @Override
    public void upstreamFailed(Throwable cause) {
      context.counters().upstreamFailures.increment();
      settling.brokenOff();
      first.answer().abort(cause);
      invoker.run(
          () -> refuse(Trouble.badGateway("The upstream broke its answer off. Send it again.")));
    }

    @Override
    public void clientFailed(Throwable cause) {
      settling.abandoned();
      first.answer().abort(cause);
      invoker.run(
          () -> {
            if (state != State.OVER) {
              context.counters().clientsGone.increment();
            }
            over();
          });
    }
  }

  private void onDelivered() {
    boolean waitsForIt = joined && !detached;
    over();
    if (waitsForIt) {
      replay();
    }
  }

  // ---- clients go, and come back

  private void onClientGone(ClientLink gone, Throwable cause) {
    if (state == State.OVER || gone != client || detached) {
      return;
    }
    if (recording == null && state == State.RELAYING && relay != null) {
      relay.abort(cause);
      return;
    }
    context.counters().clientsGone.increment();
    if (recording != null) {
      client.answer().abort(cause);
      detach();
      return;
    }
    if (state == State.SENT || state == State.RELAYING) {
      grant.settle(upstream.wasSent() ? Outcome.FAILED_AFTER_SEND : Outcome.NOT_SENT, null, null);
      remember(grant.requestId());
      upstream.abort(cause);
    }
    over();
    client.answer().abort(cause);
  }

  /** Nobody waits for the call any more; it goes on by itself for a while. */
  private void detach() {
    detached = true;
    joined = false;
    cancel(patience);
    cancel(grace);
    if (bodyTaken == 0 && context.bodies().take(plan.body().length)) {
      bodyTaken = plan.body().length; // The client's connection, which it was counted for, is gone.
    }
    if (state == State.WAITING && bodyTaken == 0 && plan.body().length > 0) {
      over();
    } else if (state == State.WAITING) {
      grace = schedule(PLACE_KEPT_MS, this::giveUp);
    }
  }

  /** A grant that nobody is there to use: kept for half its life, and then given back. */
  private void hold(Grant granted) {
    held = granted;
    cancel(grace);
    long keptMs = Math.min(PLACE_KEPT_MS, granted.remaining().toMillis() / 2);
    grace = schedule(keptMs, this::giveUp);
  }

  private void giveUp() {
    if (detached && state == State.WAITING) {
      over();
    }
  }

  /**
   * A client comes back with the call's key.
   *
   * @param patienceLeft how long it waits for the beginning of an answer
   */
  void join(
      Request request,
      Response response,
      Callback callback,
      String bodyHash,
      Duration patienceLeft) {
    ClientLink next = link(request, response, callback);
    invoker.run(
        () -> {
          ClientLink before = client;
          if (!plan.bodyHash().equals(bodyHash)) {
            next.answer()
                .trouble(
                    new Trouble(
                        409,
                        "Expected the same body with the same idempotency key, but found another.",
                        null,
                        false));
            return;
          }
          client = next;
          if (state == State.OVER) {
            replay();
            return;
          }
          if (!detached) {
            before.stopWatching();
            before
                .answer()
                .trouble(
                    new Trouble(
                        409, "Another client came with this idempotency key.", null, false));
          }
          client.start();
          detached = false;
          joined = state == State.RELAYING;
          cancel(grace);
          beginPatience(patienceLeft);
          if (held != null) {
            Grant granted = held;
            held = null;
            send(granted);
          }
        });
  }

  private void replay() {
    if (recording.isComplete()) {
      client.answer().replay(recording.status(), recording.headers(), recording.body());
    } else {
      client
          .answer()
          .trouble(
              new Trouble(
                  409,
                  "The call with this idempotency key is over, and its answer was not kept. Use a"
                      + " new key.",
                  null,
                  false));
    }
  }

  /** Whether a client with its key may still join it: it goes on, or its answer is there. */
  boolean isOfUse() {
    return recording != null && (state != State.OVER ? recording.isKept() : recording.isComplete());
  }

  boolean isOver() {
    return state == State.OVER;
  }

  /** Nobody can come back for it any more. */
  void forget() {
    if (recording != null) {
      recording.drop();
    }
  }

  // ---- the end

  private void refuse(Trouble trouble) {
    if (state == State.OVER) {
      return;
    }
    context.counters().refused.increment();
    over();
    Trouble told = trouble;
    if (trouble.again() && plan.counted() && plan.tries().isSpent()) {
      tellSpent();
      told = trouble.forGood();
    }
    tellRetriesLeft();
    client.answer().trouble(told);
  }

  /** The call was tried as often as it may be: nobody is asked, and nothing is sent. */
  private void refuseForGood() {
    tellSpent();
    refuse(
        new Trouble(
            429,
            "Expected a call that may still be tried, but it went upstream "
                + plan.tries().sent()
                + " times, and its retry budget is spent. Look at why it fails; the same call is"
                + " taken again when it is forgotten.",
            plan.tries().forgottenIn(context.epochMs()),
            false));
  }

  /** Loudly, and once for all its tries. */
  private void tellSpent() {
    if (plan.tries().tellOnce()) {
      context.counters().budgetsSpent.increment();
      log.error(
          "A call of agent {} on quota {} failed for good: it went upstream {} times, which is all"
              + " that its retry budget allows. `fairway why {}` tells its story.",
          plan.asker().member(),
          plan.target().quota(),
          plan.tries().sent(),
          plan.tries().retryOf());
    }
  }

  private void tellRetriesLeft() {
    if (plan.counted()) {
      client.answer().retriesLeft(plan.tries().retriesLeft());
    }
  }

  private void over() {
    if (state == State.OVER) {
      return;
    }
    State before = state;
    state = State.OVER;
    client.stopWatching();
    cancel(patience);
    cancel(grace);
    if (before == State.WAITING) {
      line.leave();
    }
    context.bodies().give(bodyTaken);
    bodyTaken = 0;
    if (held != null) {
      held.settle(Outcome.NOT_SENT, null, null);
      held = null;
    }
    if (recording != null && recording.isComplete()) {
      var unused = context.scheduler().schedule(this::end, ANSWER_KEPT_MS, TimeUnit.MILLISECONDS);
    } else {
      end();
    }
  }

  private void end() {
    context.places().remove(this);
    forget();
  }

  private void remember(String requestId) {
    if (plan.counted() && requestId != null) {
      plan.tries().ended(requestId, true, context.epochMs());
    }
  }

  private ProviderProfile profile() {
    return ProviderProfiles.of(plan.target().upstream().provider());
  }

  private Scheduler.Task schedule(long delayMs, Runnable task) {
    return context
        .scheduler()
        .schedule(
            () ->
                invoker.run(
                    () -> {
                      if (state != State.OVER) {
                        task.run();
                      }
                    }),
            delayMs,
            TimeUnit.MILLISECONDS);
  }

  private static void cancel(Scheduler.Task task) {
    if (task != null) {
      task.cancel();
    }
  }
}
