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
 * end, or the client's next request, which is handed to the connection.
 *
 * <p>To be stopped before the answer ends: from then on the server itself reads. Thread-safe.
 */
final class ClientWatch implements Callback {
  private static final int NEXT_REQUEST_BYTES = 4 * 1024;

  private final AbstractEndPoint endPoint;
  private final Connection.UpgradeTo connection;
  private final Consumer<Throwable> gone;
  private final CancellationException onStop = new CancellationException("watch stopped");
  private boolean stopped;

  private ClientWatch(
      AbstractEndPoint endPoint, Connection.UpgradeTo connection, Consumer<Throwable> gone) {
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
        endPoint instanceof AbstractEndPoint && connection instanceof Connection.UpgradeTo;
    ClientWatch watch =
        watchable
            ? new ClientWatch((AbstractEndPoint) endPoint, (Connection.UpgradeTo) connection, gone)
            : new ClientWatch(null, null, gone);
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
      ByteBuffer next = BufferUtil.allocate(NEXT_REQUEST_BYTES);
      try {
        int filled = endPoint.fill(next);
        if (filled < 0) {
          stopped = true;
          end = new EofException("The client closed the connection");
        } else if (filled > 0) {
          stopped = true;
          connection.onUpgradeTo(next);
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
