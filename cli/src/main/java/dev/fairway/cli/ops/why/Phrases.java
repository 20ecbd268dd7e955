package dev.fairway.cli.ops.why;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.BreakerCause;
import dev.fairway.schemas.BreakerClosed;
import dev.fairway.schemas.BreakerOpened;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseRejected;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.QuotaHeld;
import dev.fairway.schemas.QuotaState;
import dev.fairway.schemas.RampStarted;
import dev.fairway.schemas.WaitReason;
import dev.fairway.schemas.WaitWords;
import dev.fairway.schemas.WaiterRow;
import dev.fairway.schemas.WaitsFor;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the journal's records say, in words. */
final class Phrases {

  private static final double BASIS_POINTS_PER_PERCENT = 100.0;

  private Phrases() {}

  static String arrival(LeaseRequest request) {
    StringBuilder text =
        new StringBuilder("arrived from ")
            .append(request.getAgentId())
            .append(" as ")
            .append(request.getRole())
            .append(" for quota ")
            .append(request.getQuota());
    if (request.getTaskId() != null) {
      text.append(", task ").append(request.getTaskId());
    }
    if (request.getRetryOf() != null) {
      text.append(", a retry of ").append(request.getRetryOf());
    }
    text.append("; estimate ")
        .append(
            request.getEstimate().getInputTokens() == null
                ? "unknown"
                : request.getEstimate().getInputTokens() + " input tokens");
    if (request.getEstimate().getMaxOutputTokens() != null) {
      text.append(", at most ")
          .append(request.getEstimate().getMaxOutputTokens())
          .append(" output tokens");
    }
    return text.toString();
  }

  static String line(WaiterRow waiter, long ahead) {
    return "in line with weight "
        + weight(waiter)
        + " and cost "
        + waiter.getCost()
        + (ahead == 0 ? "; nobody ahead" : "; " + ahead + " ahead in the fair order")
        + corrected(waiter);
  }

  /** That a call counts as more than it asked for. */
  private static String corrected(WaiterRow waiter) {
    LeaseRequest request = waiter.getRequest();
    Long asked = request.getEstimate().getInputTokens();
    return asked == null || waiter.getForecastInput() <= asked
        ? ""
        : "; its input counts as "
            + waiter.getForecastInput()
            + " tokens, since calls of role "
            + request.getRole()
            + " use more than they estimate";
  }

  /**
   * What who waits was told.
   *
   * @param waitsFor what for, or null if that was not told
   * @param quota quota of the request
   * @param definition the quota's at that time, or null if it is not known
   */
  static String eta(
      String told, int position, long etaMs, WaitsFor waitsFor, String quota, Quota definition) {
    String place = told + " at position " + position;
    if (waitsFor == null) {
      return place
          + (etaMs == 0
              ? ", no wait for tokens: " + awaited(definition)
              : ", about " + seconds(etaMs) + " to wait");
    }
    String what = "for " + WaitWords.of(waitsFor, quota);
    boolean paused = waitsFor.getReason() == WaitReason.PAUSE;
    return place
        + (etaMs == 0
            ? ", no wait for tokens: " + what
            : ", about " + seconds(etaMs) + " to wait" + (paused ? ", and " : " ") + what);
  }

  /** What ends a wait that is none for tokens. */
  private static String awaited(Quota definition) {
    if (definition == null || !definition.getAlso().isEmpty()) {
      return "for a free slot, or until the quota is resumed";
    }
    return definition.getState() == QuotaState.PAUSED
        ? "until the quota is resumed"
        : "for a free slot";
  }

  static String repeats(long arrivals, long answers, long withinMs) {
    List<String> parts = new ArrayList<>();
    if (arrivals > 0) {
      parts.add("arrived again under the same id" + times(arrivals, withinMs));
    }
    if (answers > 0) {
      parts.add("the same decision was told again" + times(answers, withinMs));
      parts.add("nothing was charged");
    }
    return String.join("; ", parts);
  }

  private static String times(long count, long withinMs) {
    return count == 1 ? "" : ", " + count + " times within " + seconds(withinMs);
  }

  static String grant(LeaseGranted grant, long waitedMs, long servedMeanwhile) {
    return "granted after "
        + seconds(waitedMs)
        + (grant.getAttempt() > 1 ? " as attempt " + grant.getAttempt() : "")
        + ", charged "
        + amounts(grant.getCharged())
        + (grant.getColdCache() ? " with the prefix that was no longer cached" : "")
        + (servedMeanwhile > 0
            ? "; " + servedMeanwhile + " others were served while it waited"
            : "");
  }

