package dev.fairway.cli.demo.fleet;

import java.util.Optional;

/** Where an agent asks before it calls. One instance an agent; used by its thread alone. */
public interface Admission extends AutoCloseable {

  /**
   * Waits for a lease.
   *
   * @param call the call to be made
   * @param untilNanos {@link System#nanoTime()} after which nobody wants the lease any more
   * @return the lease, or empty if there was none until then; the request has left the queue
   */
  Optional<Permit> acquire(ModelCall call, long untilNanos) throws InterruptedException;

  /** Leaves; waits until what was settled has been sent. */
  @Override
  void close();

  /** Leave to make one call. */
  interface Permit {

    /** Id of the request that was granted. */
    String requestId();

    /** Tells how the call went. Must be called exactly once. */
    void settle(ProviderAnswer answer);
  }
}
