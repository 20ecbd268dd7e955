package dev.fairway.admission.topology;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Handled;
import dev.fairway.schemas.DeadLetterReason;

/**
 * Is told what the topology does, for metrics. Called on stream threads, possibly several, for work
 * whose transaction may still abort: it must be fast, thread-safe, and never throw.
 */
public interface AdmissionObserver {
  /** Looks away. */
  AdmissionObserver NONE = new AdmissionObserver() {};

  /** A command was handled; {@code nanos} is the time that it took. */
  default void handled(Command command, Handled handled, long nanos) {}

  /** A record was dead-lettered. */
  default void deadLettered(DeadLetterReason reason) {}

  /** A record of that topic was forwarded to the partition of its key. */
  default void forwarded(String topic) {}

  /** The engine failed; the task starts over. */
  default void engineFailed() {}

  /** A task rebuilt its engine from {@code rows} rows. */
  default void restored(int partition, int keys, long rows, long nanos) {}
}
