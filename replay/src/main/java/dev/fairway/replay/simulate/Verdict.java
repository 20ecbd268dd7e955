package dev.fairway.replay.simulate;

import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Whether the fleet could do without admission: where no backoff costs it anything that counts. */
public final class Verdict {
  /** Work done and pull requests merged, of what the best admission gives, still as good. */
  private static final double AS_GOOD = 0.97;

  /** Tokens paid for each useful one, above the best admission's, still as cheap. */
  private static final double AS_CHEAP = 1.03;

  /** Seconds that a pull request may wait longer on its way. */
  private static final double AS_SOON_S = 60;

  private Verdict() {}

  /**
   * The backoff that would do alone, the best if several: it does at least 97 % of the work, merges
   * at least 97 % of the pull requests, lets none wait more than 60 s longer on the mean, and pays
   * at most 3 % more tokens for useful ones than the engine's default, or the clairvoyant where
   * that did not run. Empty if none would, or none ran.
   */
  public static Optional<Policy> backoffAloneWouldDo(StudyResult result) {
    Policy best = measure(result);
    Policy found = null;
    for (Policy policy : result.policies()) {
      if (policy.isBackoffAlone() && isAsGood(result, policy, best)) {
        found = found == null || useful(result, policy) > useful(result, found) ? policy : found;
      }
    }
    return Optional.ofNullable(found);
  }

  /**
   * The verdict in a line, with the numbers behind it: the best backoff that ran beside what it is
   * measured against. Both may be bad, where nobody has the patience to wait.
   */
  public static String line(StudyResult result) {
    Optional<Policy> enough = backoffAloneWouldDo(result);
    return enough
        .or(() -> bestBackoff(result))
        .map(
            policy ->
                (enough.isPresent() ? "yes: " : "no: ")
                    + numbers(result, policy)
                    + "; "
                    + numbers(result, measure(result)))
        .orElse("no backoff ran");
  }

  private static Optional<Policy> bestBackoff(StudyResult result) {
    return result.policies().stream()
        .filter(Policy::isBackoffAlone)
        .max(Comparator.comparingDouble(policy -> useful(result, policy)));
  }

  private static String numbers(StudyResult result, Policy policy) {
    double waitS = mean(result, policy, Metric.CRITICAL_WAIT_S);
    return String.format(
        Locale.ROOT,
        "%s useful/c %.2f, tokens/useful %.2f, PRs %.1f%s",
        policy.wireName(),
        useful(result, policy),
        mean(result, policy, Metric.TOKENS_VS_USEFUL),
        mean(result, policy, Metric.FINISHED_PRS),
        Double.isNaN(waitS) ? "" : String.format(Locale.ROOT, ", wait %.0f s/PR", waitS));
  }

  private static Policy measure(StudyResult result) {
    return result.policies().contains(Policy.FAIRWAY) ? Policy.FAIRWAY : Policy.CLAIRVOYANT;
  }

  private static boolean isAsGood(StudyResult result, Policy policy, Policy best) {
    return useful(result, policy) >= AS_GOOD * useful(result, best)
        && mean(result, policy, Metric.FINISHED_PRS)
            >= AS_GOOD * mean(result, best, Metric.FINISHED_PRS)
        && mean(result, policy, Metric.CRITICAL_WAIT_S)
            <= AS_SOON_S + mean(result, best, Metric.CRITICAL_WAIT_S)
        && mean(result, policy, Metric.TOKENS_VS_USEFUL)
            <= AS_CHEAP * mean(result, best, Metric.TOKENS_VS_USEFUL);
  }

  private static double useful(StudyResult result, Policy policy) {
    return mean(result, policy, Metric.USEFUL_VS_CLAIRVOYANT);
  }

  private static double mean(StudyResult result, Policy policy, Metric metric) {
    return result.spread(policy, metric).mean();
  }
}
