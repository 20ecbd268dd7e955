package dev.fairway.agent.task;

import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * A change in a few bytes, to be compared with others: the {@value #HASHES_MAX} smallest hashes of
 * its runs of {@value #RUN} words (Broder's bottom-k sketch). Where things are, how they are
 * indented and which numbers they have is left out: a change that moved is the same change.
 * Immutable.
 */
final class DiffSketch {
  static final int HASHES_MAX = 256;
  static final int CHARS_MAX = 1 << 20;

  private static final int RUN = 3;

  /** {@code ---} and {@code +++} name files only together: alone, they are changed lines. */
  private static final Pattern HEADERS =
      Pattern.compile(
          "(?m)^(@@.*|index .*|diff .*|---( .*)?\\R\\+\\+\\+( .*)?|(old|new) mode .*)$");

  private static final Pattern CHANGED = Pattern.compile("(?m)^[+-]");
  private static final Pattern CONTEXT = Pattern.compile("(?m)^[^+-].*$");
  private static final Pattern NUMBERS =
      Pattern.compile("0x[0-9a-fA-F]+|\\b[0-9a-f]{7,64}\\b|\\d+");
  private static final Pattern WORD_BOUNDARY = Pattern.compile("\\s+|(?<=\\W)|(?=\\W)");

  /** Sorted, each once. */
  private final long[] hashes;

  private DiffSketch(long[] hashes) {
    this.hashes = hashes;
  }

  /** The sketch of a diff, or of any text; of more than {@value #CHARS_MAX} letters, the first. */
  static DiffSketch of(String diff) {
    String[] words = WORD_BOUNDARY.split(normalised(diff));
    long[] runs = new long[Math.max(0, words.length)];
    int count = 0;
    for (int i = 0; i < words.length; i++) {
      if (!words[i].isEmpty()) {
        runs[count++] = hash(words, i);
      }
    }
    long[] sorted = Arrays.stream(runs, 0, count).sorted().distinct().limit(HASHES_MAX).toArray();
    return new DiffSketch(sorted);
  }

  /** Only what was changed, without places and numbers; a text that is no diff stays whole. */
  static String normalised(String diff) {
    String text = diff.length() <= CHARS_MAX ? diff : diff.substring(0, CHARS_MAX);
    text = HEADERS.matcher(text).replaceAll("");
    if (CHANGED.matcher(text).find()) {
      text = CONTEXT.matcher(text).replaceAll("");
    }
    return NUMBERS.matcher(text).replaceAll("0").strip();
  }

  /** How alike two changes are, 0 to 1: the share of runs that are in both (Jaccard). */
  double similarity(DiffSketch other) {
    if (hashes.length == 0 && other.hashes.length == 0) {
      return 1;
    }
    int both = 0;
    int either = 0;
    int i = 0;
    int j = 0;
    while (either < HASHES_MAX && (i < hashes.length || j < other.hashes.length)) {
      either++;
      if (j >= other.hashes.length || (i < hashes.length && hashes[i] < other.hashes[j])) {
        i++;
      } else if (i >= hashes.length || hashes[i] > other.hashes[j]) {
        j++;
      } else {
        both++;
        i++;
        j++;
      }
    }
    return (double) both / either;
  }

  private static long hash(String[] words, int from) {
    long hash = 0xcbf29ce484222325L;
    int taken = 0;
    for (int i = from; i < words.length && taken < RUN; i++) {
      if (!words[i].isEmpty()) {
        for (int c = 0; c < words[i].length(); c++) {
          hash = (hash ^ words[i].charAt(c)) * 0x100000001b3L;
        }
        hash = (hash ^ 0xffff) * 0x100000001b3L;
        taken++;
      }
    }
    // Spreads what FNV leaves close together, so that the smallest are a fair sample.
    hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
    return hash ^ (hash >>> 33);
  }
}
