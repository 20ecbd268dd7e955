package dev.fairway.replay.verify;

import java.util.ArrayList;
import java.util.List;

/** What a check found wrong: all of it counted, the first of it told. Not thread-safe. */
final class Findings {
  private final int toldMax;
  private final List<String> told = new ArrayList<>();
  private long count;

  Findings(int toldMax) {
    this.toldMax = toldMax;
  }

  void add(String finding) {
    count++;
    if (told.size() < toldMax) {
      told.add(finding);
    }
  }

  long count() {
    return count;
  }

  List<String> told() {
    return List.copyOf(told);
  }
}
