package dev.fairway.agent.checkpoint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.agent.LeaseCall;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Between checkpoints and JSON; what cannot be one is an {@link IllegalArgumentException}. */
final class CheckpointJson {
  /** Whatever a store takes can be read again: Jackson's own bounds are lower than ours. */
  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxStringLength(FileCheckpointStore.BYTES_MAX)
                      .maxNestingDepth(16)
                      .build())
              .build());

  private CheckpointJson() {}

  static byte[] write(Checkpoint checkpoint) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    node.put("id", checkpoint.id());
    node.put("goal", checkpoint.goal());
    node.put("step", checkpoint.step());
    node.put("saved_at_ms", checkpoint.savedAt().toEpochMilli());
    ArrayNode files = node.putArray("files");
    for (FileState file : checkpoint.files()) {
      files
          .addObject()
          .put("path", file.path())
          .put("sha256", file.sha256())
          .put("bytes", file.bytes());
    }
    ArrayNode decisions = node.putArray("decisions");
    for (Checkpoint.Choice decision : checkpoint.decisions()) {
      decisions.addObject().put("what", decision.what()).put("why", decision.why());
    }
    if (checkpoint.next() != null) {
      NextCall next = checkpoint.next();
      ObjectNode call = node.putObject("next");
      call.set("lease", lease(next.call()));
      call.put("method", next.method());
      call.put("path", next.path());
      ObjectNode headers = call.putObject("headers");
      next.headers().forEach(headers::put);
      call.put("body", next.body());
    }
    try {
      return JSON.writeValueAsBytes(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree that cannot be written", e);
    }
  }

  static Checkpoint read(byte[] json) {
    JsonNode node;
    try {
      node = JSON.readTree(json);
    } catch (IOException e) {
      throw new IllegalArgumentException("its JSON cannot be read: " + e.getMessage(), e);
    }
    if (node == null || !node.isObject()) {
      throw new IllegalArgumentException("it holds no JSON object");
    }
    List<FileState> files = new ArrayList<>();
    for (JsonNode file : node.path("files")) {
      files.add(
          new FileState(text(file, "path"), textOrNull(file, "sha256"), number(file, "bytes")));
    }
    List<Checkpoint.Choice> decisions = new ArrayList<>();
    for (JsonNode decision : node.path("decisions")) {
      decisions.add(new Checkpoint.Choice(text(decision, "what"), text(decision, "why")));
    }
    return new Checkpoint(
        text(node, "id"),
        text(node, "goal"),
        text(node, "step"),
        files,
        decisions,
        node.hasNonNull("next") ? next(node.get("next")) : null,
        Instant.ofEpochMilli(number(node, "saved_at_ms")));
  }

  private static NextCall next(JsonNode node) {
    Map<String, String> headers = new HashMap<>();
    for (Map.Entry<String, JsonNode> header : node.path("headers").properties()) {
      headers.put(header.getKey(), header.getValue().asText());
    }
    byte[] body;
    try {
      body = node.path("body").binaryValue();
    } catch (IOException e) {
      throw new IllegalArgumentException("the body of its call cannot be read", e);
    }
    return NextCall.of(
        call(node.path("lease")), text(node, "method"), text(node, "path"), headers, body);
  }

  /** Everything of a call that its request says. */
  static ObjectNode lease(LeaseCall call) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    LeaseCall.Estimate estimate = call.estimate();
    node.put("quota", call.quota());
    node.put("request_id", call.requestId());
    node.put("member", call.member());
    node.put("task", call.taskId());
    node.put("role", call.role());
    node.put("class", call.leaseClass());
    node.put("input_tokens", estimate.inputTokens());
    node.put("cached_tokens", estimate.cachedTokens());
    node.put("cache_expires_at_ms", epochMs(estimate.cacheExpiresAt()));
    node.put("max_output_tokens", estimate.maxOutputTokens());
    node.put("method", estimate.method());
    node.put("retry_of", call.retryOf());
    node.put("repeat_failures", call.repeatFailures());
    node.put("unblocks", call.unblocks());
    node.put("tenant", call.tenant());
    node.put("deadline_ms", epochMs(call.deadline()));
    node.put("timeout_ms", call.timeout() == null ? null : (Long) call.timeout().toMillis());
    return node;
  }

  private static LeaseCall call(JsonNode node) {
    LeaseCall.Builder call =
        LeaseCall.of(text(node, "quota"))
            .requestId(text(node, "request_id"))
            .member(textOrNull(node, "member"))
            .taskId(textOrNull(node, "task"))
            .role(text(node, "role"))
            .leaseClass(text(node, "class"))
            .cachedTokens(number(node, "cached_tokens"), instant(node, "cache_expires_at_ms"))
            .estimateMethod(text(node, "method"))
            .retryOf(textOrNull(node, "retry_of"))
            .repeatFailures((int) number(node, "repeat_failures"))
            .tenant(textOrNull(node, "tenant"))
            .deadline(instant(node, "deadline_ms"));
    if (node.hasNonNull("input_tokens")) {
      call.inputTokens(number(node, "input_tokens"));
    }
    if (node.hasNonNull("max_output_tokens")) {
      call.maxOutputTokens(number(node, "max_output_tokens"));
    }
    if (node.hasNonNull("unblocks")) {
      call.unblocks((int) number(node, "unblocks"));
    }
    if (node.hasNonNull("timeout_ms")) {
      call.timeout(Duration.ofMillis(number(node, "timeout_ms")));
    }
    return call.build();
  }

  private static String text(JsonNode node, String name) {
    String text = textOrNull(node, name);
    if (text == null) {
      throw new IllegalArgumentException("it has no text in \"" + name + "\"");
    }
    return text;
  }

  private static String textOrNull(JsonNode node, String name) {
    return node.path(name).textValue();
  }

  private static long number(JsonNode node, String name) {
    if (!node.path(name).isIntegralNumber()) {
      throw new IllegalArgumentException("it has no whole number in \"" + name + "\"");
    }
    return node.path(name).longValue();
  }

  private static Instant instant(JsonNode node, String name) {
    return node.hasNonNull(name) ? Instant.ofEpochMilli(number(node, name)) : null;
  }

  private static Long epochMs(Instant instant) {
    return instant == null ? null : instant.toEpochMilli();
  }
}
