package dev.fairway.admission.topology;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.mapping.CommandMapper;
import dev.fairway.schemas.DeadLetterReason;
import dev.fairway.schemas.Ids;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.TaskUpdate;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.SchemaRegistry;
import dev.fairway.schemas.serde.UndecodableRecordException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.apache.kafka.common.header.Header;

/** Reads input records as commands. Not thread-safe. */
final class InputReader {
  /** Spring's request-reply templates put their correlation here, and not into the value. */
  private static final String SPRING_CORRELATION = "kafka_correlationId";

  private static final int CORRELATION_BYTES_MAX = 1_024;

  private final Topics topics;
  private final Supplier<String> salts;
  private final AvroDeserializer<Quota> quotas;
  private final AvroDeserializer<LeaseRequest> requests;
  private final AvroDeserializer<Settlement> settlements;
  private final AvroDeserializer<TaskUpdate> tasks;

  InputReader(Topics topics, SchemaRegistry registry, int bytesMax, Supplier<String> salts) {
    this.topics = topics;
    this.salts = salts;
    this.quotas = new AvroDeserializer<>(registry, Quota.class, bytesMax);
    this.requests = new AvroDeserializer<>(registry, LeaseRequest.class, bytesMax);
    this.settlements = new AvroDeserializer<>(registry, Settlement.class, bytesMax);
    this.tasks = new AvroDeserializer<>(registry, TaskUpdate.class, bytesMax);
  }

  /** What a record means. */
  sealed interface Input {}

  /** A command for the engine. */
  record Accepted(String key, Command command) implements Input {}

  /**
   * A request without a record key: whoever owns its quota's key can tell its agent what is wrong.
   */
  record Keyless(String ownerKey, String detail) implements Input {}

  /** Not for the engine. */
  record Refused(DeadLetterReason reason, String detail) implements Input {}

  /** Its schema is not known here and the registry gave no answer: it may be readable later. */
  record Postponed(String detail) implements Input {}

  Input read(SourceRecord source) {
    try {
      return source.topic().equals(topics.quotas()) ? quota(source) : keyed(source);
    } catch (UndecodableRecordException e) {
      return e.isRetriable()
          ? new Postponed(e.getMessage())
          : new Refused(e.deadLetterReason(), e.getMessage());
    }
  }

  private Input quota(SourceRecord source) {
    String id = text(source.key());
    if (source.value() == null) {
      return Ids.isQuotaId(id)
          ? new Accepted(Ids.keyOf(id), new Command.RemoveQuota(id))
          : new Refused(
              DeadLetterReason.KEY_MISMATCH,
              "Expected a tombstone's record key to be a quota id but found " + quoted(id));
    }
    Quota quota = quotas.deserialize(source.topic(), source.value());
    if (!quota.getId().equals(id)) {
      return new Refused(
          DeadLetterReason.KEY_MISMATCH,
          "Expected record key "
              + quoted(quota.getId())
              + ", the quota id in the value, but found "
              + quoted(id));
    }
    return new Accepted(Ids.keyOf(id), CommandMapper.toCommand(quota, salts.get()));
  }

  private Input keyed(SourceRecord source) {
    if (source.value() == null) {
      return new Refused(
          DeadLetterReason.NO_VALUE,
          "Expected a value but found a tombstone; only quotas have them");
    }
    String key = text(source.key());
    if (source.topic().equals(topics.requests())) {
      return request(source, key, withCorrelation(source));
    }
    if (source.topic().equals(topics.settlements())) {
      Settlement settlement = settlements.deserialize(source.topic(), source.value());
      return checked(
          key, settlement.getQuota(), CommandMapper.toCommand(settlement, source.appendedAtMs()));
    }
    TaskUpdate update = tasks.deserialize(source.topic(), source.value());
    return checked(
        key, update.getQuota() == null ? key : update.getQuota(), CommandMapper.toCommand(update));
  }

  /** Under a wrong record key nothing is decided, but the agent can be told. */
  private static Input request(SourceRecord source, String key, LeaseRequest request) {
    String quotaId = request.getQuota();
    String wrong = ForeignKeys.wrongKeyOf(source.headers());
    if (wrong == null && !belongs(key, quotaId)) {
      wrong = mismatch(key, quotaId);
    }
    if (wrong == null) {
      return new Accepted(key, CommandMapper.toCommand(request, source.appendedAtMs()));
    }
    if (!Ids.isId(request.getAgentId())) {
      return new Refused(DeadLetterReason.KEY_MISMATCH, wrong);
    }
    if (Ids.isKey(key)) {
      return new Accepted(key, CommandMapper.refusal(request, wrong));
    }
    return Ids.isQuotaId(quotaId)
        ? new Keyless(Ids.keyOf(quotaId), wrong)
        : new Refused(DeadLetterReason.KEY_MISMATCH, wrong);
  }

  private static Input checked(String key, String quotaId, Command command) {
    return belongs(key, quotaId)
        ? new Accepted(key, command)
        : new Refused(DeadLetterReason.KEY_MISMATCH, mismatch(key, quotaId));
  }

  private static boolean belongs(String key, String quotaId) {
    return Ids.isKey(key) && Ids.keyOf(quotaId).equals(key);
  }

  private static String mismatch(String key, String quotaId) {
    if (!Ids.isQuotaId(quotaId)) {
      return "Expected a quota id 'key' or 'key/name' from A-Z a-z 0-9 . _ -, but found "
          + quoted(quotaId);
    }
    return key == null
        ? "Expected record key " + quoted(Ids.keyOf(quotaId)) + " but found none"
        : "Expected record key "
            + quoted(Ids.keyOf(quotaId))
            + ", the key of quota "
            + quoted(quotaId)
            + ", but found "
            + quoted(key);
  }

  private LeaseRequest withCorrelation(SourceRecord source) {
    LeaseRequest request = requests.deserialize(source.topic(), source.value());
    Header header = source.headers().lastHeader(SPRING_CORRELATION);
    if (request.getCorrelation() != null
        || header == null
        || header.value() == null
        || header.value().length > CORRELATION_BYTES_MAX) {
      return request;
    }
    request.put("correlation", ByteBuffer.wrap(header.value()));
    return request;
  }

  /** Null for none; bytes that are no UTF-8 give characters that no key or quota id has. */
  private static String text(byte[] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  private static String quoted(String text) {
    return text == null
        ? "none"
        : "'" + (text.length() > 120 ? text.substring(0, 120) : text) + "'";
  }
}
