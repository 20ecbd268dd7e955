package dev.fairway.replay.script;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds what was meant by a name with a typing error. */
public final class ClosestName {
  /** Longer ones are no slips of the keyboard, and would take long to compare. */
  private static final int LENGTH_MAX = 256;

  private ClosestName() {}

  /**
   * The known name that takes the fewest changes of one character (put in, left out, replaced, two
   * swapped), if these are at most a third of its length.
   *
   * @param name what was written
   * @param known the names that there are
   */
  public static Optional<String> of(String name, Collection<String> known) {
    if (name.length() > LENGTH_MAX) {
      return Optional.empty();
    }
    return known.stream()
        .filter(other -> other.length() <= LENGTH_MAX && !other.equals(name))
        .filter(other -> changes(name, other) <= Math.max(1, other.length() / 3))
        .min(
            Comparator.comparingInt((String other) -> changes(name, other))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** As a sentence to put behind an error that has no full stop; empty if nothing is close. */
  public static String question(String name, Collection<String> known) {
    return of(name, known).map(close -> ". Did you mean " + close + "?").orElse("");
  }

  /** The distance of Damerau and Levenshtein, no part changed twice. */
  private static int changes(String a, String b) {
    int[] older = new int[b.length() + 1];
    int[] before = new int[b.length() + 1];
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      before[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = before[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, 1 + Math.min(before[j], row[j - 1]));
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          row[j] = Math.min(row[j], older[j - 2] + 1);
        }
      }
      int[] free = older;
      older = before;
      before = row;
      row = free;
    }
    return before[b.length()];
  }
}
