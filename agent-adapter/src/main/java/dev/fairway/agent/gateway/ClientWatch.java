package dev.fairway.agent.gateway;

import dev.fairway.agent.gateway.ReadAheadEndPoint.Ahead;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.util.Callback;

/**
 * Notices that a client hangs up while it is sent nothing. A server does not read from an HTTP/1.1
 * connection until its answer is out, and so would find out when it first writes, which may be
 * minutes later. The request has been read to its end, so all that can come is the connection's
 * end, or the client's next requests. Those are read ahead, as far as they are kept; a client that
 * sends more is watched no more, and one for whose requests there is no room, once there is some.
 *
 * <p>To be stopped before the answer ends: from then on the server itself reads. Thread-safe.
 */
final class ClientWatch implements Callback {
  private final ReadAheadEndPoint endPoint;
  private final Consumer<Throwable> gone;
  private final CancellationException onStop = new CancellationException("watch stopped");
  private boolean stopped;

  private ClientWatch(ReadAheadEndPoint endPoint, Consumer<Throwable> gone) {
    this.endPoint = endPoint;
    this.gone = gone;
    this.stopped = endPoint == null;
  }

  /**
   * Starts to watch.
   *
   * @param gone told once if the client hangs up, from one of the server's threads
   */
  static ClientWatch start(Connection connection, Consumer<Throwable> gone) {
    ClientWatch watch =
        new ClientWatch(
            connection.getEndPoint() instanceof ReadAheadEndPoint endPoint ? endPoint : null, gone);
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
        Ahead ahead = endPoint.readAhead();
        if (ahead == Ahead.NO_ROOM) {
          endPoint.awaitRoom(this);
          return;
        }
        stopped = ahead != Ahead.OPEN;
        if (ahead == Ahead.ENDED) {
          end = new EofException("The client closed the connection");
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
      endPoint.awaitMore(this);
    }
  }
}
