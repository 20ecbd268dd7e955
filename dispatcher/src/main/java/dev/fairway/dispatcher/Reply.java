package dev.fairway.dispatcher;

/**
 * One decision on its way to its agent, already in the bytes that go out. Identity is the instance;
 * used by the loop's thread, except that the producer reads what {@link ReplySender} gave it.
 */
final class Reply {

  private final long number;
  private final String agentId;
  private final Payload payload;
  private final OffsetTracker origin;
  private final long offset;
  private final long appendedMs;
  private final long deadlineMs;
  private long sentAtMs;

  /**
   * A reply that has not been sent.
   *
   * @param number rises over all replies of a dispatcher, in the order of the journal
   * @param origin journal partition it comes from
   * @param offset journal record it comes from
   * @param appendedMs when the broker appended that record, epoch milliseconds
   * @param deadlineMs when it is no longer worth delivering, epoch milliseconds
   */
  Reply(
      long number,
      String agentId,
      Payload payload,
      OffsetTracker origin,
      long offset,
      long appendedMs,
      long deadlineMs) {
    this.number = number;
    this.agentId = agentId;
    this.payload = payload;
    this.origin = origin;
    this.offset = offset;
    this.appendedMs = appendedMs;
    this.deadlineMs = deadlineMs;
  }

  long number() {
    return number;
  }

  String agentId() {
    return agentId;
  }

  Payload payload() {
    return payload;
  }

  OffsetTracker origin() {
    return origin;
  }

  long appendedMs() {
    return appendedMs;
  }

  long deadlineMs() {
    return deadlineMs;
  }

  long sentAtMs() {
    return sentAtMs;
  }

  void sentAt(long nowMs) {
    sentAtMs = nowMs;
  }

  /** Its journal record waits for it no longer. */
  void finish() {
    if (!origin.isRevoked()) {
      origin.finish(offset);
    }
  }

  /** Whether it came from a journal partition that another dispatcher reads now. */
  boolean isForeign() {
    return origin.isRevoked();
  }

  /** The bytes of a reply record. */
  static final class Payload {

    /** What a record costs beside its bytes: headers, batch overhead, and the objects here. */
    private static final int OVERHEAD_BYTES = 200;

    private final byte[] key;
    private final byte[] value;
    private final byte[] correlation;

    /**
     * Bytes that must not be changed afterwards.
     *
     * @param correlation null if the request had none
     */
    Payload(byte[] key, byte[] value, byte[] correlation) {
      this.key = key;
      this.value = value;
      this.correlation = correlation;
    }

    byte[] key() {
      return key;
    }

    byte[] value() {
      return value;
    }

    byte[] correlation() {
      return correlation;
    }

    long sizeBytes() {
      return OVERHEAD_BYTES
          + key.length
          + value.length
          + (correlation == null ? 0L : correlation.length);
    }
  }
}
