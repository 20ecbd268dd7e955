package dev.fairway.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.schemas.KeyPartitioner;
import dev.fairway.schemas.ProtocolData;
import dev.fairway.schemas.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.junit.jupiter.api.Test;

/** What docs/protocol.md claims, held against the code. */
class ProtocolDocTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, Schema> SCHEMAS =
      OwnSchemas.bySubject(new Topics()).values().stream()
          .collect(Collectors.toMap(Schema::getName, schema -> schema));

  private static Stream<MatchResult> matches(String pattern) throws IOException {
    Matcher matcher =
        Pattern.compile(pattern).matcher(Files.readString(Path.of("../docs/protocol.md")));
    return matcher.results();
  }

  @Test
  void shouldShowRecordsThatTheSchemasAllow() throws IOException {
    // given
    Map<String, Integer> shown = new LinkedHashMap<>();

    for (MatchResult example : matches("(?s)<!-- (\\w+) -->\\s*```json\\n(.*?)```").toList()) {
      // when
      Schema schema = SCHEMAS.get(example.group(1));
      GenericRecord record = record(schema, JSON.readTree(example.group(2)), example.group(1));

      // then
      assertThat(GenericData.get().validate(schema, record)).as("%s", record).isTrue();
      shown.merge(example.group(1), 1, Integer::sum);
    }
    assertThat(shown)
        .containsOnlyKeys(
            "LeaseRequest", "Decision", "Settlement", "TaskUpdate", "AgentRegistration", "Quota")
        .containsEntry("Decision", 2)
        .containsEntry("Settlement", 3);
  }

  @Test
  void shouldShowEveryJsonBlockAsARecord() throws IOException {
    assertThat(matches("```json").count()).isEqualTo(matches("<!-- \\w+ -->\\s*```json").count());
  }

  @Test
  void shouldTabulateThePartitionsOfKeys() throws IOException {
    List<MatchResult> rows = matches("(?m)^\\| `([^`]+)` \\| (\\d+) \\| (\\d+) \\|$").toList();
    assertThat(rows).hasSize(5);
    for (MatchResult row : rows) {
      assertThat(KeyPartitioner.partition(row.group(1), 4))
          .isEqualTo(Integer.parseInt(row.group(2)));
      assertThat(KeyPartitioner.partition(row.group(1), 48))
          .isEqualTo(Integer.parseInt(row.group(3)));
    }
  }

  @Test
  void shouldNameEveryTopicOfTheCode() throws IOException {
    Topics topics = new Topics();
    String text = Files.readString(Path.of("../docs/protocol.md"));
    assertThat(text)
        .contains(
            "`" + topics.quotas() + "`",
            "`" + topics.requests() + "`",
            "`" + topics.settlements() + "`",
            "`" + topics.tasks() + "`",
            "`" + topics.transfers() + "`",
            "`" + topics.agents() + "`",
            "`" + topics.journal() + "`",
            "`" + topics.deadLetters() + "`",
            "`" + topics.replyPrefix() + "<agent id>`",
            "`" + topics.reply("a:b") + "`");
  }

  @Test
  void shouldExplainEveryAnswerAndOutcome() throws IOException {
    String text = Files.readString(Path.of("../docs/protocol.md"));
    List<String> symbols = new ArrayList<>();
    for (String name : List.of("RejectReason", "Outcome", "DecisionStatus")) {
      symbols.addAll(enumOf(name).getEnumSymbols());
    }
    assertThat(symbols).hasSize(14 + 8 + 3);
    assertThat(symbols).allSatisfy(symbol -> assertThat(text).contains("`" + symbol + "`"));
  }

  private static Schema enumOf(String name) {
    try {
      return ProtocolData.model().getSchema(Class.forName("dev.fairway.schemas." + name));
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  private static Object value(Schema schema, JsonNode json, String at) {
    switch (schema.getType()) {
      case UNION:
        Schema branch =
            schema.getTypes().stream()
                .filter(s -> (s.getType() == Schema.Type.NULL) == json.isNull())
                .findFirst()
                .orElseThrow();
        return value(branch, json, at);
      case NULL:
        return null;
      case RECORD:
        return record(schema, json, at);
      case ENUM:
        assertThat(schema.getEnumSymbols()).as(at).contains(json.asText());
        return new GenericData.EnumSymbol(schema, json.asText());
      case ARRAY:
        List<Object> items = new ArrayList<>();
        json.forEach(item -> items.add(value(schema.getElementType(), item, at)));
        return items;
      case LONG:
        assertThat(json.isIntegralNumber()).as(at).isTrue();
        return json.longValue();
      case INT:
        assertThat(json.isInt()).as(at).isTrue();
        return json.intValue();
      case BOOLEAN:
        assertThat(json.isBoolean()).as(at).isTrue();
        return json.booleanValue();
      case STRING:
        assertThat(json.isTextual()).as(at).isTrue();
        return json.textValue();
      default:
        throw new AssertionError(at + " has a type that no example has yet: " + schema);
    }
  }

  private static GenericRecord record(Schema schema, JsonNode json, String at) {
    GenericRecordBuilder builder = new GenericRecordBuilder(schema);
    json.properties()
        .forEach(
            entry -> {
              String path = at + "." + entry.getKey();
              Schema.Field field = schema.getField(entry.getKey());
              assertThat(Optional.ofNullable(field)).as(path).isPresent();
              builder.set(field, value(field.schema(), entry.getValue(), path));
            });
    return builder.build();
  }
}
