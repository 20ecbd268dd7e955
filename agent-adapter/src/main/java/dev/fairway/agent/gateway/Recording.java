package dev.fairway.agent.gateway;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.Callback;

/**
 * Keeps an answer for a client that comes back for it. Of an answer above {@value #BYTES_MAX}
 * bytes, or beyond the gateway's budget, nothing is kept. Written by one relay, read once that is
 * done.
 */
final class Recording {
  static final int BYTES_MAX = 4 << 20;

  private final ByteBudget budget;
  private ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private int status;
  private HttpFields headers;
  private boolean complete;

  Recording(ByteBudget budget) {
    this.budget = budget;
  }

  /** The answer's head. */
  synchronized void begin(int answerStatus, HttpFields answerHeaders) {
    status = answerStatus;
    headers = answerHeaders;
  }

  /** Some of the body. */
  synchronized void add(ByteBuffer chunk, boolean last) {
    int length = chunk.remaining();
    if (bytes != null && (bytes.size() + length > BYTES_MAX || !budget.take(length))) {
      drop();
    }
    if (bytes != null) {
      byte[] copy = new byte[length];
      chunk.duplicate().get(copy);
      bytes.writeBytes(copy);
      complete |= last;
    }
  }

  /** Whether all of it is here. */
  synchronized boolean isComplete() {
    return complete && bytes != null;
  }

  /** Whether it is, or may yet become, complete. */
  synchronized boolean isKept() {
    return bytes != null;
  }

  synchronized int status() {
    return status;
  }

  synchronized HttpFields headers() {
    return headers;
  }

  synchronized byte[] body() {
    return bytes.toByteArray();
  }

  /** Forgets it. */
  synchronized void drop() {
    if (bytes != null) {
      budget.give(bytes.size());
      bytes = null;
    }
  }

  /** Where a relay writes: here, and to the client for as long as there is one. */
  Content.Sink sink(ClientAnswer answer) {
    return (last, chunk, callback) -> {
      add(chunk, last);
      if (answer.isEnded()) {
        callback.succeeded();
        return;
      }
      answer
          .sink()
          .write(
              last,
              chunk,
              Callback.from(
                  callback::succeeded,
                  cause -> {
                    answer.abort(cause); // Also if somebody else took the client's place.
                    callback.succeeded();
                  }));
    };
  }
}
