package dev.fairway.agent.estimate;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * How far estimates of each model's input were off, by its last {@value #CALLS} calls. {@value
 * #MODELS_MAX} models are known; beyond, the one unused longest is forgotten. Thread-safe.
 */
public final class EstimateErrors {
  /** Models that are known at a time. */
  public static final int MODELS_MAX = 1_000;

  /** Last calls of a model that say how good its estimates are. */
  public static final int CALLS = 64;

  private static final class Errors {
    private final double[] relative = new double[CALLS];
    private long calls;
    private double correction = 1;
  }

  private final Map<String, Errors> models =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Errors> eldest) {
          return size() > MODELS_MAX;
        }
      };

  /** A call was estimated at this much, and used that much. */
  synchronized void observe(String model, long estimated, long used, double correction) {
    if (used <= 0) {
      return;
    }
    Errors errors = models.computeIfAbsent(model, name -> new Errors());
    errors.relative[(int) (errors.calls % CALLS)] = (double) (estimated - used) / used;
    errors.calls++;
    errors.correction = correction;
  }

  /** What is known of a model, or null. */
  public synchronized EstimateQuality of(String model) {
    Errors errors = models.get(model);
    return errors == null ? null : quality(errors);
  }

  /** What is known, by model; a copy. */
  public synchronized Map<String, EstimateQuality> all() {
    Map<String, EstimateQuality> all = new TreeMap<>();
    models.forEach((model, errors) -> all.put(model, quality(errors)));
    return all;
  }

  private static EstimateQuality quality(Errors errors) {
    int count = (int) Math.min(CALLS, errors.calls);
    double[] absolute = new double[count];
    double sum = 0;
    for (int i = 0; i < count; i++) {
      absolute[i] = Math.abs(errors.relative[i]);
      sum += errors.relative[i];
    }
    Arrays.sort(absolute);
    return new EstimateQuality(
        errors.calls,
        errors.correction,
        sum / count,
        absolute[(count - 1) / 2],
        absolute[(int) Math.ceil(0.9 * count) - 1]);
  }
}
