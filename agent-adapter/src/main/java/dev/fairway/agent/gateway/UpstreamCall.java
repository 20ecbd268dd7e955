package dev.fairway.agent.gateway;

import dev.fairway.agent.provider.Credentials;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.Request;
import org.eclipse.jetty.client.Response;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.util.thread.SerializedInvoker;

/**
 * One attempt of a call at its upstream.
 *
 * <p>An upstream closes a connection that is idle whenever it likes, and a request that is on its
 * way at that moment is lost. So where a connection over which an answer had come before ends
 * within {@value #STALE_MS} ms without a single byte, not even of an interim answer, the request is
 * sent once more, if whoever counts the tries allows it.
 */
final class UpstreamCall {
  static final long STALE_MS = 1_000;

  private final GatewayContext context;
  private final CallPlan plan;
  private final SerializedInvoker invoker;
  private final BooleanSupplier trySendAgain;
  private BiConsumer<Response, Content.Source> onHead;
  private Consumer<Throwable> onFailure;
  private Request request;
  private boolean sentAgain;
  private boolean over; // Failed, and that was told.
  private Throwable abortedBy;
  private Scheduler.Task late;
  private volatile boolean sent;
  private volatile boolean answered;
  private volatile long sentAtMs;
  private volatile UsedConnections.Mark connection;

  /**
   * Nothing is sent yet.
   *
   * @param trySendAgain asked before the call goes upstream a second time; true counts it
   */
  UpstreamCall(
      GatewayContext context,
      CallPlan plan,
      SerializedInvoker invoker,
      BooleanSupplier trySendAgain) {
    this.trySendAgain = trySendAgain;
    this.context = context;
    this.plan = plan;
    this.invoker = invoker;
    this.request = newRequest();
  }

  private Request newRequest() {
    var upstream = plan.target().upstream();
    String key = context.keys().get(upstream.name());
    String path =
        key == null ? plan.pathAndQuery() : Credentials.withoutParameters(plan.pathAndQuery());
    String contentType = plan.headers().get("content-type");
    Request made =
        context
            .client()
            .newRequest(upstream.url() + path)
            .method(plan.method())
            .headers(headers -> Headers.toUpstream(plan.headers(), headers, upstream, key))
            .onRequestBegin(this::onSent)
            .onResponseBegin(this::onAnswer);
    if (plan.body().length > 0) {
      made.body(
          new BytesRequestContent(
              contentType == null ? "application/octet-stream" : contentType, plan.body()));
    }
    return made;
  }

  private void onSent(Request begun) {
    sent = true;
    sentAtMs = context.nowMs();
    connection = context.usedConnections().mark(begun.getConnection());
  }

  private void onAnswer(Response response) {
    connection.answered();
    if (response.getStatus() == HttpStatus.SWITCHING_PROTOCOLS_101) {
      // Nobody asked for another protocol; Jetty would leave the connection to it, and the call
      // without an end.
      var unused =
          response.abort(new ProtocolException("status 101, an upgrade that was not asked for"));
    }
  }

  /**
   * Sends it; by the call's invoker, as all else here. The head of its answer comes within the
   * longest silence that an upstream may keep, or it has failed: interim answers, and whatever else
   * comes before, do not make it longer.
   *
   * @param headListener told when the head of the answer is there; from then on who reads its body
   *     hears how that ends
   * @param failureListener told if there will be none
   */
  void send(
      BiConsumer<Response, Content.Source> headListener, Consumer<Throwable> failureListener) {
    onHead = headListener;
    onFailure = failureListener;
    long idleMs = context.config().waits().upstreamIdle().toMillis();
    late =
        context
            .scheduler()
            .schedule(() -> invoker.run(this::onLate), idleMs, TimeUnit.MILLISECONDS);
    send();
  }

  private void onLate() {
    if (!answered && !over) {
      TimeoutException silence = new TimeoutException("no answer in time");
      abort(silence);
      failed(silence, false);
    }
  }

  private void send() {
    request
        .onResponseContentSource(
            (response, source) -> {
              answered = true;
              invoker.run(() -> headIsThere(response, source));
            })
        .send(
            result -> {
              if (result.isFailed() && !answered) {
                boolean stale = isStale(result.getFailure());
                invoker.run(() -> failed(result.getFailure(), stale));
              }
            });
  }

  private void headIsThere(Response response, Content.Source source) {
    late.cancel();
    if (over) {
      source.fail(abortedBy);
    } else {
      onHead.accept(response, source);
    }
  }

  private boolean isStale(Throwable failure) {
    UsedConnections.Mark mark = connection;
    return mark != null
        && mark.isSilentSince()
        && failure instanceof IOException
        && context.nowMs() - sentAtMs <= STALE_MS;
  }

  private void failed(Throwable failure, boolean stale) {
    if (over) {
      return;
    }
    if (!stale || sentAgain || abortedBy != null || !trySendAgain.getAsBoolean()) {
      over = true;
      late.cancel();
      onFailure.accept(failure);
      return;
    }
    sentAgain = true;
    request = newRequest();
    send();
  }

  /** Whether anything of it may have reached the upstream. */
  boolean wasSent() {
    return sent;
  }

  /** Gives it up. */
  void abort(Throwable cause) {
    abortedBy = cause;
    var unused = request.abort(cause);
  }

  @Override
  public String toString() {
    return plan.method() + " " + plan.target().upstream().name();
  }
}