  /** Who was served first, and the rule that says so. */
  static String servedBefore(LeaseGranted grant, WaiterRow other, WaiterRow waiting) {
    String who =
        grant.getRequestId()
            + " of "
            + grant.getAgentId()
            + " was served ("
            + amounts(grant.getCharged())
            + "): ";
    if (other == null) {
      return who + "it stood in line before the part of the journal that was read";
    }
    if (!Waiters.isBefore(other, waiting)) {
      return who + "it is behind in the fair order, and fitted where this request did not";
    }
    if (other.getArrival() < waiting.getArrival()) {
      return who + "it came first and is ahead in the fair order";
    }
    return who
        + "it came later, but the fair order puts it first: weight "
        + weight(other)
        + " and cost "
        + other.getCost()
        + " against weight "
        + weight(waiting)
        + " and cost "
        + waiting.getCost();
  }

  static String rejection(LeaseRejected rejected, long atMs) {
    String back =
        rejected.getRetryAtMs() == null
            ? "; told not to come back"
            : "; told to come back in " + seconds(Math.max(0, rejected.getRetryAtMs() - atMs));
    return "rejected, "
        + rejected.getReason()
        + ": "
        + rejected.getDetail()
        + back
        + ". Nothing was taken";
  }

  static String settlement(LeaseSettled settled) {
    return "settled "
        + settled.getOutcome()
        + (settled.getLate() ? " after it had expired" : "")
        + ", counts "
        + amounts(settled.getActual())
        + adjusted(settled.getAdjusted());
  }

  static String hold(QuotaHeld held, long atMs) {
    return "the quota grants nothing "
        + (held.getUntilMs() == null
            ? "until an operator clears it"
            : "for " + seconds(Math.max(0, held.getUntilMs() - atMs)))
        + ": "
        + held.getReason();
  }

  static String breakerOpened(BreakerOpened opened, long atMs) {
    return because(opened.getCause())
        + "; nothing is granted, and one probe goes "
        + (opened.getProbeAtMs() <= atMs ? "now" : "in " + seconds(opened.getProbeAtMs() - atMs));
  }

  private static String because(BreakerCause cause) {
    switch (cause) {
      case REFUSALS:
        return "two 429s in a row opened the breaker";
      case PROBE_REFUSED:
        return "the breaker's probe was answered 429, too";
      case PROBE_NOT_SENT:
        return "the breaker's probe was not sent";
      default:
        return "the breaker's probe was not answered in time";
    }
  }

  static String breakerClosed(BreakerClosed closed) {
    if (closed.getTrickleFromMs() != null) {
      return "too many probes told nothing: grants trickle until the first answer";
    }
    return closed.getLeaseId() == null
        ? "an operator closed the breaker"
        : "the provider took a probe, and the breaker closed";
  }

  static String rampStarted(RampStarted ramp, long atMs) {
    long inMs = Math.max(0, ramp.getFromMs() - atMs);
    return "grants are paced "
        + (inMs == 0 ? "from now on" : "from the end of the hold on, in " + seconds(inMs))
        + ": at half the rate, rising to the rate within a minute";
  }

  static String margin(String what, int fromBp, int toBp) {
    return String.format(
        Locale.ROOT,
        "%s from %.1f %% to %.1f %% of the limit",
        what,
        fromBp / BASIS_POINTS_PER_PERCENT,
        toBp / BASIS_POINTS_PER_PERCENT);
  }

  static String adjusted(Amounts adjusted) {
    String text = amounts(adjusted);
    return text.equals("nothing") ? "" : ", adjusted by " + text + " (positive: refunded)";
  }

  private static String amounts(Amounts amounts) {
    List<String> parts = new ArrayList<>();
    part(parts, amounts.getRequests(), "requests");
    part(parts, amounts.getInputTokens(), "input tokens");
    part(parts, amounts.getOutputTokens(), "output tokens");
    part(parts, amounts.getTokens(), "tokens");
    part(parts, amounts.getConcurrentRequests(), "slots");
    return parts.isEmpty() ? "nothing" : String.join(", ", parts);
  }

  private static void part(List<String> parts, Long amount, String name) {
    if (amount != null && amount != 0) {
      parts.add(amount + " " + name);
    }
  }

  private static String weight(WaiterRow waiter) {
    return String.format(Locale.ROOT, "%.3f", waiter.getWeightMilli() / 1000.0);
  }

  private static String seconds(long ms) {
    return String.format(Locale.ROOT, "%.1f s", ms / 1000.0);
  }
}
