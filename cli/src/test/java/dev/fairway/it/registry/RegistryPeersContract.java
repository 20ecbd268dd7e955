package dev.fairway.it.registry;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.it.Peers;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.HttpSchemaRegistry;
import dev.fairway.schemas.serde.RegistrySettings;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What clients that others wrote make of our bytes, and we of theirs, over one registry. */
abstract class RegistryPeersContract {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path SCHEMAS = Path.of("../docs/schemas");
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final LeaseRequest REQUEST =
      LeaseRequest.newBuilder()
          .setRequestId("r-1")
          .setAgentId("agent:1")
          .setQuota("prod/sonnet")
          .setRole("planner")
          .setEstimate(
              Estimate.newBuilder().setInputTokens(1_200L).setMaxOutputTokens(400L).build())
          .setDeadlineMs(1_790_000_000_000L)
          .setCorrelation(ByteBuffer.wrap(new byte[] {0, 1, -1}))
          .build();

  /** Base address of the registry under test. */
  abstract String url() throws Exception;

  private interface Peer {
    JsonNode run(JsonNode job) throws Exception;
  }

  private static JsonNode python(JsonNode job) throws IOException {
    return JSON.readTree(
        Peers.python("confluent-python/serde.py", job.toString(), PATIENCE).outOrThrow());
  }

  private static JsonNode kafkajs(JsonNode job) throws IOException {
    return JSON.readTree(Peers.node("kafkajs", "serde.js", job.toString(), PATIENCE).outOrThrow());
  }

  /** A settlement as a program writes it that fills in every field by hand. */
  private static ObjectNode settlement() {
    ObjectNode record = JSON.createObjectNode();
    record.put("lease_id", "lease-1").putNull("request_id");
    record.put("agent_id", "agent:1").put("quota", "prod/sonnet").put("outcome", "SUCCEEDED");
    record
        .putObject("usage")
        .put("input_tokens", 1_180)
        .putNull("cache_read_tokens")
        .putNull("cache_write_tokens")
        .put("output_tokens", 251)
        .put("exact", true);
    record.put("requeue", false).putNull("signal");
    return record;
  }

  private void shouldUnderstandEachOther(Peer peer) throws Exception {
    // given
    HttpSchemaRegistry registry =
        new HttpSchemaRegistry(
            RegistrySettings.of(url())
                .withTimeouts(
                    Duration.ofSeconds(5), Duration.ofSeconds(10), Duration.ofSeconds(20)));
    String requests = "peer-" + UUID.randomUUID();
    String settlements = "peer-" + UUID.randomUUID();
    byte[] ours = new AvroSerializer<LeaseRequest>(registry).serialize(requests, REQUEST);
    ObjectNode job =
        JSON.createObjectNode()
            .put("registry", url())
            .put("topic", settlements)
            .put("schema", Files.readString(SCHEMAS.resolve("Settlement.avsc")))
            .put("bytes", HexFormat.of().formatHex(ours));
    job.set("record", settlement());

    // when
    JsonNode result = peer.run(job);

    // then: what it read of ours
    JsonNode read = result.get("record");
    assertThat(read.get("request_id").asText()).isEqualTo("r-1");
    assertThat(read.get("quota").asText()).isEqualTo("prod/sonnet");
    assertThat(read.get("role").asText()).isEqualTo("planner");
    assertThat(read.get("class").asText()).isEqualTo("batch");
    assertThat(read.get("task_id").isNull()).isTrue();
    assertThat(read.get("deadline_ms").asLong()).isEqualTo(1_790_000_000_000L);
    assertThat(read.at("/correlation/hex").asText()).isEqualTo("0001ff");
    assertThat(read.at("/estimate/input_tokens").asLong()).isEqualTo(1_200);
    assertThat(read.at("/estimate/max_output_tokens").asLong()).isEqualTo(400);

    // and: what we read of its
    byte[] theirs = HexFormat.of().parseHex(result.get("bytes").asText());
    assertThat(ByteBuffer.wrap(theirs).getInt(1)).isEqualTo(result.get("id").asInt());
    Settlement settlement =
        new AvroDeserializer<>(registry, Settlement.class).deserialize(settlements, theirs);
    assertThat(settlement.getLeaseId()).isEqualTo("lease-1");
    assertThat(settlement.getOutcome()).isEqualTo(Outcome.SUCCEEDED);
    assertThat(settlement.getUsage().getInputTokens()).isEqualTo(1_180);
    assertThat(settlement.getUsage().getCacheReadTokens()).isNull();
    assertThat(settlement.getUsage().getExact()).isTrue();
    assertThat(settlement.getSignal()).isNull();

    // and: the same record of ours is the same bytes after the id
    byte[] again = new AvroSerializer<Settlement>(registry).serialize(settlements, settlement);
    assertThat(HexFormat.of().formatHex(again, 5, again.length))
        .isEqualTo(HexFormat.of().formatHex(theirs, 5, theirs.length));
    assertThat(result.get("found").asInt()).isPositive();
  }

  @Test
  void shouldUnderstandConfluentsPythonClient() throws Exception {
    shouldUnderstandEachOther(RegistryPeersContract::python);
  }

  @Test
  void shouldUnderstandKafkaJs() throws Exception {
    shouldUnderstandEachOther(RegistryPeersContract::kafkajs);
  }

  @Test
  void shouldServeConfluentsNewerPythonClient() throws Exception {
    // given
    String subject = "peer-" + UUID.randomUUID() + "-value";
    String schema = Files.readString(SCHEMAS.resolve("TaskUpdate.avsc"));

    // when
    JsonNode result =
        JSON.readTree(
            Peers.python(
                    "confluent-python/modern.py",
                    JSON.createObjectNode()
                        .put("registry", url())
                        .put("subject", subject)
                        .put("schema", schema)
                        .toString(),
                    PATIENCE)
                .outOrThrow());

    // then
    assertThat(result.get("id").asInt()).isPositive().isEqualTo(result.get("found").asInt());
    assertThat(result.get("version").asInt()).isEqualTo(1);
    assertThat(JSON.readTree(result.get("schema").asText())).isEqualTo(JSON.readTree(schema));
    assertThat(result.get("subjects")).extracting(JsonNode::asText).contains(subject);
  }
}
