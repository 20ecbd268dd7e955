package dev.fairway.agent.gateway;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.eclipse.jetty.io.AbstractEndPoint;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;

/**
 * Notices that a client hangs up while it is sent nothing. A server does not read from an HTTP/1.1
 * connection until its answer is out, and so would find out when it first writes, which may be
 * minutes later. The request has been read to its end, so all that can come is the connection's
 * end, or the client's next requests. Of those as much is read as the connection has room for, and
 * handed to it; then the watch ends, and the rest waits in the system until the server reads again.
 *
 * <p>To be stopped before the answer ends: from then on the server itself reads. Thread-safe.
 */
final class ClientWatch implements Callback {
  /** What a connection keeps of bytes that it has not parsed: its input buffer. */
  static final int NEXT_REQUEST_BYTES = 8 * 1024;

  private final AbstractEndPoint endPoint;
  private final Connection connection;
  private final Consumer<Throwable> gone;
  private final CancellationException onStop = new CancellationException("watch stopped");
  private boolean stopped;

  private ClientWatch(AbstractEndPoint endPoint, Connection connection, Consumer<Throwable> gone) {
    this.endPoint = endPoint;
    this.connection = connection;
    this.gone = gone;
    this.stopped = endPoint == null;
  }

  /**
   * Starts to watch.
   *
   * @param gone told once if the client hangs up, from one of the server's threads
   */
  static ClientWatch start(Connection connection, Consumer<Throwable> gone) {
    EndPoint endPoint = connection.getEndPoint();
    boolean watchable =
        endPoint instanceof AbstractEndPoint
            && connection instanceof Connection.UpgradeFrom
            && connection instanceof Connection.UpgradeTo;
    ClientWatch watch =
        new ClientWatch(watchable ? (AbstractEndPoint) endPoint : null, connection, gone);
    watch.await();
    return watch;
  }

  /** Watches no more. */
  void stop() {
    synchronized (this) {
      if (stopped) {
        return;
      }
      stopped = true;
    }
    endPoint.getFillInterest().onFail(onStop);
  }

  @Override
  public void succeeded() {
    Throwable end = null;
    synchronized (this) {
      if (stopped) {
        return;
      }
      try {
        int filled = fill();
        if (filled < 0) {
          stopped = true;
          end = new EofException("The client closed the connection");
        } else if (filled > 0) {
          stopped = true;
        }
      } catch (IOException e) {
        stopped = true;
        end = e;
      }
    }
    if (end != null) {
      gone.accept(end);
    } else {
      await();
    }
  }

  /**
   * Reads into what the connection has left over of its own reading, which it may have from behind
   * the present request; whatever comes of it, the connection has all of it back.
   *
   * @return how much was read; more than 0 if there is no room for more
   */
  private int fill() throws IOException {
    ByteBuffer left = ((Connection.UpgradeFrom) connection).onUpgradeFrom();
    int leftBytes = BufferUtil.length(left);
    ByteBuffer next = BufferUtil.allocate(Math.max(NEXT_REQUEST_BYTES, leftBytes));
    if (leftBytes > 0) {
      BufferUtil.append(next, left);
    }
    try {
      return BufferUtil.space(next) == 0 ? leftBytes : endPoint.fill(next);
    } finally {
      if (next.hasRemaining()) {
        ((Connection.UpgradeTo) connection).onUpgradeTo(next);
      }
    }
  }

  @Override
  public void failed(Throwable cause) {
    if (cause == onStop) {
      return;
    }
    if (cause instanceof TimeoutException) {
      await(); // The connection is idle because the client waits.
      return;
    }
    synchronized (this) {
      if (stopped) {
        return;
      }
      stopped = true;
    }
    gone.accept(cause);
  }

  private synchronized void await() {
    if (!stopped) {
      endPoint.tryFillInterested(this);
    }
  }
}
