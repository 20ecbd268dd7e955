package dev.fairway.admission.engine.bucket;

/**
 * What a quota limits. The order is the order in which amounts are listed and in which the
 * reference dimension of the fair queue is looked for; names are those of the protocol.
 */
public enum Dimension {
  REQUESTS("requests"),
  INPUT_TOKENS("input_tokens"),
  OUTPUT_TOKENS("output_tokens"),
  TOKENS("tokens"),
  CONCURRENT_REQUESTS("concurrent_requests");

  private static final Dimension[] VALUES = values();

  private final String wireName;

  Dimension(String wireName) {
    this.wireName = wireName;
  }

  /** Name in the protocol, in scripts and in metrics. */
  public String wireName() {
    return wireName;
  }

  /** Whether it refills with time. Concurrency does not: only an ended call gives a slot back. */
  public boolean refills() {
    return this != CONCURRENT_REQUESTS;
  }

  /** Number of dimensions. */
  public static int count() {
    return VALUES.length;
  }

  /** The dimension with that ordinal, without the copy that {@link #values()} makes. */
  public static Dimension of(int ordinal) {
    return VALUES[ordinal];
  }

  /** The dimension with that protocol name, or null if there is none. */
  public static Dimension byWireName(String name) {
    for (Dimension d : VALUES) {
      if (d.wireName.equals(name)) {
        return d;
      }
    }
    return null;
  }
}
