package dev.fairway.agent.gateway;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Executor;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * A client's connection from which may be read before its server asks: what comes behind a request
 * while that waits. The server reads it later as if it had just come. At most {@value #BYTES_MAX}
 * bytes are kept, within the budget of bodies; beyond, the rest waits in the system. Thread-safe.
 */
final class ReadAheadEndPoint extends SocketChannelEndPoint {
  static final int BYTES_MAX = 1 << 20;
  private static final int BYTES_FIRST = 8 * 1024;

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

  /**
   * Reads what is there.
   *
   * @return -1 if the client has closed its side, 0 if there may come more, 1 if no more is kept
   */
  synchronized int readAhead() throws IOException {
    while (true) {
      if (BufferUtil.space(ahead) == 0 && !grow()) {
        return 1;
      }
      int filled = super.fill(ahead);
      if (filled <= 0) {
        return filled;
      }
    }
  }

  private boolean grow() {
    int capacity = BufferUtil.length(ahead) == 0 ? 0 : ahead.capacity();
    int more = capacity == 0 ? BYTES_FIRST : capacity;
    if (capacity + more > BYTES_MAX || !isOpen() || !budget.take(more)) {
      return false;
    }
    ByteBuffer larger = BufferUtil.allocate(capacity + more);
    if (capacity > 0) {
      BufferUtil.append(larger, ahead);
    }
    ahead = larger;
    return true;
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
      budget.give(ahead.capacity());
      ahead = null;
    }
  }
}
