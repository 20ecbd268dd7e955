package dev.fairway.cli.ops.why;

import dev.fairway.cli.embedded.EmbeddedKafka;
import dev.fairway.cli.ops.DeadLetter;
import dev.fairway.cli.ops.DeadLetterStore;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.UndecodableRecordException;
import java.util.List;

/** Requests that the journal does not have, because their records were put aside undecided. */
public final class DeadRequests {

  private DeadRequests() {}

  /**
   * The dead letters that are this request, as far as they can be read; in order within each
   * partition.
   *
   * @param agentId the agent that made it, or null for any
   */
  public static List<DeadLetter> find(Pipeline pipeline, String requestId, String agentId) {
    String topic = pipeline.topics().requests();
    try (AvroDeserializer<LeaseRequest> requests =
        new AvroDeserializer<>(
            pipeline.registry(), LeaseRequest.class, EmbeddedKafka.MESSAGE_MAX_BYTES)) {
      return new DeadLetterStore(pipeline)
          .all().stream()
              .filter(letter -> topic.equals(letter.sourceTopic()))
              .filter(letter -> is(requests, topic, letter, requestId, agentId))
              .toList();
    }
  }

  private static boolean is(
      AvroDeserializer<LeaseRequest> requests,
      String topic,
      DeadLetter letter,
      String requestId,
      String agentId) {
    if (letter.record().value() == null) {
      return false;
    }
    try {
      LeaseRequest request = requests.deserialize(topic, letter.record().value());
      return requestId.equals(request.getRequestId())
          && (agentId == null || agentId.equals(request.getAgentId()));
    } catch (UndecodableRecordException e) {
      // What cannot be read names no request.
      return false;
    }
  }
}
