package dev.fairway.admission.engine.state;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The last {@value #SIZE} outputs of a role, with their percentiles exact. Durable as chunks of
 * {@value #CHUNK}: a chunk is written once, when it is full, and what is newer lives in the role's
 * own row. So one more output costs a few bytes however many there are.
 */
final class OutputRing {
  static final int SIZE = 200;
  static final int CHUNK = 20;

  private final long[] ring = new long[SIZE];
  private long[] sorted = new long[0];
  private long total;

  /** The chunk that is being written over, as its row has it. */
  private long[] asWritten = new long[CHUNK];

  /** Outputs added so far. */
  long total() {
    return total;
  }

  /** Outputs that are kept. */
  int count() {
    return (int) Math.min(total, SIZE);
  }

  void add(long output) {
    int slot = (int) (total % SIZE);
    if (slot % CHUNK == 0) {
      asWritten = Arrays.copyOfRange(ring, slot, slot + CHUNK);
    }
    if (total >= SIZE) {
      remove(ring[slot]);
    }
    ring[slot] = output;
    insert(output);
    total++;
  }

  /** The smallest output that so many hundredths of all do not exceed; there must be one. */
  long percentile(int hundredths) {
    int rank = (sorted.length * hundredths + 99) / 100;
    return sorted[Math.max(0, rank - 1)];
  }

  /** The chunk that the last output filled, or -1. */
  int filledChunk() {
    return total > 0 && total % CHUNK == 0 ? (int) ((total - 1) % SIZE) / CHUNK : -1;
  }

  /** Whether a chunk was ever filled. */
  boolean hasChunk(int chunk) {
    return total >= (chunk + 1L) * CHUNK;
  }

  /** The outputs of a chunk as they were when it was filled last. */
  List<Long> chunk(int chunk) {
    boolean begun = total % CHUNK != 0 && chunk == total % SIZE / CHUNK;
    return begun ? list(asWritten, 0, CHUNK) : list(ring, chunk * CHUNK, CHUNK);
  }

  /** The outputs since the last full chunk, oldest first. */
  List<Long> recent() {
    int count = (int) (total % CHUNK);
    return list(ring, (int) ((total - count) % SIZE), count);
  }

  private static List<Long> list(long[] from, int first, int count) {
    List<Long> values = new ArrayList<>(count);
    for (int i = first; i < first + count; i++) {
      values.add(from[i]);
    }
    return List.copyOf(values);
  }

  void loadChunk(int chunk, List<Long> outputs) {
    for (int i = 0; i < outputs.size(); i++) {
      ring[chunk * CHUNK + i] = outputs.get(i);
    }
  }

  /** After the chunks: what the role's row holds. */
  void load(long newTotal, List<Long> recent) {
    total = newTotal;
    int from = (int) ((total - recent.size()) % SIZE);
    asWritten = Arrays.copyOfRange(ring, from / CHUNK * CHUNK, from / CHUNK * CHUNK + CHUNK);
    for (int i = 0; i < recent.size(); i++) {
      ring[from + i] = recent.get(i);
    }
    sorted = Arrays.copyOf(ring, count());
    Arrays.sort(sorted);
  }

  private void insert(long value) {
    int found = Arrays.binarySearch(sorted, value);
    int at = found < 0 ? -found - 1 : found;
    long[] longer = Arrays.copyOf(sorted, sorted.length + 1);
    System.arraycopy(sorted, at, longer, at + 1, sorted.length - at);
    longer[at] = value;
    sorted = longer;
  }

  private void remove(long value) {
    int at = Arrays.binarySearch(sorted, value);
    long[] shorter = Arrays.copyOf(sorted, sorted.length - 1);
    System.arraycopy(sorted, at + 1, shorter, at, sorted.length - at - 1);
    sorted = shorter;
  }
}
