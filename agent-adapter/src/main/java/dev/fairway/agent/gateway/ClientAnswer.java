package dev.fairway.agent.gateway;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.fallback.RetryBudget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.io.QuietException;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.SerializedInvoker;

/**
 * What the client is sent: nothing, until it is decided; then an answer, or an error in the words
 * of the API that it speaks, on a stream of its own if that has begun. Once a byte of the
 * upstream's answer has passed there is no room for an error any more: what would be one breaks the
 * answer off, as one that ends as if it were whole would be a lie. Used by the call's invoker, and
 * by the relay once that writes.
 */
final class ClientAnswer {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A write that the connection did not take for this long is a client that does not read. */
  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private enum Stage {
    /** No byte of an answer was sent; comments may have been. */
    OPEN,
    /** The upstream's answer passes, and the relay writes. */
    PASSING,
    /** Nothing can be sent any more. */
    ENDED
  }

  private final ApiFamily family;
  private final Response response;
  private final OpenEnd end;
  private final Callback callback;
  private final SerializedInvoker invoker;
  private final Supplier<String> requestId;
  private final Consumer<Throwable> onFailure;
  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.OPEN);
  private final Queue<Runnable> next = new ArrayDeque<>(); // Of the few things that end an answer.
  private boolean promised;
  private boolean commenting;
  private String retriesLeft;
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
    this.end = new OpenEnd(response);
    this.callback = callback;
    this.invoker = invoker;
    this.requestId = requestId;
    this.onFailure = onFailure;
  }

  /** Whether a stream has been promised. */
  boolean isPromised() {
    return promised;
  }

  /** Promises a stream of events, unless that was done. */
  void beginStream() {
    if (isEnded() || promised) {
      return;
    }
    promised = true;
    response.setStatus(200);
    response.getHeaders().put("content-type", "text/event-stream; charset=utf-8");
    response.getHeaders().put("cache-control", "no-cache");
    end.begin();
    nameRequest();
  }

  /** Keeps a stream alive, unless the comment before has not gone out yet. */
  void comment(String text) {
    if (!commenting && stage.get() == Stage.OPEN) {
      commenting = true;
      write(ByteBuffer.wrap(utf8(": " + text + "\n\n")));
    }
  }

  /**
   * Passes on what an upstream sends before its answer: comments and pings of a stream that may
   * still turn out to be none. Its head promises the stream.
   */
  void passOn(int status, HttpFields headers, ByteBuffer bytes) {
    whenFree(
        () -> {
          if (stage.get() == Stage.OPEN) {
            beginHead(status, headers, false);
            promised = true;
            commenting = true;
            write(bytes);
          }
        });
  }

  /**
   * Begins an answer of the upstream, or goes on with the stream that was promised.
   *
   * @param lengthHolds whether the body goes through unchanged
   * @param ready run when the body may be written to {@link #sink()}, or when nobody takes it
   */
  void begin(int status, HttpFields headers, boolean lengthHolds, Runnable ready) {
    whenFree(
        () -> {
          beginHead(status, headers, lengthHolds);
          ready.run();
        });
  }

  private void beginHead(int status, HttpFields headers, boolean lengthHolds) {
    if (!promised && stage.get() == Stage.OPEN) {
      response.setStatus(status);
      Headers.toClient(headers, response.getHeaders(), lengthHolds);
      end.begin();
      nameRequest();
    }
  }

  /** Where the body goes. What is written after the end fails. */
  Content.Sink sink() {
    return (last, bytes, written) -> {
      if (passes()) {
        end.write(last, bytes, written);
      } else {
        written.failed(new EofException("The answer has ended"));
      }
    };
  }

  private boolean passes() {
    return stage.compareAndSet(Stage.OPEN, Stage.PASSING) || stage.get() == Stage.PASSING;
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

  /** Tells with an error how often the call may still be tried, where a header can. */
  void retriesLeft(String left) {
    retriesLeft = left;
  }

  /** Ends with an error of the gateway's own. */
  void trouble(Trouble trouble) {
    whenFree(() -> endWith(trouble, callback));
  }

  private void endWith(Trouble trouble, Callback ending) {
    JsonNode error = family.error(trouble);
    endOpen(
        trouble.message(),
        ending,
        promised ? family.errorEvent(error) : utf8(error.toString()),
        headers -> {
          response.setStatus(trouble.status());
          headers.put("content-type", "application/json");
          headers.put("x-should-retry", Boolean.toString(trouble.again()));
          if (trouble.retryAfter() != null) {
            headers.put("retry-after", Long.toString(trouble.retryAfterSeconds()));
            headers.put(
                "retry-after-ms", Long.toString(Math.max(1, trouble.retryAfter().toMillis())));
          }
        });
  }

  /**
   * Ends with an error of the upstream's. Where its body is not whole, the status and the headers
   * go through with words of the gateway's.
   *
   * @param noRetry whether the client is told that its own retries are of no use, whatever the
   *     upstream says
   */
  void upstreamError(int status, HttpFields headers, ErrorBody.Read body, boolean noRetry) {
    boolean whole = body.missing() == null;
    byte[] told =
        whole
            ? body.bytes()
            : utf8(words(status, ", and the body of that " + body.missing()).toString());
    whenFree(
        () ->
            endOpen(
                "The upstream answered " + status,
                callback,
                promised ? family.errorEvent(error(status, told)) : told,
                ours -> {
                  response.setStatus(status);
                  Headers.toClient(headers, ours, whole);
                  if (!whole) {
                    ours.remove("content-encoding");
                    ours.put("content-type", "application/json");
                  }
                  if (noRetry) {
                    ours.put("x-should-retry", "false");
                  }
                }));
  }

  /**
   * Ends what no byte of an answer was sent of; anything else breaks off.
   *
   * @param head says what goes before the body, unless a stream was promised
   */
  private void endOpen(
      String why, Callback ending, byte[] body, Consumer<HttpFields.Mutable> head) {
    if (!stage.compareAndSet(Stage.OPEN, Stage.ENDED)) {
      abort(new EofException(why));
      return;
    }
    if (!promised) {
      response.reset(); // An answer that began to pass may have left its head.
      head.accept(response.getHeaders());
      nameRequest();
      if (retriesLeft != null) {
        response.getHeaders().put(RetryBudget.HEADER, retriesLeft);
      }
    }
    end.write(true, ByteBuffer.wrap(body), ending);
  }

  /** Ends with an answer that was recorded. */
  void replay(int status, HttpFields headers, byte[] body) {
    whenFree(
        () -> {
          if (!stage.compareAndSet(Stage.OPEN, Stage.ENDED)) {
            return;
          }
          if (!promised) {
            response.setStatus(status);
            Headers.toClient(headers, response.getHeaders(), false);
            nameRequest();
          }
          end.write(true, ByteBuffer.wrap(body), callback);
        });
  }

  /** Whether nothing can be sent any more. */
  boolean isEnded() {
    return stage.get() == Stage.ENDED;
  }

  /** The relay has written the last byte. */
  void succeeded() {
    if (stage.getAndSet(Stage.ENDED) != Stage.ENDED) {
      callback.succeeded();
    }
  }

  /** Breaks off: a stream that ends as if it were whole would be a lie. */
  void abort(Throwable cause) {
    if (stage.getAndSet(Stage.ENDED) != Stage.ENDED) {
      callback.failed(quiet(cause));
    }
  }

  /**
   * The client closed its side. If that was all that it closed, it is told why it gets no answer;
   * else nobody reads it.
   */
  void hungUp(Throwable cause) {
    if (promised || commenting) {
      abort(cause);
    } else {
      endWith(
          Trouble.hungUp(),
          Callback.from(callback::succeeded, failure -> callback.failed(quiet(failure))));
    }
  }

  /** A client that hangs up is no error of the server's, to be logged with its stack. */
  private static Throwable quiet(Throwable cause) {
    return cause instanceof QuietException ? cause : new EofException(cause);
  }

  /** The upstream's own error, if it is JSON; else the gateway's. */
  private JsonNode error(int status, byte[] body) {
    try {
      JsonNode error = JSON.readTree(body);
      if (error != null && error.isObject()) {
        return error;
      }
    } catch (JsonProcessingException e) {
      // Told below.
    } catch (IOException e) {
      throw new IllegalStateException("bytes in memory that cannot be read", e);
    }
    return words(status, "");
  }

  private JsonNode words(int status, String more) {
    return family.error(
        new Trouble(status, "The upstream answered " + status + more + ".", null, false));
  }

  private void nameRequest() {
    String id = requestId.get();
    if (id != null) {
      response.getHeaders().put("x-fairway-request-id", id);
    }
  }

  private void write(ByteBuffer bytes) {
    writing(true);
    end.write(
        false,
        bytes,
        Callback.from(
            () -> invoker.run(this::onCommented), cause -> invoker.run(() -> onFailed(cause))));
  }

  private void onCommented() {
    writing(false);
    commenting = false;
    runNext();
  }

  private void onFailed(Throwable cause) {
    writing(false);
    commenting = false;
    boolean first = !isEnded();
    abort(cause);
    if (first) {
      onFailure.accept(cause);
    }
    runNext(); // An answer that has begun to come is read, whoever takes it.
  }

  private void runNext() {
    while (!commenting && !next.isEmpty()) {
      next.remove().run();
    }
  }

  /** One write at a time: what ends the answer waits for the comment that is on its way. */
  private void whenFree(Runnable write) {
    if (commenting) {
      next.add(write);
    } else {
      write.run();
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
