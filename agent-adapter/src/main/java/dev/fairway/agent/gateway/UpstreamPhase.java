package dev.fairway.agent.gateway;

import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.ProviderReports;
import dev.fairway.agent.ProviderSignal;
import dev.fairway.agent.UsageReport;
import dev.fairway.agent.provider.AnswerClass;
import dev.fairway.agent.provider.ProviderProfile;
import dev.fairway.agent.provider.ProviderProfiles;
import dev.fairway.agent.provider.ProviderReading;
import dev.fairway.agent.provider.ResponseBody;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.SignalClass;
import dev.fairway.schemas.service.ConnectionTrouble;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import org.eclipse.jetty.client.HttpResponseException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.thread.SerializedInvoker;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens to a call from its grant on: it goes upstream, its answer comes back and is passed
 * on and settled; after a 429 it goes back in line. Used by the call's invoker.
 */
final class UpstreamPhase {
  private static final Logger log = LoggerFactory.getLogger(UpstreamPhase.class);
  private static final int GRANTS_EXPIRED_MAX = 3;
  private static final int NO_STREAM_BYTES_MAX = 1 << 20;

  /** The call, as far as this phase moves it. */
  interface Call {
    /** Whether it is sent, and no answer has begun to pass. */
    boolean isSent();

    /** Whether its answer passes. */
    boolean isRelaying();

    /** It was sent. */
    void sent();

    /** Its answer begins to pass: it is not sent again. */
    void relaying();

    /** It asks for another grant. */
    void askAgain();

    /** It goes back in line after a 429; false if its hold is over. */
    boolean requeue(Grant refused, ProviderSignal signal);

    /** It is asked for anew after an overload; false if its hold is over. */
    boolean tryAgain(Grant refused, ProviderSignal signal);

    /** Its client now. */
    ClientLink client();

    /** It ends with an error of the gateway's. */
    void refuse(Trouble trouble);

    /** It ends. */
    void over();

    /** Its answer is with the client. */
    void delivered();

    /** Its client failed while the answer passed. */
    void clientFailed();
  }

  private final GatewayContext context;
  private final CallPlan plan;
  private final CallRetries retries;
  private final Recording recording;
  private final SerializedInvoker invoker;
  private final Call call;
  private Grant grant;
  private UpstreamCall upstream;
  private AnswerRelay relay;
  private int requeues;
  private int expiredGrants;

  /**
   * Nothing was sent yet.
   *
   * @param recording keeps the answer for a client that comes back, or null
   */
  UpstreamPhase(
      GatewayContext context,
      CallPlan plan,
      CallRetries retries,
      Recording recording,
      SerializedInvoker invoker,
      Call call) {
    this.context = context;
    this.plan = plan;
    this.retries = retries;
    this.recording = recording;
    this.invoker = invoker;
    this.call = call;
  }

  /** Sends the call on a grant. */
  void send(Grant granted) {
    grant = granted;
    if (!retries.trySend(granted)) {
      granted.settle(Outcome.NOT_SENT, null, null);
      call.refuse(retries.refusal());
      return;
    }
    try {
      granted.markSent();
    } catch (AdmissionException e) {
      granted.settle(Outcome.NOT_SENT, null, null);
      expiredGrants++;
      if (expiredGrants >= GRANTS_EXPIRED_MAX) {
        call.refuse(Trouble.unavailable(e.getMessage(), Duration.ofSeconds(1)));
      } else {
        call.askAgain();
      }
      return;
    }
    call.sent();
    try {
      upstream = new UpstreamCall(context, plan, invoker, () -> retries.trySend(granted));
      upstream.send(this::onHead, this::onUpstreamFailed);
    } catch (RuntimeException e) {
      log.error("Expected to send a call, but failed", e);
      granted.settle(wasSent() ? Outcome.FAILED_AFTER_SEND : Outcome.NOT_SENT, null, null);
      retries.failed(granted.requestId());
      call.refuse(
          new Trouble(500, "The gateway failed on this call; its log says why.", null, false));
    }
  }

  /** Id of the request on which the call was sent last, or null. */
  String requestId() {
    return grant == null ? null : grant.requestId();
  }

