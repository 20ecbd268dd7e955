package dev.fairway.agent.gateway;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.IteratingCallback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands an answer on as it comes: each chunk is read by the tap and written at once, and the next
 * one is asked for when the client has taken it, so that a slow client slows down its upstream and
 * nothing piles up here.
 */
final class AnswerRelay extends IteratingCallback {
  private static final Logger log = LoggerFactory.getLogger(AnswerRelay.class);

  /** Hears how it goes; from any thread, one at a time. */
  interface Listener {
    /** Some of the answer was read. */
    void progressed();

    /**
     * The last byte that the client waits for was read, and is about to be written: it may go from
     * then on. Heard of once, or twice where a body of a known length ends apart from its bytes.
     */
    void ending();

    /** The upstream's last byte is on its way to the client, and nobody waits for what is done. */
    void complete();

    /** The client has everything. */
    void delivered();

    /** The upstream broke off. */
    void upstreamFailed(Throwable cause);

    /** The client does not take it. */
    void clientFailed(Throwable cause);
  }

  private final Content.Source source;
  private final Content.Sink sink;
  private final AnswerTap tap;
  private final UsageChunkFilter filter;
  private final Listener listener;
  private final Consumer<Boolean> writing;
  private Content.Chunk chunk;
  private Throwable upstreamFailure;
  private long missingBytes;
  private boolean last;

  /**
   * Relays an answer.
   *
   * @param filter takes something out, or null
   * @param lengthBytes length of the body that the client was told, or -1 where it was told none
   * @param writing told whether the client is being waited for
   */
  AnswerRelay(
      Content.Source source,
      Content.Sink sink,
      AnswerTap tap,
      UsageChunkFilter filter,
      long lengthBytes,
      Consumer<Boolean> writing,
      Listener listener) {
    this.source = source;
    this.sink = sink;
    this.tap = tap;
    this.filter = filter;
    this.missingBytes = lengthBytes;
    this.writing = writing;
    this.listener = listener;
  }

  @Override
  protected Action process() throws Throwable {
    writing.accept(false);
    release();
    while (!last) {
      chunk = source.read();
      if (chunk == null) {
        source.demand(this::iterate);
        return Action.IDLE;
      }
      if (Content.Chunk.isFailure(chunk)) {
        upstreamFailure = chunk.getFailure();
        throw upstreamFailure;
      }
      last = chunk.isLast();
      ByteBuffer out = tapped(chunk.getByteBuffer());
      if (last || isWhole(out.remaining())) {
        listener.ending();
      }
      if (last || out.hasRemaining()) {
        writing.accept(true);
        sink.write(last, out, this);
        if (last) {
          // However the write ends, that is heard of after this.
          listener.complete();
        }
        return Action.SCHEDULED;
      }
      release();
    }
    return Action.SUCCEEDED;
  }

  /**
   * Whether the client has all that it was told to wait for once it has these bytes. The end of a
   * body may come after its last byte, and clients don't wait for it.
   */
  private boolean isWhole(int bytes) {
    missingBytes -= bytes;
    return bytes > 0 && missingBytes == 0;
  }

  /** A tap that fails must not keep the answer from the client. */
  private ByteBuffer tapped(ByteBuffer bytes) {
    try {
      if (bytes.hasRemaining()) {
        tap.read(bytes);
        listener.progressed();
      }
    } catch (RuntimeException e) {
      log.warn("Expected to read an answer while it passes, but: {}", e.toString(), e);
    }
    return filter == null
        ? (bytes.hasRemaining() ? bytes : BufferUtil.EMPTY_BUFFER)
        : filter.filter(bytes, last);
  }

  private void release() {
    if (chunk != null) {
      chunk.release();
      chunk = null;
    }
  }

  @Override
  protected void onCompleteSuccess() {
    listener.delivered();
  }

  @Override
  protected void onCompleteFailure(Throwable cause) {
    if (upstreamFailure == null) {
      release();
      listener.clientFailed(cause);
      source.fail(cause);
    } else {
      listener.upstreamFailed(cause);
    }
  }
}
