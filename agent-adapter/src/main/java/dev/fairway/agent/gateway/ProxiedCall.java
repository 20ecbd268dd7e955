package dev.fairway.agent.gateway;

import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.QueueUpdate;
import dev.fairway.agent.gateway.GatewayConfig.Mode;
import dev.fairway.agent.provider.AnswerClass;
import dev.fairway.agent.provider.ProviderProfiles;
import dev.fairway.agent.provider.ProviderReading;
import dev.fairway.agent.provider.ResponseBody;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.util.thread.SerializedInvoker;

/**
 * One call of a client, from its request to the last byte of its answer: it waits for its grant,
 * goes upstream, and comes back. Nothing blocks; what happens is handled one at a time, in the
 * order in which it happens.
 *
 * <p>Until it has to, it promises nothing: a call that waits has no status. A client that would
 * give up gets, if it asked for a stream, the beginning of one, which comments keep alive; else an
 * honest 429. Once an answer has begun to pass, the call is not sent again.
 */
final class ProxiedCall {
  /** Refusals after which it makes sense to wait here and ask again. */
  private static final Set<RejectReason> COME_BACK =
      EnumSet.of(
          RejectReason.QUEUE_WAIT_TOO_LONG,
          RejectReason.QUEUE_FULL,
          RejectReason.TENANT_CEILING,
          RejectReason.QUOTA_EXHAUSTED);

  private static final int ERROR_BODY_BYTES_MAX = 1 << 20;
  private static final int GRANTS_EXPIRED_MAX = 3;
  private static final long HOLD_SLACK_MS = 500;

  private enum State {
    WAITING,
    SENT,
    RELAYING,
    OVER
  }

  private final GatewayContext context;
  private final CallPlan plan;
  private final Request request;
  private final ClientAnswer answer;
  private final SerializedInvoker invoker = new SerializedInvoker(ProxiedCall.class);
  private final long startedMs;
  private final long holdUntilMs;

  private State state = State.WAITING;
  private ClientWatch watch;
  private Scheduler.Task patience;
  private Scheduler.Task comeBack;
  private Scheduler.Task holdEnd;
  private CompletableFuture<Grant> asking;
  private QueueUpdate place;
  private long placeAtMs;
  private Grant grant;
  private UpstreamCall upstream;
  private AnswerRelay relay;
  private int requeues;
  private int expiredGrants;

  ProxiedCall(
      GatewayContext context,
      CallPlan plan,
      Request request,
      Response response,
      Callback callback) {
    this.context = context;
    this.plan = plan;
    this.request = request;
    this.answer = new ClientAnswer(plan.family(), response, callback, invoker, this::onClientGone);
    this.startedMs = context.nowMs();
    Duration holdMax = context.config().waits().holdMax();
    boolean patient = plan.stream() || plan.patience().compareTo(holdMax) > 0;
    this.holdUntilMs = startedMs + (patient ? holdMax : plan.patience()).toMillis();
  }

