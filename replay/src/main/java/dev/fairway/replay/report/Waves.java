package dev.fairway.replay.report;

import java.util.Locale;

/**
 * How bunched the 429s of a run come, and whether they come when turns want their calls. Bunched is
 * the variance of the number in an interval over its mean: 1 where they come one by one.
 *
 * @param refusals 429s
 * @param intervals intervals of 10 s that the correlation is taken over
 * @param in100Ms of 429s in 100 ms; NaN without any, as the next two
 * @param in1S of 429s in a second
 * @param in10S of 429s in 10 s
 * @param wishesIn10S of the moments when turns want a call, in 10 s
 * @param correlation of the number of 429s and of wishes in the same 10 s; NaN where one of both
 *     never changes
 */
record Waves(
    long refusals,
    int intervals,
    double in100Ms,
    double in1S,
    double in10S,
    double wishesIn10S,
    double correlation) {

  /** From here on wishes account for a quarter of how the number of 429s varies, or more. */
  static final double LINED_UP = 0.5;

  /** Below so many 429s, or intervals, a correlation says little. */
  static final int ENOUGH = 30;

  static Waves of(RunWatch run, Window window) {
    Bins tens = Bins.ofRefusals(run.agents(), window, 10_000);
    Bins wishes = Bins.of(run.wantedMs(), window, 10_000);
    return new Waves(
        run.refusals(),
        tens.size(),
        Bins.ofRefusals(run.agents(), window, 100).dispersion(),
        Bins.ofRefusals(run.agents(), window, 1000).dispersion(),
        tens.dispersion(),
        wishes.dispersion(),
        tens.correlation(wishes));
  }

  /** The answer, and by what it is judged. */
  String answer() {
    if (refusals == 0) {
      return "no 429s, so no waves.";
    }
    if (refusals < ENOUGH) {
      return "cannot be said of "
          + (refusals == 1 ? "one 429" : refusals + " 429s")
          + ": it takes "
          + ENOUGH
          + " or more.";
    }
    if (intervals < ENOUGH || Double.isNaN(correlation)) {
      return "cannot be said of so short a run: it takes "
          + ENOUGH
          + " intervals of 10 s or more, in which both 429s and wishes vary.";
    }
    boolean linedUp = correlation >= LINED_UP;
    return String.format(
        Locale.ROOT,
        "%s. The correlation is %.2f, %s the bound of %.1f: %s.",
        linedUp ? "yes" : "no",
        correlation,
        linedUp ? "not below" : "below",
        LINED_UP,
        why());
  }

  private String why() {
    if (correlation <= 0) {
      return "429s do not become more where more turns want a call";
    }
    return String.format(
        Locale.ROOT,
        "the wishes of turns account for %.0f %% of how the number of 429s varies, and other things"
            + " (retries, the level of the limit, the sizes of calls) for the rest",
        100 * correlation * correlation);
  }
}
