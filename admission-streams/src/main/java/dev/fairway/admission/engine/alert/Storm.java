package dev.fairway.admission.engine.alert;

import dev.fairway.admission.engine.state.QuotaState;
import dev.fairway.admission.engine.state.Transaction;
import java.util.Locale;

/**
 * Signs of a storm: 429s in waves, more requests with fewer successes, more 429s than tasks, and
 * retries that spend a good part of the quota. Looked at in the last whole window.
 */
final class Storm {
  private static final String ALL = "quota";

  /** Five standard deviations of the index of independent 429s, and half of that. */
  private static final double WAVES_FROM = 1 + 5 * StrictMath.sqrt(2.0 / Waves.BINS);

  private static final double WAVES_UNTIL = 1 + 2.5 * StrictMath.sqrt(2.0 / Waves.BINS);

  /** A window with fewer requests, or fewer 429s, says nothing. */
  private static final int FEW_REQUESTS = 20;

  private static final int FEW_REFUSALS = 10;
  private static final double MORE = 1.2;
  private static final double FEWER = 0.8;
  private static final double RETRIES_FROM = 0.10;
  private static final double RETRIES_UNTIL = 0.08;

  /** So much of what the index has above 1 makes waves those of turns. */
  private static final double TURNS_FROM = 0.5;

  private Storm() {}

  static void review(Transaction tx, QuotaState quota) {
    Traffic traffic = quota.traffic(tx.nowMs());
    for (int i = 0; i < Waves.SCALES_MS.length; i++) {
      long scaleMs = Waves.SCALES_MS[i];
      String subject = scaleMs + " ms";
      Waves refusals = traffic.waves().get(i).at(tx.nowMs(), scaleMs);
      Waves asked = traffic.asked().get(i).at(tx.nowMs(), scaleMs);
      double index = refusals.dispersion();
      boolean raised = quota.alerts().isRaised(AlertKind.REFUSALS_IN_WAVES, subject);
      Alerts.set(
          tx,
          quota,
          AlertKind.REFUSALS_IN_WAVES,
          subject,
          index > (raised ? WAVES_UNTIL : WAVES_FROM),
          waves(refusals, asked, scaleMs));
    }
    windows(tx, quota, traffic.beforeLast(), traffic.last());
  }

  /**
   * What is found, and what it is held against: chance, and the times at which turns want calls.
   */
  private static String waves(Waves refusals, Waves asked, long scaleMs) {
    double index = refusals.dispersion();
    double byTurns = refusals.dispersionBy(asked);
    boolean turns = byTurns - 1 >= TURNS_FROM * (index - 1);
    return String.format(
        Locale.ROOT,
        "429s come in waves: dispersion index %.1f at %d ms, 1 where they are independent. Calls are"
            + " wanted with an index of %.1f there, which alone would make it %.1f: %s",
        index,
        scaleMs,
        asked.dispersion(),
        byTurns,
        turns
            ? "the waves are those of the agents' turns; look what many of them begin at the same"
                + " time"
            : "it is not the agents' turns; look who else uses the key, whether the limit is lower"
                + " than defined, and who retries at once");
  }

  private static void windows(
      Transaction tx, QuotaState quota, Traffic.Window before, Traffic.Window last) {
    boolean fewer =
        before.requests() >= FEW_REQUESTS
            && last.requests() > MORE * before.requests()
            && last.successes() < FEWER * before.successes();
    Alerts.set(
        tx,
        quota,
        AlertKind.FEWER_SUCCESSES,
        ALL,
        fewer,
        "More requests, "
            + last.requests()
            + " after "
            + before.requests()
            + " in five minutes, with fewer successes, "
            + last.successes()
            + " after "
            + before.successes()
            + "; agents repeat what fails");
    boolean more =
        last.tasks() > 0 && last.refusals() >= FEW_REFUSALS && last.refusals() > last.tasks();
    Alerts.set(
        tx,
        quota,
        AlertKind.MORE_REFUSALS_THAN_TASKS,
        ALL,
        more,
        last.refusals() + " 429s for " + last.tasks() + " tasks in five minutes");
    double spend = last.successes() * quota.statistics().meanInput();
    double share = spend <= 0 ? 0 : Math.min(1, last.retrySpend() / spend);
    boolean raised = quota.alerts().isRaised(AlertKind.RETRY_SPEND, ALL);
    Alerts.set(
        tx,
        quota,
        AlertKind.RETRY_SPEND,
        ALL,
        last.requests() >= FEW_REQUESTS && share > (raised ? RETRIES_UNTIL : RETRIES_FROM),
        "Retries spent " + Math.round(share * 100) + " % of the input tokens of five minutes");
  }

  /** An alert that stands is looked at again when the window ends; none is raised by time alone. */
  static long dueMs(QuotaState quota, long nowMs) {
    boolean stands =
        quota.alerts().isRaised(AlertKind.FEWER_SUCCESSES, ALL)
            || quota.alerts().isRaised(AlertKind.MORE_REFUSALS_THAN_TASKS, ALL)
            || quota.alerts().isRaised(AlertKind.RETRY_SPEND, ALL);
    for (long scaleMs : Waves.SCALES_MS) {
      stands |= quota.alerts().isRaised(AlertKind.REFUSALS_IN_WAVES, scaleMs + " ms");
    }
    return stands ? nowMs - nowMs % Traffic.WINDOW_MS + Traffic.WINDOW_MS : Long.MAX_VALUE;
  }
}
