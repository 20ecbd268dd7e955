package dev.fairway.dispatcher;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * What may be committed of one journal partition, for as long as it is assigned: everything before
 * the oldest record with a reply that is neither delivered nor dropped. Used by one thread.
 *
 * <p>Holds the unfinished records alone, in offset order, so its size is bounded by the number of
 * replies under way and parked.
 */
final class OffsetTracker {

  /** Unfinished records: offset to the number of replies and the time of its append. */
  private final Map<Long, Unfinished> unfinished = new LinkedHashMap<>();

  private long position;
  private long lastCommitted;
  private boolean revoked;

  /**
   * Starts at a position.
   *
   * @param position offset of the next record to be read
   */
  OffsetTracker(long position) {
    this.position = position;
    this.lastCommitted = position;
  }

  /** A record was read whose replies are now to be delivered; offsets must rise. */
  void begin(long offset, int replies, long appendedMs) {
    if (replies > 0) {
      unfinished.put(offset, new Unfinished(replies, appendedMs));
    }
  }

  /** One reply of the record was delivered, or dropped by a rule. */
  void finish(long offset) {
    Unfinished record = unfinished.get(offset);
    if (record == null) {
      throw new IllegalStateException(
          "Expected an unfinished journal record at offset %d, but it has no reply left."
              .formatted(offset));
    }
    if (record.replies == 1) {
      unfinished.remove(offset);
    } else {
      unfinished.put(offset, new Unfinished(record.replies - 1, record.appendedMs));
    }
  }

  /**
   * All records before this offset have been read. It comes from the consumer and is not computed
   * from a record's offset, because transaction markers leave gaps.
   */
  void readUpTo(long nextOffset) {
    position = nextOffset;
  }

  /** The offset to commit now; empty if nothing changed since the last. */
  OptionalLong committable() {
    long offset = held() ? unfinished.keySet().iterator().next() : position;
    return offset == lastCommitted ? OptionalLong.empty() : OptionalLong.of(offset);
  }

  /** This offset was handed to the consumer to commit. */
  void committed(long offset) {
    lastCommitted = offset;
  }

  /** The last commit may not have reached the broker: {@link #committable()} offers it again. */
  void commitFailed() {
    lastCommitted = -1;
  }

  /** Whether an unfinished record holds the commit back. */
  boolean held() {
    return !unfinished.isEmpty();
  }

  /** When the oldest unfinished record was appended, epoch milliseconds; empty if there is none. */
  OptionalLong oldestAppendedMs() {
    return held()
        ? OptionalLong.of(unfinished.values().iterator().next().appendedMs)
        : OptionalLong.empty();
  }

  /** The partition is no longer ours: what is still under way no longer counts. */
  void revoke() {
    revoked = true;
    unfinished.clear();
  }

  /** Whether the partition was taken away; then {@link #finish} must not be called any more. */
  boolean isRevoked() {
    return revoked;
  }

  private record Unfinished(int replies, long appendedMs) {}
}
