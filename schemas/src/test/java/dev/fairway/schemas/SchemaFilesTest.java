package dev.fairway.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificData;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every schema file keeps to, read from the files themselves. */
class SchemaFilesTest {

  private static final Path FOLDER = Path.of("src/main/avro");
  private static final ObjectMapper JSON = new ObjectMapper();

  static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.walk(FOLDER)) {
      List<Path> found = files.filter(f -> f.toString().endsWith(".avsc")).sorted().toList();
      assertThat(found).hasSizeGreaterThan(60);
      return found;
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void shouldDocumentTheTypeAndEveryField(Path file) throws IOException {
    JsonNode type = JSON.readTree(file.toFile());
    List<String> undocumented = new ArrayList<>();
    collectUndocumented(type, type.path("name").asText(), undocumented);
    assertThat(undocumented).isEmpty();
  }

  private static void collectUndocumented(JsonNode node, String path, List<String> found) {
    boolean named = List.of("record", "enum", "fixed").contains(node.path("type").asText(""));
    if (named && node.path("doc").asText("").isBlank()) {
      found.add(path);
    }
    for (JsonNode field : node.path("fields")) {
      String fieldPath = path + "." + field.path("name").asText();
      if (field.path("doc").asText("").isBlank()) {
        found.add(fieldPath);
      }
    }
    for (JsonNode child : node) {
      collectUndocumented(child, path, found);
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void shouldNameFieldsAndSymbolsAsTheProtocolDoes(Path file) throws IOException {
    JsonNode type = JSON.readTree(file.toFile());
    assertThat(type.path("name").asText() + ".avsc").isEqualTo(file.getFileName().toString());
    assertThat(type.path("namespace").asText()).isEqualTo("dev.fairway.schemas");
    for (JsonNode field : type.path("fields")) {
      assertThat(field.path("name").asText()).matches("[a-z][a-z0-9_]*");
    }
    for (JsonNode symbol : type.path("symbols")) {
      assertThat(symbol.asText()).matches("[A-Z][A-Z0-9_]*");
    }
  }

  /** Without this a value whose first branch is not null could not be left out by a writer. */
  @ParameterizedTest
  @MethodSource("files")
  void shouldLeaveNullOutByDefault(Path file) throws IOException {
    for (JsonNode field : JSON.readTree(file.toFile()).path("fields")) {
      JsonNode type = field.path("type");
      if (type.isArray() && type.path(0).asText().equals("null")) {
        assertThat(field.has("default") && field.get("default").isNull())
            .as("%s of %s has default null", field.path("name").asText(), file)
            .isTrue();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void shouldHaveAClassOfTheSameFields(Path file) throws Exception {
    JsonNode type = JSON.readTree(file.toFile());
    Schema generated =
        SpecificData.get()
            .getSchema(Class.forName("dev.fairway.schemas." + type.path("name").asText()));
    if (generated.getType() == Schema.Type.RECORD) {
      List<String> names = new ArrayList<>();
      type.path("fields").forEach(f -> names.add(f.path("name").asText()));
      assertThat(generated.getFields()).extracting(Schema.Field::name).isEqualTo(names);
    }
  }
}
