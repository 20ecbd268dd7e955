package dev.fairway.replay.world.clairvoyant;

/**
 * How much may pass a head of the line that waits for a bucket to refill: small calls up to half of
 * what it needs, and others up to a tenth, counted apart.
 */
final class Backfill {
  private static final int SMALL = 32;
  private static final double SMALL_SHARE = 0.5;
  private static final double OTHER_SHARE = 0.1;

  private final long depth;
  private TagOrder.Waiting head;
  private long smallPassed;
  private long otherPassed;

  /** {@code depth} in the dimension that heads wait for. */
  Backfill(long depth) {
    this.depth = depth;
  }

  /** Another head begins to count anew. */
  void setHead(TagOrder.Waiting newHead) {
    if (newHead != head) {
      head = newHead;
      smallPassed = 0;
      otherPassed = 0;
    }
  }

  boolean mayPass(long input, long headInput) {
    return isSmall(input)
        ? smallPassed + input <= SMALL_SHARE * headInput
        : otherPassed + input <= OTHER_SHARE * headInput;
  }

  void passed(long input) {
    if (isSmall(input)) {
      smallPassed += input;
    } else {
      otherPassed += input;
    }
  }

  private boolean isSmall(long input) {
    return input <= depth / SMALL;
  }
}
