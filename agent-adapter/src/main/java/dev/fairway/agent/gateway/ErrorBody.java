package dev.fairway.agent.gateway;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Reads the body of an upstream's error. What the error is stands in its head: a body that breaks
 * off, goes past {@value #BYTES_MAX} bytes or takes longer than {@value #LATE_MS} ms ends there,
 * and the error counts all the same.
 */
final class ErrorBody {
  static final int BYTES_MAX = 1 << 20;
  static final long LATE_MS = 10_000;

  /**
   * What was read.
   *
   * @param bytes the body, or its beginning
   * @param missing why it is not whole, or null if it is
   */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record Read(byte[] bytes, String missing) {}

  private final Content.Source source;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final CompletableFuture<Read> read = new CompletableFuture<>();

  private ErrorBody(Content.Source source) {
    this.source = source;
  }

  /** Reads a body; what comes of it never fails. */
  static CompletableFuture<Read> read(Content.Source source, Scheduler scheduler) {
    ErrorBody body = new ErrorBody(source);
    var late =
        scheduler.schedule(
            () -> body.cut("did not come to its end within " + LATE_MS + " ms"),
            LATE_MS,
            TimeUnit.MILLISECONDS);
    var unused = body.read.whenComplete((read, error) -> late.cancel());
    body.read();
    return body.read;
  }

  private void read() {
    while (true) {
      Content.Chunk chunk = source.read();
      if (chunk == null) {
        source.demand(this::read);
        return;
      }
      if (Content.Chunk.isFailure(chunk)) {
        end("broke off");
        return;
      }
      boolean last = chunk.isLast();
      byte[] copy = new byte[Math.min(chunk.remaining(), BYTES_MAX - bytes.size())];
      boolean whole = copy.length == chunk.remaining();
      chunk.get(copy, 0, copy.length);
      chunk.release();
      bytes.writeBytes(copy);
      if (!whole) {
        cut("is longer than " + BYTES_MAX + " bytes");
        return;
      }
      if (last) {
        end(null);
        return;
      }
    }
  }

  private void cut(String missing) {
    if (end(missing)) {
      source.fail(new IOException("The body of an error " + missing));
    }
  }

  private boolean end(String missing) {
    return read.complete(new Read(bytes.toByteArray(), missing));
  }
}
