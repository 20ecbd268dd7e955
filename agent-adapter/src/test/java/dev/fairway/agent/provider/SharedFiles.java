package dev.fairway.agent.provider;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.DynamicTest;

/** Reads the shared data in place; tests that use it skip, and say so, where it is absent. */
final class SharedFiles {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private SharedFiles() {}

  static List<JsonNode> jsonLines(String path) {
    Path file = file(path);
    assumeTrue(
        Files.isRegularFile(file),
        () -> "skipped: no " + file + " (folder of system property fairway.shared)");
    try {
      return Files.readAllLines(file).stream().map(SharedFiles::json).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A test for each line; where the file is absent, one that says so. */
  static List<DynamicTest> testEach(
      String path, Function<JsonNode, String> name, Consumer<JsonNode> check) {
    if (!Files.isRegularFile(file(path))) {
      return List.of(DynamicTest.dynamicTest(path, () -> jsonLines(path)));
    }
    List<DynamicTest> tests = new ArrayList<>();
    for (JsonNode line : jsonLines(path)) {
      tests.add(
          DynamicTest.dynamicTest(
              (tests.size() + 1) + " " + name.apply(line), () -> check.accept(line)));
    }
    return tests;
  }

  private static Path file(String path) {
    return Path.of(System.getProperty("fairway.shared", "absent"), path);
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
