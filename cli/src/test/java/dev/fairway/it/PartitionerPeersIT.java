package dev.fairway.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.schemas.KeyPartitioner;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Whether a foreign client's default partitioner puts a key where Fairway looks for it. */
class PartitionerPeersIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int PARTITIONS = 48;
  private static final int KEYS = 200;

  @Test
  void shouldAgreeWithKafkaJs() throws Exception {
    // given
    ObjectNode job = JSON.createObjectNode().put("partitions", PARTITIONS);
    ArrayNode keys = job.putArray("keys");
    for (int i = 0; i < KEYS; i++) {
      keys.add("anthropic.prod-" + i * i);
    }

    // when
    JsonNode result =
        JSON.readTree(
            Peers.node("kafkajs", "partition.js", job.toString(), Duration.ofSeconds(60))
                .outOrThrow());

    // then
    int legacyDiffers = 0;
    for (int i = 0; i < KEYS; i++) {
      int home = KeyPartitioner.partition(keys.get(i).asText(), PARTITIONS);
      assertThat(result.at("/default/" + i).asInt()).isEqualTo(home);
      legacyDiffers += result.at("/legacy/" + i).asInt() == home ? 0 : 1;
    }
    assertThat(legacyDiffers).as("keys that the legacy partitioner puts elsewhere").isPositive();
  }
}
