package dev.fairway.agent.gateway;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * A client's connection from which may be read before its server asks: what comes behind a request
 * while that waits. The server reads it later as if it had just come. At most {@value #BYTES_MAX}
 * bytes are kept, those above {@value #BYTES_FIRST} within the budget of bodies; beyond, the rest
 * waits in the system. Who has sent next to nothing is so noticed to leave whatever others have
 * sent. Thread-safe.
 */
final class ReadAheadEndPoint extends SocketChannelEndPoint {
  static final int BYTES_MAX = 1 << 20;
  private static final int BYTES_FIRST = 8 * 1024;
  private static final long ROOM_POLL_MS = 500;

  /** What has become of reading ahead. */
  enum Ahead {
    /** There may come more. */
    OPEN,
    /** There may be more, for which the budget has no room now. */
    NO_ROOM,
    /** No more is kept. */
    FULL,
    /** The client has closed its side. */
    ENDED
  }

  private final ByteBudget budget;
  private final Executor executor;
  private ByteBuffer ahead; // To be read from its position to its limit; null is empty.
  private volatile Thread awaiting;

  ReadAheadEndPoint(
      SocketChannel channel,
      ManagedSelector selector,
      SelectionKey key,
      Scheduler scheduler,
      Executor executor,
      ByteBudget budget) {
    super(channel, selector, key, scheduler);
    this.executor = executor;
    this.budget = budget;
  }

  /** Reads what is there. */
  synchronized Ahead readAhead() throws IOException {
    while (true) {
      if (BufferUtil.space(ahead) == 0) {
        int capacity = ahead == null ? 0 : ahead.capacity();
        if (2 * capacity > BYTES_MAX || !isOpen()) {
          return Ahead.FULL;
        }
        if (!budget.take(capacity)) {
          return Ahead.NO_ROOM;
        }
        ByteBuffer larger = BufferUtil.allocate(Math.max(BYTES_FIRST, 2 * capacity));
        if (ahead != null) {
          BufferUtil.append(larger, ahead);
        }
        ahead = larger;
      }
      int filled = super.fill(ahead);
      if (filled <= 0) {
        return filled < 0 ? Ahead.ENDED : Ahead.OPEN;
      }
    }
  }

  /** Calls back, now and then, while there may be room for more to {@link #readAhead()}. */
  void awaitRoom(Callback callback) {
    var unused =
        getScheduler()
            .schedule(
                () -> executor.execute(callback::succeeded), ROOM_POLL_MS, TimeUnit.MILLISECONDS);
  }

  /** Calls back when there is more to {@link #readAhead()}. */
  void awaitMore(Callback callback) {
    awaiting = Thread.currentThread();
    try {
      tryFillInterested(callback);
    } finally {
      awaiting = null;
    }
  }

  /** Whether the client hears of a reset if the connection is closed from here on, or of an end. */
  void resetOnClose(boolean reset) {
    try {
      getChannel().setOption(StandardSocketOptions.SO_LINGER, reset ? 0 : -1);
    } catch (IOException e) {
      // Closed already: nobody hears of anything.
    }
  }

  @Override
  public int fill(ByteBuffer buffer) throws IOException {
    synchronized (this) {
      if (BufferUtil.hasContent(ahead)) {
        int read = BufferUtil.append(buffer, ahead);
        if (!ahead.hasRemaining()) {
          release();
        }
        return read;
      }
    }
    return super.fill(buffer);
  }

  @Override
  protected void needsFillInterest() {
    boolean forMore = awaiting == Thread.currentThread();
    synchronized (this) {
      if (!forMore && BufferUtil.hasContent(ahead)) {
        executor.execute(() -> getFillInterest().fillable());
        return;
      }
    }
    super.needsFillInterest();
  }

  @Override
  public void onClose(Throwable cause) {
    super.onClose(cause);
    synchronized (this) {
      release();
    }
  }

  private void release() {
    if (ahead != null) {
      budget.give(ahead.capacity() - BYTES_FIRST);
      ahead = null;
    }
  }
}
