package dev.fairway.admission.engine.state;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

/** Names by time, the earliest first and then by name. */
final class DueIndex {
  /** A name and its time. */
  record Due(long atMs, String name) implements Comparable<Due> {
    @Override
    public int compareTo(Due other) {
      int byTime = Long.compare(atMs, other.atMs);
      return byTime != 0 ? byTime : name.compareTo(other.name);
    }
  }

  private final NavigableSet<Due> entries = new TreeSet<>();

  void add(long atMs, String name) {
    entries.add(new Due(atMs, name));
  }

  void remove(long atMs, String name) {
    entries.remove(new Due(atMs, name));
  }

  /** Time of the first entry, or {@link Long#MAX_VALUE}. */
  long firstMs() {
    return entries.isEmpty() ? Long.MAX_VALUE : entries.first().atMs();
  }

  /** Name of the first entry; the index must not be empty. */
  String firstName() {
    return entries.first().name();
  }

  /** Names of the last entries, the latest first. */
  List<String> latest(int most) {
    List<String> names = new ArrayList<>();
    for (Due due : entries.descendingSet()) {
      if (names.size() == most) {
        break;
      }
      names.add(due.name());
    }
    return names;
  }

  /** Entries at or after a time, in order. */
  Iterable<Due> from(long atMs) {
    return entries.tailSet(new Due(atMs, ""), true);
  }

  void clear() {
    entries.clear();
  }

  int size() {
    return entries.size();
  }
}
