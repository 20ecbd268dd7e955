package dev.fairway.admission.topology;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How often the engine failed on a record or on a key's tick. It outlives the aborted transaction
 * and the replaced thread, so a record that the engine cannot bear is set aside instead of being
 * read for ever.
 *
 * <p>Kept by the process alone: after a restart, or on another instance, it is counted from zero
 * again. Bounded: the oldest failure is forgotten at {@value #ENTRIES_MAX}. Thread-safe.
 */
public final class FailureMemory {
  private static final int ENTRIES_MAX = 1_000;
  private static final int FAILURES_MAX = 2;

  private final Map<String, Failure> failures =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Failure> eldest) {
          return size() > ENTRIES_MAX;
        }
      };

  private record Failure(int count, String message) {}

  synchronized void failed(String what, Throwable cause) {
    Failure before = failures.get(what);
    failures.put(what, new Failure(before == null ? 1 : before.count() + 1, cause.toString()));
  }

  /** What the engine said the last time if it must not be asked again, else null. */
  synchronized String exhausted(String what) {
    Failure failure = failures.get(what);
    return failure != null && failure.count() >= FAILURES_MAX ? failure.message() : null;
  }
}
