package dev.fairway.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.schemas.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * {@code docs/schemas} holds the records of the topics as other languages need them: each file
 * whole, all its types inside. They are written from the classes with {@code
 * -Dfairway.write.schemas=true}.
 */
class PublishedSchemasTest {

  private static final Path FOLDER = Path.of("../docs/schemas");
  private static final ObjectMapper JSON = new ObjectMapper();

  static Stream<Schema> schemas() {
    return OwnSchemas.bySubject(new Topics()).values().stream();
  }

  @ParameterizedTest
  @MethodSource("schemas")
  void shouldPublishTheSchemaThatIsRegistered(Schema schema) throws IOException {
    Path file = FOLDER.resolve(schema.getName() + ".avsc");
    if (Boolean.getBoolean("fairway.write.schemas")) {
      Files.createDirectories(FOLDER);
      Files.writeString(file, pretty(schema));
    }
    assertThat(file).exists();
    // Not isEqualTo: a failure would print both schemas, pages of them.
    assertThat(new Schema.Parser().parse(file.toFile()).toString().equals(schema.toString()))
        .as(
            "%s is what is registered; if not, run the tests with -Dfairway.write.schemas=true",
            file)
        .isTrue();
  }

  @Test
  void shouldPublishNothingElse() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(
              schemas().map(schema -> schema.getName() + ".avsc").toList());
    }
  }

  private static String pretty(Schema schema) throws IOException {
    DefaultPrettyPrinter printer =
        new DefaultPrettyPrinter()
            .withObjectIndenter(new DefaultIndenter("  ", "\n"))
            .withArrayIndenter(new DefaultIndenter("  ", "\n"));
    return JSON.writer(printer).writeValueAsString(JSON.readTree(schema.toString())) + "\n";
  }
}
