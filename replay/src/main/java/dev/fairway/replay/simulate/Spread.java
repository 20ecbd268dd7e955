package dev.fairway.replay.simulate;

import java.util.List;

/**
 * A value over seeds. Seeds without a finite value are left out; all are NaN if none has one.
 *
 * @param mean mean
 * @param sd standard deviation of a sample; 0 for a single seed
 * @param least smallest value
 * @param most largest value
 */
public record Spread(double mean, double sd, double least, double most) {

  static Spread of(List<Double> values) {
    double[] finite =
        values.stream().mapToDouble(Double::doubleValue).filter(Double::isFinite).toArray();
    if (finite.length == 0) {
      return new Spread(Double.NaN, Double.NaN, Double.NaN, Double.NaN);
    }
    double sum = 0;
    double least = Double.POSITIVE_INFINITY;
    double most = Double.NEGATIVE_INFINITY;
    for (double value : finite) {
      sum += value;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    double mean = sum / finite.length;
    double squares = 0;
    for (double value : finite) {
      squares += (value - mean) * (value - mean);
    }
    double sd = finite.length == 1 ? 0 : StrictMath.sqrt(squares / (finite.length - 1));
    return new Spread(mean, sd, least, most);
  }
}
