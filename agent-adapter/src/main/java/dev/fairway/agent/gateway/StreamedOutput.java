package dev.fairway.agent.gateway;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.estimate.TokenCounter;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/**
 * Counts the output of a stream that broke off before it told its usage. Keeps the first {@value
 * #BYTES_MAX} bytes of a stream for it; what comes after counts in proportion. Not thread-safe.
 */
final class StreamedOutput {
  static final int BYTES_MAX = 512 * 1024;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final TokenCounter COUNTER = new TokenCounter();
  private static final String DATA = "data:";

  /** Where deltas have their text. */
  private static final Set<String> TEXTS =
      Set.of("text", "thinking", "partial_json", "content", "reasoning_content", "arguments");

  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private long bytes;

  void read(byte[] chunk, int length) {
    kept.write(chunk, 0, Math.min(length, BYTES_MAX - kept.size()));
    bytes += length;
  }

  /** Tokens of all the text that passed. */
  long tokens(String model) {
    StringBuilder text = new StringBuilder();
    kept.toString(StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.startsWith(DATA))
        .forEach(line -> add(line.substring(DATA.length()), text));
    long tokens = COUNTER.count(text.toString(), TokenCounter.Vocabulary.of(model));
    return kept.size() == 0 ? 0 : tokens * bytes / kept.size();
  }

  private static void add(String data, StringBuilder text) {
    try {
      JsonNode event = JSON.readTree(data);
      JsonNode delta = event.path("delta");
      if (delta.isTextual()) {
        text.append(delta.textValue());
      } else {
        collect(delta, text);
        event.path("choices").forEach(choice -> collect(choice.path("delta"), text));
      }
    } catch (JsonProcessingException e) {
      // The last line may be cut off.
    }
  }

  private static void collect(JsonNode node, StringBuilder text) {
    node.properties()
        .forEach(
            field -> {
              if (field.getValue().isTextual() && TEXTS.contains(field.getKey())) {
                text.append(field.getValue().textValue());
              }
            });
    for (JsonNode child : node) {
      if (child.isContainerNode()) {
        collect(child, text);
      }
    }
  }
}
