package dev.fairway.agent.gateway;

import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.SerializedInvoker;

/** One client's side of a call: what it is sent, and the watch over whether it is still there. */
final class ClientLink {
  private final Request request;
  private final ClientAnswer answer;
  private final SerializedInvoker invoker;
  private final BiConsumer<ClientLink, Throwable> onGone;
  private ClientWatch watch;

  /**
   * A client that waits.
   *
   * @param invoker the call's
   * @param requestId gives the id of the call's request when an answer begins, or null
   * @param onGone told, by the invoker, if the client hangs up
   */
  ClientLink(
      ApiFamily family,
      Request request,
      Response response,
      Callback callback,
      SerializedInvoker invoker,
      Supplier<String> requestId,
      BiConsumer<ClientLink, Throwable> onGone) {
    this.request = request;
    this.invoker = invoker;
    this.onGone = onGone;
    this.answer = new ClientAnswer(family, response, callback, invoker, requestId, this::gone);
  }

  /** Begins to watch. */
  void start() {
    request.addIdleTimeoutListener(timeout -> answer.isClientSlow());
    watch =
        ClientWatch.start(
            request.getConnectionMetaData().getConnection(),
            cause -> invoker.run(() -> gone(cause)));
  }

  ClientAnswer answer() {
    return answer;
  }

  /** The answer is about to end. */
  void stopWatching() {
    if (watch != null) {
      watch.stop();
    }
  }

  private void gone(Throwable cause) {
    onGone.accept(this, cause);
  }
}
