package dev.fairway.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.OwnSchemas;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/asyncapi.yaml, read by the AsyncAPI project's own parser. */
class AsyncApiIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path DOCUMENT =
      Path.of("../docs/asyncapi.yaml").toAbsolutePath().normalize();

  private static JsonNode parse(Path document) throws IOException {
    return JSON.readTree(
        Peers.node(
                "asyncapi",
                "validate.js",
                JSON.createObjectNode().put("file", document.toString()).toString(),
                Duration.ofSeconds(90))
            .outOrThrow());
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(node -> texts.add(node.asText()));
    return texts;
  }

  @Test
  void shouldBeAValidDocumentThatNamesEveryTopicAndField() throws IOException {
    // when
    JsonNode parsed = parse(DOCUMENT);

    // then
    assertThat(parsed.get("version").asText()).isEqualTo("3.1.0");
    assertThat(parsed.get("diagnostics")).isEmpty();
    Topics topics = new Topics();
    List<String> addresses = new ArrayList<>();
    parsed.get("channels").fieldNames().forEachRemaining(addresses::add);
    assertThat(addresses)
        .containsExactlyInAnyOrder(
            topics.quotas(),
            topics.requests(),
            topics.settlements(),
            topics.tasks(),
            topics.transfers(),
            topics.agents(),
            topics.journal(),
            topics.deadLetters(),
            topics.replyPrefix() + "{agent_id}");
    for (Map.Entry<String, Schema> own : OwnSchemas.bySubject(topics).entrySet()) {
      String topic = own.getKey().replaceFirst("-value$", "");
      String address = topic.equals("fairway.replies") ? topic + ".{agent_id}" : topic;
      Schema schema = own.getValue();
      assertThat(texts(parsed.get("channels").get(address))).containsExactly(schema.getName());
      assertThat(texts(parsed.get("fields").get(schema.getName())))
          .isEqualTo(schema.getFields().stream().map(Schema.Field::name).toList());
    }
  }

  /** Without this the first test would pass with a parser that finds fault with nothing. */
  @Test
  void shouldBeToldOfFaults(@TempDir Path folder) throws IOException {
    String document =
        Files.readString(DOCUMENT)
            .replace("./schemas/", DOCUMENT.resolveSibling("schemas") + "/")
            .replaceFirst("action: send", "action: shout");
    JsonNode parsed = parse(Files.writeString(folder.resolve("asyncapi.yaml"), document));
    assertThat(texts(parsed.at("/diagnostics")).size()).isPositive();
    assertThat(parsed.get("diagnostics").findValuesAsText("path").toString())
        .contains("operations/requestLease/action");
  }
}
