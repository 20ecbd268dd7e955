package dev.fairway.cli.demo.emulator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.cli.demo.emulator.RateLimiter.Refusal;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Bodies of answers, as the Messages API words them. */
final class Answers {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Answers() {}

  static byte[] message(String id, MessagesRequest request, long inputTokens, long outputTokens) {
    return bytes(tree(id, request, inputTokens, outputTokens));
  }

  private static ObjectNode tree(
      String id, MessagesRequest request, long inputTokens, long outputTokens) {
    ObjectNode root = JSON.createObjectNode();
    root.put("id", id);
    root.put("type", "message");
    root.put("role", "assistant");
    root.put("model", request.model());
    root.putArray("content").addObject().put("type", "text").put("text", "Done.");
    root.put("stop_reason", outputTokens >= request.maxTokens() ? "max_tokens" : "end_turn");
    root.putNull("stop_sequence");
    ObjectNode usage = root.putObject("usage");
    usage.put("input_tokens", inputTokens);
    usage.put("cache_creation_input_tokens", 0);
    usage.put("cache_read_input_tokens", 0);
    usage.put("output_tokens", outputTokens);
    usage.put("service_tier", "standard");
    return root;
  }

  /** The same message as the events of a stream. */
  static byte[] events(String id, MessagesRequest request, long inputTokens, long outputTokens) {
    ObjectNode message = tree(id, request, inputTokens, outputTokens);
    JsonNode text = message.withArray("content").remove(0).path("text");
    JsonNode stopReason = message.replace("stop_reason", NullNode.getInstance());
    ((ObjectNode) message.path("usage")).put("output_tokens", 1);
    ObjectNode messageStart = event("message_start");
    messageStart.set("message", message);
    ObjectNode blockStart = event("content_block_start").put("index", 0);
    blockStart.putObject("content_block").put("type", "text").put("text", "");
    ObjectNode delta = event("content_block_delta").put("index", 0);
    delta.putObject("delta").put("type", "text_delta").set("text", text);
    ObjectNode messageDelta = event("message_delta");
    messageDelta.putObject("delta").putNull("stop_sequence").set("stop_reason", stopReason);
    messageDelta.putObject("usage").put("output_tokens", outputTokens);
    return Stream.of(
            messageStart,
            blockStart,
            delta,
            event("content_block_stop").put("index", 0),
            messageDelta,
            event("message_stop"))
        .map(event -> "event: " + event.path("type").asText() + "\ndata: " + event + "\n\n")
        .collect(Collectors.joining())
        .getBytes(StandardCharsets.UTF_8);
  }

  static byte[] count(long inputTokens) {
    return bytes(JSON.createObjectNode().put("input_tokens", inputTokens));
  }

  private static ObjectNode event(String type) {
    return JSON.createObjectNode().put("type", type);
  }

  static byte[] rateLimited(String requestId, Refusal refusal, long limitPerMinute) {
    return error(
        requestId,
        "rate_limit_error",
        String.format(
            Locale.ROOT,
            "This request would exceed the rate limit for your organization"
                + " (00000000-0000-4000-8000-000000000000) of %,d %s per minute. For details, refer to:"
                + " https://docs.anthropic.com/en/api/rate-limits. You can see the response headers for"
                + " current usage. Please reduce the prompt length or the maximum tokens requested, or try"
                + " again later. You may also contact sales at https://www.anthropic.com/contact-sales to"
                + " discuss your options for a rate limit increase.",
            limitPerMinute,
            refusal.name().toLowerCase(Locale.ROOT).replace('_', ' ')));
  }

  static byte[] error(String requestId, String type, String message) {
    ObjectNode root = JSON.createObjectNode();
    root.put("type", "error");
    root.putObject("error").put("type", type).put("message", message);
    root.put("request_id", requestId);
    return bytes(root);
  }

  private static byte[] bytes(ObjectNode node) {
    try {
      return JSON.writeValueAsBytes(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("An answer could not be written as JSON", e);
    }
  }
}
