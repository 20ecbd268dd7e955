package dev.fairway.agent.gateway;

import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.gateway.GatewayConfig.Mode;
import dev.fairway.schemas.Outcome;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.util.thread.SerializedInvoker;

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
final class ProxiedCall implements PlaceBook.Place {
  /** How long a place in line is kept at least for a client that is gone. */
  static final long PLACE_KEPT_MS = 60_000;

  /**
   * How long a grant is kept for a client that is gone, or that is not back at the time that it was
   * told: somebody else could use it.
   */
  static final long GRANT_KEPT_MS = 10_000;

  /** How long an answer is kept for a client that missed it. */
  static final long ANSWER_KEPT_MS = 600_000;

  private static final String UNCOUNTED = "uncounted";

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
  private final PlaceBook.Key key;
  private final Recording recording;
  private final CallRetries retries;
  private final UpstreamPhase upstream;

  private volatile State state = State.WAITING;
  private ClientLink client;
  private boolean detached;
  private long bodyTaken;
  private boolean joined;
  private Grant held;
  private long backAtMs;
  private Scheduler.Task patience;
  private Scheduler.Task grace;

  /**
   * A call that has not begun.
   *
   * @param key under which it outlives its client, or null
   */
  ProxiedCall(GatewayContext context, CallPlan plan, PlaceBook.Key key) {
    this.context = context;
    this.plan = plan;
    this.key = key;
    this.recording = key == null ? null : new Recording(context.places());
    Duration holdMax = context.config().waits().holdMax();
    boolean patient = key != null || plan.stream() || plan.patience().compareTo(holdMax) > 0;
    long untilMs = context.nowMs() + (patient ? holdMax : plan.patience()).toMillis();
    this.line = new Line(context, plan, invoker, untilMs, new Decided());
    this.retries = new CallRetries(context, plan);
    this.upstream = new UpstreamPhase(context, plan, retries, recording, invoker, new Moves());
  }

  /**
   * Begins for its first client, before any other joins.
   *
   * @return to be run if the call is to be made
   */
  Runnable begin(Request request, Response response, Callback callback) {
    ClientLink first = link(request, response, callback);
    return invoker.offer(
        () -> {
          client = first;
          client.start();
          if (!plan.counted()) {
            context.counters().uncounted.increment();
            upstream.send(FreeGrant.UNCOUNTED);
            return;
          }
          if (plan.retryOf() != null) {
            context.counters().retries.increment();
          }
          beginPatience(plan.patience());
          if (context.modes().of(plan.target().quota()) == Mode.OBSERVE) {
            ObservedGrant free =
                new ObservedGrant(context.admission(), context.observations(), plan);
            upstream.send(free);
            free.ask();
          } else if (retries.isSpent()) {
            refuse(retries.refusal());
          } else {
            line.ask(plan.retryOf());
          }
        });
  }

  /** The gateway stops: a call that still waits is sent away, one that is under way goes on. */
  @Override
  public void drain() {
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
    return new ClientLink(
        plan.family(), request, response, callback, invoker, this::requestId, this::onClientGone);
  }

  /** What the client is told to ask {@code fairway why} for, or null where there is nothing. */
  private String requestId() {
    if (!plan.counted()) {
      return UNCOUNTED;
    }
    String asked = upstream.requestId() == null ? line.requestId() : upstream.requestId();
    return asked == null ? plan.retryOf() : asked;
  }

  // ---- waiting

  private final class Decided implements Line.Listener {
    @Override
    public void granted(Grant granted) {
      if (detached) {
        hold(granted);
      } else {
        upstream.send(granted);
      }
    }

