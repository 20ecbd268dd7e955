package dev.fairway.replay.invariants;

/**
 * How often a broken engine is tried: {@code jqwik.tries.default}, which is also how often a
 * property of the sound one is. {@code junit-platform.properties} has it for a normal run, the
 * Maven profile {@code thousands} for a long one.
 */
final class Tries {
  private static final int NORMAL = 300;

  private Tries() {}

  static int count() {
    return Integer.getInteger("jqwik.tries.default", NORMAL);
  }
}
