package dev.fairway.agent.gateway;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.fallback.RetryBudget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.io.QuietException;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.SerializedInvoker;

/**
 * What the client is sent: nothing, until it is decided; then an answer, or an error in the words
 * of the API that it speaks, on a stream of its own if that has begun. Used by the call's invoker,
 * and by the relay once that writes.
 */
final class ClientAnswer {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A write that the connection did not take for this long is a client that does not read. */
  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ApiFamily family;
  private final Response response;
  private final Callback callback;
  private final SerializedInvoker invoker;
  private final Supplier<String> requestId;
  private final Consumer<Throwable> onFailure;
  private final AtomicBoolean ended = new AtomicBoolean();
  private boolean begun;
  private boolean commenting;
  private Runnable next;
  private volatile long writingSince;

  /**
   * Nothing has been sent.
   *
   * @param requestId gives the id of the call's request when an answer begins, or null
   */
  ClientAnswer(
      ApiFamily family,
      Response response,
      Callback callback,
      SerializedInvoker invoker,
      Supplier<String> requestId,
      Consumer<Throwable> onFailure) {
    this.family = family;
    this.response = response;
    this.callback = callback;
    this.invoker = invoker;
    this.requestId = requestId;
    this.onFailure = onFailure;
  }

  /** Whether a stream has been promised. */
  boolean hasBegun() {
    return begun;
  }

  /** Promises a stream of events. */
  void beginStream() {
    if (ended.get()) {
      return;
    }
    begun = true;
    response.setStatus(200);
    response.getHeaders().put("content-type", "text/event-stream; charset=utf-8");
    response.getHeaders().put("cache-control", "no-cache");
    nameRequest();
  }

  /** Keeps a stream alive, unless the comment before has not gone out yet. */
  void comment(String text) {
    if (!commenting && !ended.get()) {
      commenting = true;
      write(false, utf8(": " + text + "\n\n"));
    }
  }

  /**
   * Begins an answer of the upstream, or goes on with the stream that was promised.
   *
   * @param lengthHolds whether the body goes through unchanged
   * @param ready run when the body may be written to {@link #sink()}
   */
  void begin(int status, HttpFields headers, boolean lengthHolds, Runnable ready) {
    whenFree(
        () -> {
          if (!begun && !ended.get()) {
            begun = true;
            response.setStatus(status);
            Headers.toClient(headers, response.getHeaders(), lengthHolds);
            nameRequest();
          }
          ready.run();
        });
  }

  /** Where the body goes. */
  Content.Sink sink() {
    return response;
  }

  /** Hears from the relay whether it waits for the client. */
  void writing(boolean writing) {
    writingSince = writing ? System.nanoTime() : 0;
  }

  /** Whether the client is slow to take what it is sent. */
  boolean isClientSlow() {
    long since = writingSince;
    return since != 0 && System.nanoTime() - since > SLOW_NANOS;
  }

  /** Tells with an error how often the call may still be tried, unless that is promised already. */
  void retriesLeft(String left) {
    if (!begun && !ended.get()) {
      response.getHeaders().put(RetryBudget.HEADER, left);
    }
  }

  /** Ends with an error of the gateway's own. */
  void trouble(Trouble trouble) {
    JsonNode error = family.error(trouble);
    whenFree(
        () -> {
          if (begun) {
            endWith(family.errorEvent(error.toString()));
            return;
          }
          if (ended.get()) {
            return;
          }
          response.setStatus(trouble.status());
          HttpFields.Mutable headers = response.getHeaders();
          headers.put("content-type", "application/json");
          nameRequest();
          headers.put("x-should-retry", Boolean.toString(trouble.again()));
          if (trouble.retryAfter() != null) {
            headers.put("retry-after", Long.toString(trouble.retryAfterSeconds()));
            headers.put(
                "retry-after-ms", Long.toString(Math.max(1, trouble.retryAfter().toMillis())));
          }
          endWith(utf8(error.toString()));
        });
  }

  /**
   * Ends with an error of the upstream's.
   *
   * @param noRetry whether the client is told that its own retries are of no use
   */
  void upstreamError(int status, HttpFields headers, byte[] body, boolean noRetry) {
    whenFree(
        () -> {
          if (begun) {
            endWith(family.errorEvent(oneLine(status, body)));
            return;
          }
          if (ended.get()) {
            return;
          }
          response.setStatus(status);
          Headers.toClient(headers, response.getHeaders(), true);
          nameRequest();
          if (noRetry && !headers.contains("x-should-retry")) {
            response.getHeaders().put("x-should-retry", "false");
          }
          endWith(body);
        });
  }

  /** Ends with an answer that was recorded. */
  void replay(int status, HttpFields headers, byte[] body) {
    whenFree(
        () -> {
          if (!begun) {
            response.setStatus(status);
            Headers.toClient(headers, response.getHeaders(), false);
            nameRequest();
          }
          endWith(body);
        });
  }

  /** Whether nothing can be sent any more. */
  boolean isEnded() {
    return ended.get();
  }

  /** The relay has written the last byte. */
  void succeeded() {
    if (ended.compareAndSet(false, true)) {
      callback.succeeded();
    }
  }

  /** Breaks off: a stream that ends as if it were whole would be a lie. */
  void abort(Throwable cause) {
    if (ended.compareAndSet(false, true)) {
      // A client that hangs up is no error of the server's, to be logged with its stack.
      callback.failed(cause instanceof QuietException ? cause : new EofException(cause));
    }
  }

  /** The upstream's own words on one line, if they are JSON; else the gateway's. */
  private String oneLine(int status, byte[] body) {
    try {
      JsonNode error = JSON.readTree(body);
      if (error != null && error.isObject()) {
        return JSON.writeValueAsString(error);
      }
    } catch (JsonProcessingException e) {
      // Told below.
    } catch (IOException e) {
      throw new IllegalStateException("bytes in memory that cannot be read", e);
    }
    return family
        .error(new Trouble(status, "The upstream answered " + status + ".", null, false))
        .toString();
  }

  private void nameRequest() {
    String id = requestId.get();
    if (id != null) {
      response.getHeaders().put("x-fairway-request-id", id);
    }
  }

  private void endWith(byte[] bytes) {
    if (ended.compareAndSet(false, true)) {
      response.write(true, ByteBuffer.wrap(bytes), callback);
    }
  }

  private void write(boolean last, byte[] bytes) {
    writing(true);
    response.write(
        last,
        bytes.length == 0 ? BufferUtil.EMPTY_BUFFER : ByteBuffer.wrap(bytes),
        Callback.from(
            () -> invoker.run(this::onCommented), cause -> invoker.run(() -> onFailed(cause))));
  }

  private void onCommented() {
    writing(false);
    commenting = false;
    if (next != null) {
      Runnable waiting = next;
      next = null;
      waiting.run();
    }
  }

  private void onFailed(Throwable cause) {
    writing(false);
    commenting = false;
    next = null;
    boolean first = !ended.get();
    abort(cause);
    if (first) {
      onFailure.accept(cause);
    }
  }

  /** One write at a time: what ends the answer waits for the comment that is on its way. */
  private void whenFree(Runnable write) {
    if (commenting) {
      next = write;
    } else {
      write.run();
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
