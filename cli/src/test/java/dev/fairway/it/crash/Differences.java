package dev.fairway.it.crash;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What does not agree between the three records. Not thread-safe. */
final class Differences {
  private static final int TOLD_MAX = 5;

  /** What can differ. */
  enum Kind {
    SEQUENCE("sequence of a key not 1..n"),
    INPUT_LOST("acknowledged record not in its topic"),
    INPUT_UNHANDLED("record without its one entry in the journal"),
    DEAD_LETTER("record dead-lettered"),
    NEVER_SENT("request or settlement that never reached the broker"),
    UNDECIDED("request without a decision"),
    ATTEMPT("attempt granted other than once"),
    LEASE_END("lease without its one end"),
    DECISION_UNKNOWN("received decision that the journal has otherwise, or not"),
    DECISION_UNDELIVERED("decision not received, though it could be"),
    REPLY_UNREAD("reply in the topic, not read by its agent"),
    GRANT_FORGOTTEN("received grant neither used nor given back"),
    LEASE_REUSED("lease handed or used twice"),
    CALL_WITHOUT_GRANT("call of the provider without a grant"),
    CALL_AFTER_END("call sent on a lease that was over"),
    CALL_UNACCOUNTED("call on which agent and provider differ"),
    SETTLEMENT_LOST("acknowledged settlement that the journal has otherwise, or not"),
    SETTLEMENT_UNKNOWN("settlement in the journal that no agent sent"),
    USAGE("usage of provider and journal differ");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
  private final List<String> told = new ArrayList<>();

  void add(Kind kind, String what) {
    if (counts.merge(kind, 1, Integer::sum) <= TOLD_MAX) {
      told.add(kind + ": " + what);
    }
  }

  int of(Kind kind) {
    return counts.getOrDefault(kind, 0);
  }

  int total() {
    return counts.values().stream().mapToInt(Integer::intValue).sum();
  }

  /** The first of each kind, for people. */
  String told() {
    return told.stream().collect(Collectors.joining("\n"));
  }
}