  /** Begins. */
  void start() {
    invoker.run(
        () -> {
          request.addIdleTimeoutListener(timeout -> answer.isClientSlow());
          watch =
              ClientWatch.start(
                  request.getConnectionMetaData().getConnection(),
                  cause -> invoker.run(() -> onClientGone(cause)));
          if (!plan.counted()) {
            context.counters().uncounted.increment();
            send(FreeGrant.UNCOUNTED);
            return;
          }
          if (plan.retryOf() != null) {
            context.counters().retries.increment();
          }
          // Past the client's own end of a wait, for calls that wait anew after a requeue.
          holdEnd = schedule(holdUntilMs - startedMs + HOLD_SLACK_MS, ProxiedCall.this::onHoldOver);
          if (plan.stream()) {
            patience = schedule(plan.patience().toMillis(), this::onPatienceOver);
          }
          if (context.modes().of(plan.target().quota()) == Mode.OBSERVE) {
            send(ObservedGrant.of(context.admission(), plan));
          } else {
            ask(plan.retryOf());
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

  // ---- waiting

  private void ask(String repeats) {
    state = State.WAITING;
    Duration timeout = Duration.ofMillis(Math.max(1, holdUntilMs - context.nowMs()));
    await(
        context
            .admission()
            .ask(plan.leaseCall(repeats, timeout, update -> invoker.run(() -> onQueued(update)))));
  }

  private void await(CompletableFuture<Grant> asked) {
    asking = asked;
    var unused =
        asked.whenComplete((granted, error) -> invoker.run(() -> onDecision(granted, error)));
  }

  private void onQueued(QueueUpdate update) {
    place = update;
    placeAtMs = context.nowMs();
  }

  private void onDecision(Grant granted, Throwable error) {
    if (state != State.WAITING) {
      if (granted != null) {
        granted.settle(Outcome.NOT_SENT, null, null);
      }
      return;
    }
    place = granted == null ? place : null;
    if (granted != null) {
      send(granted);
    } else if (error instanceof RefusedException) {
      onRefused((RefusedException) error);
    } else {
      refuse(
          Trouble.unavailable(
              "Expected a decision on the call, but: " + error + ".", Duration.ofSeconds(5)));
    }
  }

  private void onRefused(RefusedException refused) {
    Duration wait = refused.retryAfter();
    boolean inTime = wait != null && context.nowMs() + Math.max(1, wait.toMillis()) < holdUntilMs;
    if (inTime && COME_BACK.contains(refused.reason())) {
      comeBack = schedule(Math.max(1, wait.toMillis()), () -> ask(refused.requestId()));
      return;
    }
    if (refused.requestId() != null) {
      remember(refused.requestId());
    }
    Trouble trouble = refused.trouble();
    if (trouble.status() == 429 && trouble.retryAfter() == null) {
      trouble = new Trouble(429, trouble.message(), remainingEta(), false);
    }
    refuse(trouble);
  }

  private void onHoldOver() {
    if (state == State.WAITING) {
      refuse(new Trouble(429, "Expected a grant in time, but none came.", remainingEta(), false));
    }
  }

  /** What is left of the wait that was told last; a second if nothing was told. */
  private Duration remainingEta() {
    long etaMs = place == null ? 0 : place.eta().toMillis() - (context.nowMs() - placeAtMs);
    return Duration.ofMillis(Math.max(1_000, etaMs));
  }

  private void onPatienceOver() {
    if (state == State.WAITING || state == State.SENT) {
      context.counters().keptAlive.increment();
      answer.beginStream();
      keepAlive();
    }
  }

  private void keepAlive() {
    if (state == State.WAITING || state == State.SENT) {
      answer.comment(comment());
      patience = schedule(context.config().waits().keepAlive().toMillis(), this::keepAlive);
    }
  }

  private String comment() {
    if (state == State.SENT || place == null) {
      return "waiting";
    }
    return String.format(
        Locale.ROOT,
        "queued, position %d, about %d s",
        place.position(),
        (remainingEta().toMillis() + 999) / 1_000);
  }

  // ---- upstream

  private void send(Grant granted) {
    grant = granted;
    try {
      granted.markSent();
    } catch (AdmissionException e) {
      granted.settle(Outcome.NOT_SENT, null, null);
      expiredGrants++;
      if (expiredGrants >= GRANTS_EXPIRED_MAX) {
        refuse(Trouble.unavailable(e.getMessage(), Duration.ofSeconds(1)));
      } else {
        ask(plan.retryOf());
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
    if (head.getStatus() / 100 == 2) {
      relay(head, source);
      return;
    }
    Instant receivedAt = Instant.ofEpochMilli(context.epochMs());
    var unused =
        Content.Source.asByteArrayAsync(source, ERROR_BODY_BYTES_MAX)
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
        ProviderProfiles.of(plan.target().upstream().provider())
            .read(Readings.response(status, headers, ResponseBody.of(body), receivedAt));
    var signal = Readings.signal(status, reading);
    boolean again =
        grant.canRequeue()
            && status == 429
            && reading.kind() == AnswerClass.RATE_LIMITED
            && requeues < context.config().bounds().requeues()
            && context.nowMs() < holdUntilMs;
    if (again) {
      requeues++;
      context.counters().requeues.increment();
      state = State.WAITING;
      await(grant.requeue(signal));
      return;
    }
    Outcome outcome = Readings.outcome(status, reading.kind());
    boolean refusedUnread = outcome == Outcome.FAILED_AFTER_SEND && status / 100 == 4;
    grant.settle(outcome, refusedUnread ? Nothing.USED : null, signal);
    remember(grant.requestId());
    over();
    answer.upstreamError(status, headers, body, grant.canRequeue() && status == 429);
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

  private void relay(org.eclipse.jetty.client.Response head, Content.Source source) {
    state = State.RELAYING;
    cancel(patience);
    Instant receivedAt = Instant.ofEpochMilli(context.epochMs());
    HttpFields headers = head.getHeaders();
    var profile = ProviderProfiles.of(plan.target().upstream().provider());
    var response = Readings.response(head.getStatus(), headers, ResponseBody.none(), receivedAt);
    String contentType = headers.get("content-type");
    boolean events = contentType != null && contentType.startsWith("text/event-stream");
    AnswerTap tap = new AnswerTap(profile, response, events);
    Settling settling =
        new Settling(
            context, plan, grant, tap, Readings.signal(head.getStatus(), profile.read(response)));
    if (answer.hasBegun() && !events) {
      noStream(source, tap, settling);
      return;
    }
    UsageChunkFilter filter = plan.hideUsage() && events ? new UsageChunkFilter() : null;
    answer.begin(
        head.getStatus(),
        headers,
        filter == null,
        grant.requestId(),
        () -> {
          if (state == State.RELAYING) {
            relay =
                new AnswerRelay(
                    source, answer.sink(), tap, filter, answer::writing, new Relayed(settling));
            relay.iterate();
          }
        });
  }

  /** The upstream answered with something else than the stream that the client was promised. */
  private void noStream(Content.Source source, AnswerTap tap, Settling settling) {
    var unused =
        Content.Source.asByteBufferAsync(source, ERROR_BODY_BYTES_MAX)
            .whenComplete(
                (body, error) ->
                    invoker.run(
                        () -> {
                          if (error == null) {
                            tap.read(body);
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

  /** Hears of the relay, which hears one thing at a time, on threads of its own. */
  private final class Relayed implements AnswerRelay.Listener {
    private final Settling settling;

    Relayed(Settling settling) {
      this.settling = settling;
    }

    @Override
    public void progressed() {
      settling.progressed();
    }

    @Override
    public void complete() {
      settling.complete();
      watch.stop();
    }

    @Override
    public void delivered() {
      invoker.run(ProxiedCall.this::over);
      answer.succeeded();
    }

    @Override
    public void upstreamFailed(Throwable cause) {
      context.counters().upstreamFailures.increment();
      settling.brokenOff();
      invoker.run(ProxiedCall.this::over);
      answer.abort(cause);
    }

    @Override
    public void clientFailed(Throwable cause) {
      settling.abandoned();
      invoker.run(
          () -> {
            if (state != State.OVER) {
              context.counters().clientsGone.increment();
            }
            over();
          });
      answer.abort(cause);
    }
  }

  // ---- the end

  private void onClientGone(Throwable cause) {
    if (state == State.OVER) {
      return;
    }
    if (state == State.RELAYING && relay != null) {
      relay.abort(cause);
      return;
    }
    context.counters().clientsGone.increment();
    if (state == State.SENT || state == State.RELAYING) {
      grant.settle(upstream.wasSent() ? Outcome.FAILED_AFTER_SEND : Outcome.NOT_SENT, null, null);
      remember(grant.requestId());
      upstream.abort(cause);
    }
    over();
    answer.abort(cause);
  }

  private void refuse(Trouble trouble) {
    context.counters().refused.increment();
    over();
    answer.trouble(trouble);
  }

  private void over() {
    if (state == State.OVER) {
      return;
    }
    State before = state;
    state = State.OVER;
    watch.stop();
    cancel(patience);
    cancel(comeBack);
    cancel(holdEnd);
    if (before == State.WAITING && asking != null) {
      asking.cancel(false);
    }
  }

  private void remember(String requestId) {
    if (plan.counted() && requestId != null) {
      context
          .retries()
          .ended(plan.asker().member(), plan.bodyHash(), requestId, true, context.epochMs());
    }
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