    @Override
    public void refused(Trouble trouble, String requestId) {
      retries.failed(requestId);
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
      Duration back = line.remainingEta();
      backAtMs = context.nowMs() + (back == null ? 0 : back.toMillis());
      client
          .answer()
          .trouble(
              new Trouble(
                  429,
                  "Expected a grant within the client's patience, but none came. The same"
                      + " idempotency key gets the place back within "
                      + placeKeptMs() / 1_000
                      + " s.",
                  back,
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

  /** What the upstream's side makes of the call. */
  private final class Moves implements UpstreamPhase.Call {
    @Override
    public boolean isSent() {
      return state == State.SENT;
    }

    @Override
    public boolean isRelaying() {
      return state == State.RELAYING;
    }

    @Override
    public void sent() {
      state = State.SENT;
    }

    @Override
    public void relaying() {
      state = State.RELAYING;
      cancel(patience);
    }

    @Override
    public void askAgain() {
      line.ask(plan.retryOf());
    }

    @Override
    public boolean requeue(Grant refused, ProviderSignal signal) {
      boolean waits = line.requeue(refused, signal);
      waitsAgain(waits);
      return waits;
    }

    @Override
    public boolean tryAgain(Grant refused, ProviderSignal signal) {
      boolean waits = line.tryAgain(refused, signal);
      waitsAgain(waits);
      return waits;
    }

    private void waitsAgain(boolean waits) {
      if (waits) {
        state = State.WAITING;
        if (detached) {
          keepPlace();
        }
      }
    }

    @Override
    public ClientLink client() {
      return client;
    }

    @Override
    public void refuse(Trouble trouble) {
      ProxiedCall.this.refuse(trouble);
    }

    @Override
    public void over() {
      ProxiedCall.this.over();
    }

    @Override
    public void delivered() {
      onDelivered();
    }

    @Override
    public void clientFailed() {
      if (state != State.OVER) {
        context.counters().clientsGone.increment();
      }
      ProxiedCall.this.over();
    }
  }

  private void onDelivered() {
    boolean waitsForIt = joined && !detached;
    over();
    if (waitsForIt) {
      recording.replay(client.answer());
    }
  }

  // ---- clients go, and come back

  private void onClientGone(ClientLink gone, Throwable cause) {
    if (state == State.OVER || gone != client || detached) {
      return;
    }
    if (recording == null && state == State.RELAYING && upstream.abortRelay(cause)) {
      return;
    }
    context.counters().clientsGone.increment();
    if (recording != null) {
      client.answer().hungUp(cause);
      detach();
      return;
    }
    if (state == State.SENT || state == State.RELAYING) {
      upstream.abandon(cause);
    }
    over();
    client.answer().hungUp(cause);
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
    if (state == State.WAITING) {
      keepPlace();
    }
  }

  /** A place that nobody is there to use: kept for who comes back, as long as was promised. */
  private void keepPlace() {
    cancel(grace);
    if (bodyTaken == 0 && plan.body().length > 0) {
      over();
    } else {
      grace = schedule(placeKeptMs(), this::giveUp);
    }
  }

  private long placeKeptMs() {
    return Math.min(Math.max(PLACE_KEPT_MS, untilBackMs()), line.holdLeftMs());
  }

  /** Until shortly after the time at which the client was told to come back. */
  private long untilBackMs() {
    return Math.max(0, backAtMs - context.nowMs()) + GRANT_KEPT_MS;
  }

  /** A grant that nobody is there to use: kept for a while, no more than half its life. */
  private void hold(Grant granted) {
    held = granted;
    cancel(grace);
    long keptMs = Math.min(untilBackMs(), granted.remaining().toMillis() / 2);
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
   * @param again what it asks for now
   */
  @Override
  public void join(Request request, Response response, Callback callback, CallPlan again) {
    ClientLink next = link(request, response, callback);
    invoker.run(
        () -> {
          ClientLink before = client;
          if (!plan.asked().equals(again.asked())) {
            next.answer().trouble(Trouble.keyOfAnother(plan.asked()));
            return;
          }
          if (state == State.OVER) {
            recording.replay(next.answer());
            return;
          }
          if (recording.lost() != null) {
            // Whoever is there goes on reading: this one could not have it any more.
            next.answer().trouble(Trouble.answerLost(recording.lost()));
            return;
          }
          client = next;
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
          backAtMs = 0;
          joined = state == State.RELAYING;
          cancel(grace);
          beginPatience(again.patience());
          if (held != null) {
            Grant granted = held;
            held = null;
            upstream.send(granted);
          }
        });
  }

  // ---- the end

  private void refuse(Trouble trouble) {
    if (state == State.OVER) {
      return;
    }
    context.counters().refused.increment();
    over();
    Trouble told = retries.told(trouble);
    retries.tellLeft(client.answer());
    client.answer().trouble(told);
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
    leavePlace();
  }

  /** What went well is known by its key for a while; the key of anything else is free again. */
  private void leavePlace() {
    if (key == null) {
      return;
    }
    PlaceBook places = context.places();
    if (!recording.isComplete()) {
      places.remove(key, this);
      recording.drop();
      return;
    }
    PlaceBook.Key kept = key;
    EndedCall left = new EndedCall(plan.asked(), requestId(), recording);
    places.ended(kept, this, left);
    var unused =
        context
            .scheduler()
            .schedule(() -> places.forget(kept, left), ANSWER_KEPT_MS, TimeUnit.MILLISECONDS);
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
