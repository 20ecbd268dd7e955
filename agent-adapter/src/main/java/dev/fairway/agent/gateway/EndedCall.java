package dev.fairway.agent.gateway;

import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * What is left of a call with an idempotency key that went well: which one it was, and its answer,
 * if that is kept.
 *
 * @param of what was asked for
 * @param requestId id of its request, or null
 * @param recording its answer
 */
record EndedCall(CallPlan.Asked of, String requestId, Recording recording)
    implements PlaceBook.Place {

  @Override
  public void join(Request request, Response response, Callback callback, CallPlan again) {
    ClientAnswer answer =
        new ClientAnswer(again.family(), response, callback, null, this::requestId, cause -> {});
    if (of.equals(again.asked())) {
      recording.replay(answer);
    } else {
      answer.trouble(Trouble.keyOfAnother(of));
    }
  }
}
