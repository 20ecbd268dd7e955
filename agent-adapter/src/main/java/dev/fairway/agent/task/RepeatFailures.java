package dev.fairway.agent.task;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Notices that an agent runs in circles: the same tests fail, and the change it tried is much like
 * one it tried before. What it counts goes into {@code LeaseCall.Builder.repeatFailures} or the
 * header {@code x-fairway-repeat-failures}: the coordinator then lets others pass.
 *
 * <p>Fewer failing tests than ever before are progress, and so are others alone; then the count
 * begins anew. More tests, or fewer than a moment ago, are not: who breaks one and mends it again
 * runs in a circle too. The same tests after a change of another kind are neither: it stays.
 *
 * <p>{@value #STEPS_MAX} steps are known, with their last {@value #ATTEMPTS_MAX} changes as
 * sketches and {@value #TESTS_MAX} of the tests that failed after each, the first by name; beyond,
 * the step unused longest is forgotten. Thread-safe.
 */
public final class RepeatFailures {
  /** Two changes are alike from here on, if nothing else is said. */
  public static final double THRESHOLD = 0.8;

  /** Highest count that the coordinator takes. */
  public static final int COUNT_MAX = 1_000;

  static final int STEPS_MAX = 10_000;
  static final int ATTEMPTS_MAX = 8;
  static final int TESTS_MAX = 200;

  /** What stands for the tests of what did not build. */
  private static final Set<String> NOT_BUILT = Set.of("");

  private record Attempt(Set<String> failing, DiffSketch diff) {}

  private static final class Step {
    private final Deque<Attempt> attempts = new ArrayDeque<>();
    private int leastFailing = Integer.MAX_VALUE;
    private int repeats;

    boolean wasTried(Attempt now, double threshold) {
      return attempts.stream()
          .anyMatch(
              before ->
                  sharesATest(before, now) && before.diff().similarity(now.diff()) >= threshold);
    }

    /** Whether none of the tests that failed last fails now. */
    boolean failsElsewhere(Attempt now) {
      return attempts.isEmpty() || !sharesATest(attempts.getLast(), now);
    }

    private static boolean sharesATest(Attempt one, Attempt other) {
      return !Collections.disjoint(one.failing(), other.failing());
    }
  }

  private final double threshold;
  private final Map<String, Step> steps =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Step> eldest) {
          return size() > STEPS_MAX;
        }
      };

  /** With {@link #THRESHOLD}. */
  public RepeatFailures() {
    this(THRESHOLD);
  }

  /**
   * With a threshold of its own.
   *
   * @param threshold similarity from which on two changes are alike, above 0 to 1
   */
  public RepeatFailures(double threshold) {
    if (!(threshold > 0 && threshold <= 1)) {
      throw new IllegalArgumentException(
          "Expected a similarity threshold above 0 and up to 1, but found " + threshold + ".");
    }
    this.threshold = threshold;
  }

  /**
   * A step failed.
   *
   * @param step what was tried, such as a task's id
   * @param failingTests names of the tests that fail now; empty if it did not even build
   * @param diff what was changed, as a unified diff or any text
   * @return how often this failure repeats an earlier one: 0 for a first one
   */
  public synchronized int failed(String step, Set<String> failingTests, String diff) {
    Step known = steps.computeIfAbsent(step, name -> new Step());
    if (!failingTests.isEmpty() && failingTests.size() < known.leastFailing) {
      known.leastFailing = failingTests.size();
      known.attempts.clear();
    }
    Attempt now = new Attempt(kept(failingTests), DiffSketch.of(diff));
    if (known.wasTried(now, threshold)) {
      known.repeats = Math.min(COUNT_MAX, known.repeats + 1);
    } else if (known.failsElsewhere(now)) {
      known.repeats = 0;
    }
    known.attempts.add(now);
    if (known.attempts.size() > ATTEMPTS_MAX) {
      known.attempts.remove();
    }
    return known.repeats;
  }

  private static Set<String> kept(Set<String> failing) {
    return failing.isEmpty()
        ? NOT_BUILT
        : failing.stream().sorted().limit(TESTS_MAX).collect(Collectors.toUnmodifiableSet());
  }

  /** A step went well, or something else shows that it goes on. */
  public synchronized void progressed(String step) {
    steps.remove(step);
  }

  /** How often the last failure of a step repeated earlier ones. */
  public synchronized int count(String step) {
    Step known = steps.get(step);
    return known == null ? 0 : known.repeats;
  }
}
