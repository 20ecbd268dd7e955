package dev.fairway.agent.gateway;

import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.Request;
import org.eclipse.jetty.client.Response;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.thread.SerializedInvoker;

/** One attempt of a call at its upstream. */
final class UpstreamCall {
  private final CallPlan plan;
  private final SerializedInvoker invoker;
  private final Request request;
  private volatile boolean sent;
  private volatile boolean answered;

  UpstreamCall(GatewayContext context, CallPlan plan, SerializedInvoker invoker) {
    this.plan = plan;
    this.invoker = invoker;
    var upstream = plan.target().upstream();
    String contentType = plan.headers().get("content-type");
    this.request =
        context
            .client()
            .newRequest(upstream.url() + plan.pathAndQuery())
            .method(plan.method())
            .headers(
                headers ->
                    Headers.toUpstream(
                        plan.headers(), headers, upstream, context.keys().get(upstream.name())))
            .onRequestBegin(begun -> sent = true);
    if (plan.body().length > 0) {
      request.body(
          new BytesRequestContent(
              contentType == null ? "application/octet-stream" : contentType, plan.body()));
    }
  }

  /**
   * Sends it.
   *
   * @param onHead told when the head of the answer is there; from then on who reads its body hears
   *     how that ends
   * @param onFailure told if there will be none
   */
  void send(BiConsumer<Response, Content.Source> onHead, Consumer<Throwable> onFailure) {
    request
        .onResponseContentSource(
            (response, source) -> {
              answered = true;
              invoker.run(() -> onHead.accept(response, source));
            })
        .send(
            result -> {
              if (result.isFailed() && !answered) {
                invoker.run(() -> onFailure.accept(result.getFailure()));
              }
            });
  }

  /** Whether anything of it may have reached the upstream. */
  boolean wasSent() {
    return sent;
  }

  /** Gives it up. */
  void abort(Throwable cause) {
    var unused = request.abort(cause);
  }

  @Override
  public String toString() {
    return plan.method() + " " + plan.target().upstream().name();
  }
}
