package dev.fairway.replay.simulate;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Whether the fleet could do without admission: where no backoff costs it anything that counts. */
public final class Verdict {
  /** Work done and pull requests merged, of what the best admission gives, still as good. */
  static final double AS_GOOD = 0.97;

  /** Tokens paid for each useful one, above the best admission's, still as cheap. */
  private static final double AS_CHEAP = 1.03;

  /** Seconds that a pull request may wait longer on its way. */
  private static final double AS_SOON_S = 60;

  private Verdict() {}

  /** What a backoff is measured by, named as the line's numbers are. */
  private enum Criterion {
    WORK("useful/c", Metric.USEFUL_VS_CLAIRVOYANT) {
      @Override
      boolean holds(double own, double best) {
        return own >= AS_GOOD * best;
      }
    },
    PULL_REQUESTS("PRs", Metric.FINISHED_PRS) {
      @Override
      boolean holds(double own, double best) {
        return own >= AS_GOOD * best;
      }
    },
    WAIT("wait", Metric.CRITICAL_WAIT_S) {
      @Override
      boolean holds(double own, double best) {
        return own <= AS_SOON_S + best;
      }
    },
    TOKENS("tokens/useful", Metric.TOKENS_VS_USEFUL) {
      @Override
      boolean holds(double own, double best) {
        return own <= AS_CHEAP * best;
      }
    };

    final String title;
    final Metric metric;

    Criterion(String title, Metric metric) {
      this.title = title;
      this.metric = metric;
    }

    abstract boolean holds(double own, double best);

    /** Where the best has nothing to measure, such as no merged pull request, all are as good. */
    boolean isMet(StudyResult result, Policy policy, Policy best) {
      double ofBest = mean(result, best, metric);
      return Double.isNaN(ofBest) || holds(mean(result, policy, metric), ofBest);
    }
  }

  /**
   * The backoff that would do alone, the best if several: it does at least 97 % of the work, merges
   * at least 97 % of the pull requests, lets none wait more than 60 s longer on the mean, and pays
   * at most 3 % more tokens for useful ones than the engine's default; or than the engine with
   * knobs, or the clairvoyant, where those before did not run. What that one has no number of is
   * not asked for: no wait where it merged nothing. Empty if none would, or none ran.
   */
  public static Optional<Policy> backoffAloneWouldDo(StudyResult result) {
    Policy best = measure(result);
    Policy found = null;
    for (Policy policy : result.policies()) {
      if (policy.isBackoffAlone() && misses(result, policy, best).isEmpty()) {
        found = found == null || useful(result, policy) > useful(result, found) ? policy : found;
      }
    }
    return Optional.ofNullable(found);
  }

  /**
   * The verdict in a line, with what is missing and the numbers behind it: the best backoff that
   * ran beside what it is measured against. Both may be bad, where nobody has the patience to wait.
   */
  public static String line(StudyResult result) {
    return backoffAloneWouldDo(result)
        .or(() -> bestBackoff(result))
        .map(policy -> line(result, policy, measure(result)))
        .orElse("no backoff ran");
  }

  private static String line(StudyResult result, Policy policy, Policy best) {
    List<String> misses = misses(result, policy, best);
    return (misses.isEmpty() ? "yes: " : "no (" + String.join(", ", misses) + "): ")
        + numbers(result, policy)
        + "; "
        + numbers(result, best);
  }

  private static Optional<Policy> bestBackoff(StudyResult result) {
    return result.policies().stream()
        .filter(Policy::isBackoffAlone)
        .max(Comparator.comparingDouble(policy -> useful(result, policy)));
  }

  private static String numbers(StudyResult result, Policy policy) {
    return String.format(
        Locale.ROOT,
        "%s useful/c %s, tokens/useful %s, PRs %s, wait %s",
        policy.wireName(),
        number("%.2f", useful(result, policy)),
        number("%.2f", mean(result, policy, Metric.TOKENS_VS_USEFUL)),
        number("%.1f", mean(result, policy, Metric.FINISHED_PRS)),
        number("%.0f s/PR", mean(result, policy, Metric.CRITICAL_WAIT_S)));
  }

  private static String number(String format, double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, format, value);
  }

  private static Policy measure(StudyResult result) {
    return List.of(Policy.FAIRWAY, Policy.FAIRWAY_KNOBS).stream()
        .filter(result.policies()::contains)
        .findFirst()
        .orElse(Policy.CLAIRVOYANT);
  }

  /** What the policy falls short in; the work first. */
  private static List<String> misses(StudyResult result, Policy policy, Policy best) {
    List<String> misses = new ArrayList<>();
    for (Criterion criterion : Criterion.values()) {
      if (!criterion.isMet(result, policy, best)) {
        misses.add(criterion.title);
      }
    }
    return misses;
  }

  private static double useful(StudyResult result, Policy policy) {
    return mean(result, policy, Metric.USEFUL_VS_CLAIRVOYANT);
  }

  private static double mean(StudyResult result, Policy policy, Metric metric) {
    return result.spread(policy, metric).mean();
  }
}