  private void onHead(org.eclipse.jetty.client.Response head, Content.Source source) {
    if (!call.isSent()) {
      source.fail(new IllegalStateException("nobody waits for it"));
      return;
    }
    grant.markAnswered();
    Instant receivedAt = Instant.ofEpochMilli(context.epochMs());
    if (head.getStatus() / 100 == 2 && grant.canRequeue() && isEvents(head.getHeaders())) {
      new Beginning(head, source, receivedAt).begin();
      return;
    }
    if (head.getStatus() / 100 == 2) {
      relay(head.getStatus(), head.getHeaders(), source, receivedAt);
      return;
    }
    var unused =
        ErrorBody.read(source, context.scheduler())
            .thenAccept(
                body ->
                    invoker.run(
                        () -> onError(head.getStatus(), head.getHeaders(), body, receivedAt)));
  }

  private void onError(int status, HttpFields headers, ErrorBody.Read body, Instant receivedAt) {
    if (!call.isSent()) {
      return;
    }
    ProviderReading reading =
        profile()
            .read(Readings.response(status, headers, ResponseBody.of(body.bytes()), receivedAt));
    var signal = ProviderReports.signal(status, reading);
    if (status == 429 && reading.kind() == AnswerClass.RATE_LIMITED && goesBack(signal)) {
      return;
    }
    Outcome outcome = Readings.outcome(status, reading.kind());
    boolean refusedUnread = outcome == Outcome.FAILED_AFTER_SEND && status / 100 == 4;
    grant.settle(outcome, refusedUnread ? Nothing.USED : null, signal);
    retries.failed(grant.requestId());
    call.over();
    ClientAnswer answer = call.client().answer();
    boolean last = retries.endsWithError();
    retries.tellLeft(answer);
    answer.upstreamError(status, headers, body, last || (grant.canRequeue() && status == 429));
  }

  /** Puts a refused call back in line, if it may be made once more. */
  private boolean goesBack(ProviderSignal signal) {
    boolean again =
        grant.canRequeue()
            && !retries.isSpent()
            && requeues < context.config().bounds().requeues()
            && (signal.kind() == SignalClass.OVERLOADED
                ? call.tryAgain(grant, signal)
                : call.requeue(grant, signal));
    if (again) {
      requeues++;
      context.counters().requeues.increment();
    }
    return again;
  }

  private static boolean isEvents(HttpFields headers) {
    String contentType = headers.get("content-type");
    return contentType != null && contentType.startsWith("text/event-stream");
  }

  /** A stream of which nobody knows yet whether it will be an answer. */
  private final class Beginning implements StreamHead.Listener {
    private final org.eclipse.jetty.client.Response head;
    private final Instant receivedAt;
    private final StreamHead stream;

    Beginning(org.eclipse.jetty.client.Response head, Content.Source source, Instant receivedAt) {
      this.head = head;
      this.receivedAt = receivedAt;
      var response =
          Readings.response(head.getStatus(), head.getHeaders(), ResponseBody.none(), receivedAt);
      this.stream =
          new StreamHead(source, profile().stream(response), context.scheduler(), invoker, this);
    }

    void begin() {
      stream.begin();
    }

    @Override
    public void nothingYet(ByteBuffer bytes) {
      if (call.isSent()) {
        call.client().answer().passOn(head.getStatus(), head.getHeaders(), bytes);
      }
    }

    @Override
    public boolean refused(ProviderReading reading) {
      boolean passes =
          reading.kind() == AnswerClass.RATE_LIMITED || reading.kind() == AnswerClass.OVERLOADED;
      return call.isSent() && passes && goesBack(ProviderReports.signal(head.getStatus(), reading));
    }

    @Override
    public void begun() {
      if (call.isSent()) {
        relay(head.getStatus(), head.getHeaders(), stream, receivedAt);
      } else {
        stream.fail(new IllegalStateException("nobody waits for it"));
      }
    }
  }

  private void onUpstreamFailed(Throwable cause) {
    if (!call.isSent()) {
      return;
    }
    context.counters().upstreamFailures.increment();
    boolean sent = wasSent();
    grant.settle(sent ? Outcome.FAILED_AFTER_SEND : Outcome.NOT_SENT, null, null);
    retries.failed(grant.requestId());
    call.refuse(failed(sent ? "it broke off" : "it could not be reached", cause));
  }

