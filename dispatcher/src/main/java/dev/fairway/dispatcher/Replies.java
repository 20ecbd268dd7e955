package dev.fairway.dispatcher;

import dev.fairway.dispatcher.AgentDirectory.Resolution;
import dev.fairway.dispatcher.Decoder.NotYetException;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Queued;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.Serializer;

/**
 * Makes replies of journal records and hands them on. Used by the loop's thread.
 *
 * <p>How old a record is, is measured from the broker's append, and a grant's lifetime as a
 * duration from its decision. So the coordinator's clock is compared with no other; this process's
 * may be off from the brokers' by the tolerance.
 *
 * <p>A grant or a reject ends an agent's wait, and nothing comes after it. So it is delivered
 * however late: an agent that reads a grant of a lease that is over gives it back and asks again,
 * and one that reads nothing waits for ever. Two things bound this. What is older than the
 * retention of reply topics would be gone from there by now, and is dropped; and what an agent
 * asked for longer ago than the parking deadline does not register it. Where an agent stands in
 * line is passing news, and is dropped at the parking deadline.
 */
final class Replies {

  private final Decoder<AdmissionEvent> decoder;
  private final Serializer<? super Decision> serializer;
  private final String serializedAs;
  private final AgentDirectory directory;
  private final Deliveries deliveries;
  private final DeliveryListener listener;
  private final long parkingDeadlineMs;
  private final long clockToleranceMs;
  private final long replyRetentionMs;
  private long number;

  /**
   * Makes replies for these deliveries.
   *
   * @param serializedAs topic name that decisions are serialized for. One for all reply topics: a
   *     subject for each would ask the registry, and wait, for each new agent; the schema's id is
   *     the same
   */
  Replies(
      Decoder<AdmissionEvent> decoder,
      Serializer<? super Decision> serializer,
      String serializedAs,
      AgentDirectory directory,
      Deliveries deliveries,
      DeliveryListener listener,
      DispatcherConfig config) {
    this.decoder = decoder;
    this.serializer = serializer;
    this.serializedAs = serializedAs;
    this.directory = directory;
    this.deliveries = deliveries;
    this.listener = listener;
    this.parkingDeadlineMs = config.parkingDeadlineMs();
    this.clockToleranceMs = config.clockToleranceMs();
    this.replyRetentionMs = config.replyRetentionMs();
  }

  /**
   * Has the schema registry give its id for decisions now, rather than with the first one.
   *
   * @throws NotReadyException if it does not
   */
  void warmUp() {
    Decision sample =
        Decision.newBuilder()
            .setDecisionId("")
            .setRequestId("")
            .setAgentId("")
            .setQuota("")
            .setDecidedAtMs(0)
            .setEpoch(0)
            .setSequence(0)
            .setStatus(DecisionStatus.QUEUED)
            .setQueued(new Queued(1, 0L, null, null))
            .build();
    try {
      serializer.serialize(serializedAs, sample);
    } catch (SerializationException e) {
      throw new NotReadyException(e.getMessage());
    }
  }

  /**
   * Delivers, parks or drops every decision of a journal record.
   *
   * @param tracker of the record's partition
   * @throws NotYetException if the record cannot be read just now; then nothing was done
   */
  void handle(ConsumerRecord<byte[], byte[]> record, OffsetTracker tracker, long nowMs)
      throws NotYetException {
    AdmissionEvent event = decoder.decode(record, nowMs);
    if (event == null) {
      return;
    }
    List<Decision> decisions = DecisionMapper.decisionsOf(event);
    long ageMs = ageMs(record, nowMs);
    tracker.begin(record.offset(), decisions.size(), nowMs - ageMs);
    for (Decision decision : decisions) {
      deliver(event, decision, record.offset(), tracker, ageMs, nowMs);
    }
  }

  private void deliver(
      AdmissionEvent event,
      Decision decision,
      long offset,
      OffsetTracker tracker,
      long ageMs,
      long nowMs) {
    String agentId = decision.getAgentId();
    boolean isFresh = ageMs < lifetimeMs(decision);
    // Before the agent is looked up: an old journal must not register agents that are long gone.
    if (!isFresh && !isWorthDelivering(decision, ageMs)) {
      drop(agentId, DropReason.EXPIRED, tracker, offset);
      return;
    }
    Resolution resolution =
        directory.resolve(agentId, DecisionMapper.isRequestOf(event, agentId), nowMs);
    if (resolution.refusal() != null) {
      drop(agentId, resolution.refusal(), tracker, offset);
      return;
    }
    Reply reply =
        new Reply(
            number++,
            agentId,
            payload(decision),
            tracker,
            offset,
            nowMs - ageMs,
            nowMs + patienceMs(decision, ageMs));
    deliveries.accept(reply, resolution.route(), nowMs);
  }

  private void drop(String agentId, DropReason reason, OffsetTracker tracker, long offset) {
    listener.dropped(agentId, reason);
    tracker.finish(offset);
  }

  /** How long, from its append on, a decision is what its agent waits for. */
  private long lifetimeMs(Decision decision) {
    return decision.getGranted() == null
        ? parkingDeadlineMs
        : Math.max(parkingDeadlineMs, decision.getGranted().getTtlMs() + clockToleranceMs);
  }

  private boolean isWorthDelivering(Decision decision, long ageMs) {
    return endsTheWait(decision)
        && ageMs < replyRetentionMs
        && directory.knows(decision.getAgentId());
  }

  /** How much longer a topic that does not take the decision is waited for. */
  private long patienceMs(Decision decision, long ageMs) {
    long leftMs = lifetimeMs(decision) - ageMs;
    return endsTheWait(decision) ? Math.max(parkingDeadlineMs, leftMs) : leftMs;
  }

  private static boolean endsTheWait(Decision decision) {
    return decision.getStatus() != DecisionStatus.QUEUED;
  }

  private Reply.Payload payload(Decision decision) {
    return new Reply.Payload(
        decision.getRequestId().getBytes(StandardCharsets.UTF_8),
        serializer.serialize(serializedAs, decision),
        bytesOf(decision.getCorrelation()));
  }

  private static byte[] bytesOf(ByteBuffer buffer) {
    if (buffer == null) {
      return null;
    }
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }

  private static long ageMs(ConsumerRecord<?, ?> record, long nowMs) {
    return record.timestampType() == TimestampType.LOG_APPEND_TIME
        ? Math.max(0, nowMs - record.timestamp())
        : 0;
  }
}
