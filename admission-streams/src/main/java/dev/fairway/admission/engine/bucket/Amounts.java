package dev.fairway.admission.engine.bucket;

import java.util.Arrays;
import java.util.function.LongBinaryOperator;

/**
 * One whole number per {@link Dimension}, or none where a dimension is absent. Immutable.
 * Arithmetic saturates at the ends of {@code long}: an absurd number never wraps into a harmless
 * one.
 */
public final class Amounts {
  /** No dimension present. */
  public static final Amounts NONE = new Amounts(new long[Dimension.count()], 0);

  private final long[] values;
  private final int present;

  private Amounts(long[] values, int present) {
    this.values = values;
    this.present = present;
  }

  /** Amounts with this dimension alone. */
  public static Amounts of(Dimension dimension, long amount) {
    return NONE.with(dimension, amount);
  }

  /** A copy with this dimension set. */
  public Amounts with(Dimension dimension, long amount) {
    long[] copy = values.clone();
    copy[dimension.ordinal()] = amount;
    return new Amounts(copy, present | (1 << dimension.ordinal()));
  }

  /** Whether the dimension is present. */
  public boolean has(Dimension dimension) {
    return (present & (1 << dimension.ordinal())) != 0;
  }

  /** The amount, or 0 where the dimension is absent. */
  public long get(Dimension dimension) {
    return values[dimension.ordinal()];
  }

  /** The amount, or null where the dimension is absent. */
  public Long orNull(Dimension dimension) {
    return has(dimension) ? values[dimension.ordinal()] : null;
  }

  /** Whether no dimension is present. */
  public boolean isEmpty() {
    return present == 0;
  }

  /** Whether every present amount is zero. */
  public boolean isZero() {
    for (long v : values) {
      if (v != 0) {
        return false;
      }
    }
    return true;
  }

  /** Sum per dimension; a dimension is present where either has it. */
  public Amounts plus(Amounts other) {
    return combine(other, Amounts::saturatedAdd);
  }

  /** Difference per dimension; a dimension is present where either has it. */
  public Amounts minus(Amounts other) {
    return combine(other, Amounts::saturatedSubtract);
  }

  /** The greater per dimension; a dimension is present where either has it. */
  public Amounts max(Amounts other) {
    return combine(other, Math::max);
  }

  /** {@code a + b}, held at the ends of {@code long}. */
  public static long saturatedAdd(long a, long b) {
    long sum = a + b;
    if (((a ^ sum) & (b ^ sum)) < 0) {
      return a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    return sum;
  }

  /** {@code a - b}, held at the ends of {@code long}. */
  public static long saturatedSubtract(long a, long b) {
    long difference = a - b;
    if (((a ^ b) & (a ^ difference)) < 0) {
      return a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    return difference;
  }

  private Amounts combine(Amounts other, LongBinaryOperator operator) {
    long[] result = new long[values.length];
    for (int i = 0; i < result.length; i++) {
      result[i] = operator.applyAsLong(values[i], other.values[i]);
    }
    return new Amounts(result, present | other.present);
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof Amounts other
        && present == other.present
        && Arrays.equals(values, other.values);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(values) + present;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < values.length; i++) {
      if (has(Dimension.of(i))) {
        text.append(text.length() > 1 ? ", " : "")
            .append(Dimension.of(i).wireName())
            .append('=')
            .append(values[i]);
      }
    }
    return text.append('}').toString();
  }
}
