package dev.fairway.replay.script;

import static dev.fairway.replay.script.Script.JSON;
import static dev.fairway.replay.script.Script.decision;
import static dev.fairway.replay.script.Script.events;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Failures of other people's systems, collected with what should have happened. Every case about
 * admission or settlement runs as a script; the collection is the source of the numbers.
 */
final class CollectedCases {
  private static final Map<String, JsonNode> CASES = new HashMap<>();

  private CollectedCases() {}

  /** One case; a test is skipped, and says so, where the collection is absent. */
  static JsonNode get(String id) {
    String shared = System.getProperty("fairway.shared");
    Path file = shared == null ? null : Path.of(shared, "cases", "cases.jsonl");
    assumeThat(file != null && Files.exists(file))
        .as("the collected cases at %s (system property fairway.shared)", file)
        .isTrue();
    if (CASES.isEmpty()) {
      read(file);
    }
    assertThat(CASES).as("the collection").containsKey(id);
    return CASES.get(id);
  }

  private static void read(Path file) {
    try {
      for (String line : Files.readAllLines(file)) {
        JsonNode node = JSON.readTree(line);
        CASES.put(node.get("id").asText(), node);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static ObjectNode tokenQuota(JsonNode c) {
    ObjectNode quota = quota("tokens", c.at("/given/limit_per_min").asLong());
    quota.putObject("level").put("tokens", c.at("/given/level").asLong());
    if (c.at("/given").has("margin")) {
      quota.putObject("margin").put("start", c.at("/given/margin").doubleValue());
    }
    if (c.at("/given").has("max_queue_wait_s")) {
      quota.put("max_queue_wait_ms", ms(c.at("/given/max_queue_wait_s")));
    }
    return quota;
  }

  /** A quota of one limited dimension, without margin. */
  static ObjectNode quota(String dimension, long limit) {
    ObjectNode quota = JSON.createObjectNode().put("id", "q");
    boolean perMinute = !dimension.equals("concurrent_requests");
    quota.putObject("limits").put(dimension + (perMinute ? "_per_minute" : ""), limit);
    quota.putObject("margin").put("start", 1.0);
    return quota;
  }

  static ObjectNode ask(String agent, String id, long tokens) {
    ObjectNode body = JSON.createObjectNode().put("id", id).put("quota", "q").put("agent", agent);
    return body.put("input_tokens", tokens);
  }

  static ObjectNode output(String id, long tokens) {
    return ask("a", id, 0).put("max_output_tokens", tokens);
  }

  static ObjectNode settle(String request, String outcome) {
    ObjectNode body = JSON.createObjectNode().put("request", request).put("quota", "q");
    return body.put("outcome", outcome);
  }

  static ObjectNode signal(ObjectNode settle, int status, String kind) {
    return settle.putObject("signal").put("status", status).put("class", kind);
  }

  static String word(JsonNode decision) {
    switch (decision.get("event").asText()) {
      case "LeaseGranted":
        return "GRANT";
      case "LeaseQueued":
        return "QUEUED";
      default:
        return "REJECT";
    }
  }

  static long grantedAt(List<JsonNode> printed, long atMs) {
    return events(printed, "LeaseGranted").stream().filter(line -> at(line) == atMs).count();
  }

  static long at(JsonNode line) {
    return line.get("at_ms").longValue();
  }

  static long ms(JsonNode seconds) {
    return Math.round(seconds.doubleValue() * 1000);
  }

  static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(element -> texts.add(element.asText()));
    return texts;
  }
}
