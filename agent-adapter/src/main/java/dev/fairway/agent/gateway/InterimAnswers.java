package dev.fairway.agent.gateway;

import org.eclipse.jetty.client.EarlyHintsProtocolHandler;
import org.eclipse.jetty.client.Request;
import org.eclipse.jetty.client.Response;
import org.eclipse.jetty.http.HttpStatus;

/**
 * Passes over what comes before an answer: every status from 100 to 199, whether anybody knows it
 * or not, but that which changes the protocol. One that nothing passed over would be taken for the
 * answer's end, and the answer behind it lost.
 */
final class InterimAnswers extends EarlyHintsProtocolHandler {
  @Override
  public String getName() {
    return "interim-answers";
  }

  @Override
  public boolean accept(Request request, Response response) {
    return HttpStatus.isInterim(response.getStatus());
  }
}
