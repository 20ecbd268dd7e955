package dev.fairway.agent.provider;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Reads the shared data in place; tests that use it skip, and say so, where it is absent. */
final class SharedFiles {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private SharedFiles() {}

  static List<JsonNode> jsonLines(String path) {
    Path file = Path.of(System.getProperty("fairway.shared", "absent"), path);
    assumeTrue(
        Files.isRegularFile(file),
        () -> "skipped: no " + file + " (folder of system property fairway.shared)");
    try {
      return Files.readAllLines(file).stream().map(SharedFiles::json).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static JsonNode json(String text) {
    try {
      return MAPPER.readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static ResponseHeaders headers(JsonNode headers) {
    ResponseHeaders.Builder builder = ResponseHeaders.builder();
    for (Map.Entry<String, JsonNode> header : headers.properties()) {
      builder.add(header.getKey(), header.getValue().asText());
    }
    return builder.build();
  }
}
