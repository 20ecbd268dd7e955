package dev.fairway.cli.up;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The running parts of a process, stopped in the reverse order of their start. Thread-safe. */
final class Parts implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Parts.class);

  private record Part(String name, AutoCloseable stop) {}

  private final Deque<Part> parts = new ArrayDeque<>();
  private boolean closed;

  /**
   * Takes a part that has started, and stops it at once if the process is already being stopped.
   */
  synchronized <T extends AutoCloseable> T add(String name, T part) {
    parts.push(new Part(name, part));
    if (closed) {
      stopAll();
      throw new IllegalStateException("Stopped while " + name + " was starting.");
    }
    return part;
  }

  /**
   * Stops every part; one that fails to stop does not keep the others from it. May be called more
   * than once.
   */
  @Override
  public synchronized void close() {
    closed = true;
    stopAll();
  }

  private void stopAll() {
    while (!parts.isEmpty()) {
      Part part = parts.pop();
      try {
        part.stop().close();
        log.debug("{} stopped", part.name());
      } catch (Exception e) {
        log.error("{} did not stop cleanly", part.name(), e);
      }
    }
  }
}
