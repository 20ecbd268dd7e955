package dev.fairway.agent.gateway;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import org.eclipse.jetty.client.Connection;

/**
 * Connections to upstreams over which an answer has come. One that is used again may have been
 * closed by the upstream at that very moment; a new one was not. Holds no connection back.
 * Thread-safe.
 */
final class UsedConnections {
  private final Set<Connection> used =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  /** An answer came over it; null is none. */
  void answered(Connection connection) {
    if (connection != null) {
      used.add(connection);
    }
  }

  /** Whether an answer has come over it before. */
  boolean contains(Connection connection) {
    return connection != null && used.contains(connection);
  }
}
