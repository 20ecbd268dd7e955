package dev.fairway.agent.gateway;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import org.eclipse.jetty.client.Connection;
import org.eclipse.jetty.client.transport.HttpClientTransportOverHTTP;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.util.Promise;

/**
 * What is known of connections to upstreams: whether an answer has come over one, and how many
 * bytes. One that is used again may have been closed by the upstream at that very moment; a new one
 * was not. Holds no connection back. Thread-safe.
 */
final class UsedConnections {
  private final Map<Connection, Use> uses = Collections.synchronizedMap(new WeakHashMap<>());

  private static final class Use {
    private final WeakReference<org.eclipse.jetty.io.Connection> bytes;
    private volatile boolean answered;

    Use(org.eclipse.jetty.io.Connection bytes) {
      this.bytes = new WeakReference<>(bytes);
    }

    /** Bytes that have come, or -1 if that is not known any more. */
    long bytesIn() {
      org.eclipse.jetty.io.Connection connection = bytes.get();
      return connection == null ? -1 : connection.getBytesIn();
    }
  }

  /** A connection at the moment at which a request was sent over it. */
  final class Mark {
    private final Use use;
    private final boolean answered;
    private final long bytesIn;

    private Mark(Use use) {
      this.use = use;
      this.answered = use != null && use.answered;
      this.bytesIn = use == null ? -1 : use.bytesIn();
    }

    /** Whether an answer had come over it before, and not a byte has since. */
    boolean isSilentSince() {
      return answered && bytesIn >= 0 && use.bytesIn() == bytesIn;
    }

    /** An answer has come over it. */
    void answered() {
      if (use != null) {
        use.answered = true;
      }
    }
  }

  /** Makes connections that are known here from their beginning. */
  HttpClientTransportOverHTTP transport(ClientConnector connector) {
    return new HttpClientTransportOverHTTP(connector) {
      @Override
      public org.eclipse.jetty.io.Connection newConnection(
          EndPoint endPoint, Map<String, Object> context) throws IOException {
        @SuppressWarnings("unchecked")
        Promise<Connection> opened =
            (Promise<Connection>) context.get(Connection.PROMISE_CONTEXT_KEY);
        Opening opening = new Opening(opened);
        context.put(Connection.PROMISE_CONTEXT_KEY, opening);
        opening.made = super.newConnection(endPoint, context);
        return opening.made;
      }
    };
  }

  private final class Opening extends Promise.Wrapper<Connection> {
    private volatile org.eclipse.jetty.io.Connection made;

    Opening(Promise<Connection> opened) {
      super(opened);
    }

    @Override
    public void succeeded(Connection connection) {
      uses.put(connection, new Use(made));
      super.succeeded(connection);
    }
  }

  /** The connection as it is now; null is none. */
  Mark mark(Connection connection) {
    return new Mark(connection == null ? null : uses.get(connection));
  }
}
