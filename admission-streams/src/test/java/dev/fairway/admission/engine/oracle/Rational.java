package dev.fairway.admission.engine.oracle;

import java.math.BigInteger;

/** An exact fraction: what the engine keeps in fixed point, the oracle keeps whole. */
record Rational(BigInteger numerator, BigInteger denominator) implements Comparable<Rational> {
  static final Rational ZERO = of(0);

  Rational {
    BigInteger gcd = numerator.gcd(denominator);
    if (denominator.signum() < 0) {
      gcd = gcd.negate();
    }
    numerator = numerator.divide(gcd);
    denominator = denominator.divide(gcd);
  }

  static Rational of(long whole) {
    return of(whole, 1);
  }

  static Rational of(long numerator, long denominator) {
    return new Rational(BigInteger.valueOf(numerator), BigInteger.valueOf(denominator));
  }

  Rational plus(Rational other) {
    return new Rational(
        numerator.multiply(other.denominator).add(other.numerator.multiply(denominator)),
        denominator.multiply(other.denominator));
  }

  Rational minus(Rational other) {
    return plus(new Rational(other.numerator.negate(), other.denominator));
  }

  Rational times(Rational other) {
    return new Rational(
        numerator.multiply(other.numerator), denominator.multiply(other.denominator));
  }

  Rational over(Rational other) {
    return new Rational(
        numerator.multiply(other.denominator), denominator.multiply(other.numerator));
  }

  Rational min(Rational other) {
    return compareTo(other) <= 0 ? this : other;
  }

  Rational max(Rational other) {
    return compareTo(other) >= 0 ? this : other;
  }

  long floor() {
    BigInteger[] parts = numerator.divideAndRemainder(denominator);
    return parts[0].longValueExact() - (parts[1].signum() < 0 ? 1 : 0);
  }

  long ceiling() {
    BigInteger[] parts = numerator.divideAndRemainder(denominator);
    return parts[0].longValueExact() + (parts[1].signum() > 0 ? 1 : 0);
  }

  @Override
  public int compareTo(Rational other) {
    return numerator.multiply(other.denominator).compareTo(other.numerator.multiply(denominator));
  }

  @Override
  public String toString() {
    return numerator + "/" + denominator;
  }
}
