package dev.fairway.replay.report;

import java.util.List;

/** Times counted into equal intervals of a window. */
final class Bins {
  private final int[] counts;

  private Bins(int[] counts) {
    this.counts = counts;
  }

  /** Counts what lies in the window; times outside of it are left out. */
  static Bins of(Iterable<Double> timesMs, Window window, int binMs) {
    int[] counts = new int[(int) Math.ceil(window.lengthMs() / binMs)];
    for (double atMs : timesMs) {
      int bin = (int) Math.floor((atMs - window.fromMs()) / binMs);
      if (bin >= 0 && bin < counts.length) {
        counts[bin]++;
      }
    }
    return new Bins(counts);
  }

  /** The refusals of all those agents. */
  static Bins ofRefusals(List<AgentLine> agents, Window window, int binMs) {
    return of(
        () -> agents.stream().flatMap(a -> a.refusalsMs().stream()).iterator(), window, binMs);
  }

  int size() {
    return counts.length;
  }

  int at(int bin) {
    return counts[bin];
  }

  /** Most in one interval. */
  int peak() {
    int peak = 0;
    for (int count : counts) {
      peak = Math.max(peak, count);
    }
    return peak;
  }

  /** First interval with the most. */
  int peakAt() {
    int best = 0;
    for (int i = 1; i < counts.length; i++) {
      best = counts[i] > counts[best] ? i : best;
    }
    return best;
  }

  /** Variance over mean: 1 where events come independently of each other, more where in waves. */
  double dispersion() {
    double mean = mean();
    double squares = 0;
    for (int count : counts) {
      squares += (count - mean) * (count - mean);
    }
    return mean == 0 ? Double.NaN : squares / counts.length / mean;
  }

  /** Correlation with other counts of the same intervals; NaN where one of both never changes. */
  double correlation(Bins other) {
    double mean = mean();
    double otherMean = other.mean();
    double both = 0;
    double own = 0;
    double others = 0;
    for (int i = 0; i < counts.length; i++) {
      double a = counts[i] - mean;
      double b = other.counts[i] - otherMean;
      both += a * b;
      own += a * a;
      others += b * b;
    }
    return both / StrictMath.sqrt(own * others);
  }

  private double mean() {
    double sum = 0;
    for (int count : counts) {
      sum += count;
    }
    return sum / counts.length;
  }
}
