package dev.fairway.agent.gateway;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/**
 * What clients are told where the server ends a call by itself: a request that it cannot read, or
 * one that does not go on. As everywhere an error that the client's SDK understands, and nothing of
 * what went wrong inside.
 */
final class ServerErrors extends ErrorHandler {

  @Override
  protected void generateResponse(
      Request request,
      Response response,
      int code,
      String message,
      Throwable cause,
      Callback callback) {
    Trouble trouble = cause instanceof TimeoutException ? Trouble.tooSlow() : trouble(code);
    ApiFamily family = ApiFamily.ofPath(Request.getPathInContext(request));
    response.setStatus(trouble.status());
    response.getHeaders().put("content-type", "application/json");
    response.getHeaders().put("connection", "close");
    response.getHeaders().put("x-should-retry", Boolean.toString(trouble.again()));
    response.write(true, utf8(family.error(trouble).toString()), callback);
  }

  @Override
  public ByteBuffer badMessageError(int status, String reason, HttpFields.Mutable headers) {
    Trouble trouble = trouble(status);
    headers.put("content-type", "application/json");
    headers.put("x-should-retry", Boolean.toString(trouble.again()));
    return utf8(ApiFamily.ANTHROPIC.error(trouble).toString());
  }

  private static Trouble trouble(int status) {
    String message =
        status < 500
            ? "Expected an HTTP request that can be read, but found one that cannot ("
                + status
                + ")."
            : "The gateway failed on this call; its log says why.";
    return new Trouble(status, message, null, status >= 500);
  }

  private static ByteBuffer utf8(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }
}