  private Trouble failed(String how, Throwable cause) {
    return Trouble.badGateway(
        "Expected an answer of upstream "
            + plan.target().upstream().name()
            + ", but "
            + how
            + " ("
            + (cause instanceof HttpResponseException
                ? "what came is no HTTP answer that can be read"
                : ConnectionTrouble.of(cause))
            + ").");
  }

  private void relay(int status, HttpFields headers, Content.Source source, Instant receivedAt) {
    call.relaying();
    var response = Readings.response(status, headers, ResponseBody.none(), receivedAt);
    boolean events = isEvents(headers);
    AnswerTap tap = new AnswerTap(profile(), response, events);
    Settling settling =
        new Settling(
            context, plan, grant, tap, ProviderReports.signal(status, profile().read(response)));
    ClientLink client = call.client();
    ClientAnswer answer = client.answer();
    if (answer.isPromised() && !events) {
      noStream(source, tap, settling);
      return;
    }
    UsageChunkFilter filter = plan.hideUsage() && events ? new UsageChunkFilter() : null;
    if (recording != null) {
      recording.begin(status, headers);
    }
    boolean lengthHolds = filter == null && !answer.isPromised();
    long lengthBytes = lengthHolds ? headers.getLongField(HttpHeader.CONTENT_LENGTH) : -1;
    answer.begin(
        status,
        headers,
        filter == null,
        () -> {
          if (call.isRelaying()) {
            Content.Sink sink = recording == null ? answer.sink() : recording.sink(answer);
            Relayed relayed = new Relayed(client, settling);
            relay =
                new AnswerRelay(source, sink, tap, filter, lengthBytes, answer::writing, relayed);
            relay.iterate();
          }
        });
  }

  /** The upstream answered with something else than the stream that the client was promised. */
  private void noStream(Content.Source source, AnswerTap tap, Settling settling) {
    var unused =
        new BodyCollector(source, NO_STREAM_BYTES_MAX, new ByteBudget(NO_STREAM_BYTES_MAX))
            .collect()
            .whenComplete((body, error) -> invoker.run(() -> noStream(body, tap, settling)));
  }

  private void noStream(byte[] body, AnswerTap tap, Settling settling) {
    if (body == null) {
      settling.brokenOff();
    } else {
      tap.read(ByteBuffer.wrap(body));
      settling.complete();
    }
    retries.failed(grant.requestId());
    call.refuse(
        Trouble.badGateway(
            "Expected a stream of events from the upstream, but found something else."));
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
    public void ending() {
      first.stopWatching();
    }

    @Override
    public void complete() {
      if (!settling.complete() && recording != null) {
        recording.failed();
      }
    }

    @Override
    public void delivered() {
      first.answer().succeeded();
      invoker.run(call::delivered);
    }

    @Override
    public void upstreamFailed(Throwable cause) {
      context.counters().upstreamFailures.increment();
      settling.brokenOff();
      // Whoever waits for it by now: what has begun to pass breaks off.
      invoker.run(() -> call.refuse(failed("it broke off", cause)));
    }

    @Override
    public void clientFailed(Throwable cause) {
      settling.abandoned();
      invoker.run(
          () -> {
            call.clientFailed();
            first.answer().hungUp(cause);
          });
    }
  }

  /**
   * The client hung up while the answer passes and nobody else waits for it; false if none does.
   */
  boolean abortRelay(Throwable cause) {
    if (relay == null) {
      return false;
    }
    relay.abort(cause);
    return true;
  }

  /** The client hung up before an answer passed, and the call is given up. */
  void abandon(Throwable cause) {
    settleAbandoned();
    retries.failed(grant.requestId());
    if (upstream != null) {
      upstream.abort(cause);
    }
  }

  /** The provider may charge for it, and has not failed: the agent's next call retries nothing. */
  private void settleAbandoned() {
    Long input = plan.counted() ? plan.freshInput() : null;
    if (!wasSent()) {
      grant.settle(Outcome.NOT_SENT, null, null);
    } else if (input == null || input == 0) {
      // Without a number the coordinator takes a cancelled call for one that was never sent.
      grant.settle(Outcome.FAILED_AFTER_SEND, null, null);
    } else {
      grant.settle(Outcome.CANCELLED, new UsageReport(input, null, null, null, false), null);
    }
  }

  private boolean wasSent() {
    return upstream != null && upstream.wasSent();
  }

  private ProviderProfile profile() {
    return ProviderProfiles.of(plan.target().upstream().provider());
  }
}
