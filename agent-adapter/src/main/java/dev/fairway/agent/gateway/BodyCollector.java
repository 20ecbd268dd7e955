package dev.fairway.agent.gateway;

import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.eclipse.jetty.io.Content;

/** Collects a request's body, within the bounds, without a thread that waits for it. */
final class BodyCollector {
  /** A body that is not taken. */
  static final class BodyNotTakenException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient Trouble trouble;

    BodyNotTakenException(Trouble trouble) {
      super(trouble.message(), null, false, false);
      this.trouble = trouble;
    }

    Trouble trouble() {
      return trouble;
    }
  }

  private final Content.Source source;
  private final int bytesMax;
  private final ByteBudget budget;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final CompletableFuture<byte[]> collected = new CompletableFuture<>();
  private long taken;

  BodyCollector(Content.Source source, int bytesMax, ByteBudget budget) {
    this.source = source;
    this.bytesMax = bytesMax;
    this.budget = budget;
  }

  /** Begins; fails with {@link BodyNotTakenException} at a bound. */
  CompletableFuture<byte[]> collect() {
    if (source.getLength() > bytesMax) {
      fail(Trouble.tooLarge(bytesMax));
    } else {
      read();
    }
    return collected;
  }

  /** What it holds of the budget, to be given back when the body is not needed any more. */
  long taken() {
    return taken;
  }

  private void read() {
    while (true) {
      Content.Chunk chunk = source.read();
      if (chunk == null) {
        source.demand(this::read);
        return;
      }
      if (Content.Chunk.isFailure(chunk)) {
        collected.completeExceptionally(chunk.getFailure());
        return;
      }
      boolean last = chunk.isLast();
      boolean kept = keep(chunk);
      chunk.release();
      if (!kept) {
        return;
      }
      if (last) {
        collected.complete(bytes.toByteArray());
        return;
      }
    }
  }

  private boolean keep(Content.Chunk chunk) {
    int length = chunk.remaining();
    if (bytes.size() + (long) length > bytesMax) {
      fail(Trouble.tooLarge(bytesMax));
      return false;
    }
    if (!budget.take(length)) {
      fail(
          Trouble.unavailable(
              "The gateway holds as many bodies as it may. Send the call again later.",
              Duration.ofSeconds(1)));
      return false;
    }
    taken += length;
    byte[] copy = new byte[length];
    chunk.get(copy, 0, length);
    bytes.writeBytes(copy);
    return true;
  }

  private void fail(Trouble trouble) {
    collected.completeExceptionally(new BodyNotTakenException(trouble));
  }
}
