package dev.fairway.agent.gateway;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.UsageReport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * What the gateway reads of a request's body. The bytes themselves are passed on as they came.
 *
 * @param bytes the body
 * @param json its tree
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record CallBody(byte[] bytes, JsonNode json) {
  private static final int HASH_BYTES = 16;

  /** Deeper nesting than any schema needs; longer texts than any body may be. */
  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
              .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(500)
                      .maxStringLength(Integer.MAX_VALUE)
                      .build())
              .build());

  private static final List<String> OUTPUT_LIMITS =
      List.of("max_tokens", "max_completion_tokens", "max_output_tokens");

  /** A body that is no call the gateway understands. */
  static final class UnreadableBodyException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableBodyException(String message) {
      super(message, null, false, false);
    }
  }

  /**
   * Reads a body.
   *
   * @throws UnreadableBodyException if it is no JSON object with a model; the message is for the
   *     caller, and quotes nothing of it
   */
  static CallBody parse(byte[] bytes) throws UnreadableBodyException {
    JsonNode json;
    try {
      json = JSON.readTree(bytes);
    } catch (IOException e) {
      throw new UnreadableBodyException("Expected a JSON body, but it cannot be read as one.");
    }
    if (json == null || !json.isObject()) {
      throw new UnreadableBodyException("Expected a JSON object as body, but found none.");
    }
    if (!json.path("model").isTextual() || json.path("model").textValue().isBlank()) {
      throw new UnreadableBodyException("Expected a \"model\" in the body, but found none.");
    }
    return new CallBody(bytes, json);
  }

  String model() {
    return json.path("model").textValue();
  }

  /** Whether a stream of events is asked for. */
  boolean stream() {
    return json.path("stream").asBoolean(false);
  }

  /** Whether a stream of chat completions is asked to tell its usage. */
  boolean tellsUsage() {
    return json.path("stream_options").path("include_usage").booleanValue();
  }

  /**
   * Refuses what no model writes and no quota is asked for.
   *
   * @throws UnreadableBodyException if the call allows more output tokens than a lease may be for
   */
  void requireBounds(Endpoint endpoint) throws UnreadableBodyException {
    if (answers(endpoint) > UsageReport.TOKENS_MAX) {
      throw new UnreadableBodyException(
          "Expected \"n\" of at most "
              + UsageReport.TOKENS_MAX
              + ", but found more. Ask for as many answers as the call really needs.");
    }
    for (String name : OUTPUT_LIMITS) {
      JsonNode value = json.path(name);
      if (value.isNumber() && value.doubleValue() * answers(endpoint) > UsageReport.TOKENS_MAX) {
        throw new UnreadableBodyException(
            "Expected \""
                + name
                + (answers(endpoint) > 1 ? "\" times \"n\"" : "\"")
                + " of at most "
                + UsageReport.TOKENS_MAX
                + ", but found more. Name what the call really needs, or leave it out.");
      }
    }
  }

  /** The most output tokens that the call allows, or null if it names no limit. */
  Long maxOutputTokens(Endpoint endpoint) {
    if (endpoint == Endpoint.EMBEDDINGS) {
      return 0L;
    }
    Long most = null;
    for (String name : OUTPUT_LIMITS) {
      Long limit = whole(json.path(name));
      if (limit != null && limit >= 0) {
        most = most == null ? limit : Math.max(most, limit);
      }
    }
    return most == null ? null : (Long) (most * answers(endpoint));
  }

  /** How many answers a call asks for, each of which may be as long as its limit says. */
  private long answers(Endpoint endpoint) {
    Long some = endpoint == Endpoint.CHAT ? whole(json.path("n")) : null;
    return some == null ? 1 : Math.max(1, some);
  }

  /** A whole number, however it is written ({@code 3}, {@code 3.0}, {@code 3e0}), or null. */
  private static Long whole(JsonNode value) {
    double number = value.isNumber() ? value.doubleValue() : Double.NaN;
    return number == Math.rint(number) ? (Long) (long) number : null; // At most what a long holds.
  }

  /** A text at the top of the body, or null. */
  String text(String name) {
    JsonNode value = json.path(name);
    return value.isTextual() && !value.textValue().isBlank() ? value.textValue() : null;
  }

  /** Tells bodies apart. */
  String hash() {
    return hex(sha256().digest(bytes));
  }

  /**
   * Tells conversations apart: system prompt and first message of the user, which all turns of one
   * share, and sub-agents of one session do not. One that the provider keeps has a name, and its
   * turns do not repeat the first message: it is told by its name, and not at all where only the
   * turn before is named. Null where there is nothing.
   */
  String conversationHash() {
    String kept = keptConversation();
    if (kept != null) {
      return hash(kept);
    }
    if (text("previous_response_id") != null) {
      return null;
    }
    MessageDigest digest = sha256();
    boolean any = false;
    for (String name : new String[] {"system", "instructions"}) {
      any |= add(digest, json.path(name));
    }
    JsonNode turns = json.has("messages") ? json.path("messages") : json.path("input");
    if (turns.isTextual()) {
      any |= add(digest, turns);
    }
    for (JsonNode turn : turns) {
      String role = turn.path("role").asText();
      boolean opening = role.equals("system") || role.equals("developer");
      if (opening || role.equals("user")) {
        any |= add(digest, turn.path("content"));
      }
      if (role.equals("user")) {
        break;
      }
    }
    return any ? hex(digest.digest()) : null;
  }

  /** The id of a conversation that the provider keeps, or null. */
  private String keptConversation() {
    JsonNode named = json.path("conversation");
    String id = (named.isObject() ? named.path("id") : named).asText();
    return id.isBlank() ? null : id;
  }

  private static boolean add(MessageDigest digest, JsonNode content) {
    if (content.isTextual()) {
      digest.update(content.textValue().getBytes(StandardCharsets.UTF_8));
      return true;
    }
    boolean any = false;
    for (JsonNode block : content) {
      // Cache marks move from turn to turn; what is said does not.
      JsonNode said = block.path("text");
      String text = said.isTextual() ? said.textValue() : block.path("type").asText();
      digest.update(text.getBytes(StandardCharsets.UTF_8));
      any = true;
    }
    return any;
  }

  /** A short name for a text of any length and grammar. */
  static String hash(String text) {
    return hex(sha256().digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static String hex(byte[] digest) {
    return HexFormat.of().formatHex(digest, 0, HASH_BYTES);
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JVM has SHA-256", e);
    }
  }
}
