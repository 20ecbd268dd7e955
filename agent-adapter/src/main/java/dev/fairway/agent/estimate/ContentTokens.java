package dev.fairway.agent.estimate;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.agent.estimate.TokenCounter.Vocabulary;
import java.util.Map;
import java.util.Set;

/**
 * Tokens of everything in a call's body that a model reads: texts, tools and their schemas, calls
 * of tools and their results, images and documents. Before any correction. Thread-safe.
 */
final class ContentTokens {
  /** Role, separators, and the like. */
  private static final int MESSAGE_OVERHEAD = 4;

  /** What Anthropic's documentation says that the prompt for tools takes. */
  private static final int ANTHROPIC_TOOLS_OVERHEAD = 346;

  private static final int OPENAI_TOOL_OVERHEAD = 8;

  /** An image of a size that cannot be seen (by URL, or of another format) is a large one. */
  private static final int UNSEEN_IMAGE = 1_600;

  private static final int LOW_DETAIL_IMAGE = 85;

  /** A page of a document is read as its text and as an image. */
  private static final int DOCUMENT_PAGE = 2_500;

  /** Bytes of a PDF's usual page, where its pages cannot be counted. */
  private static final int DOCUMENT_PAGE_BASE64_CHARS = 60_000;

  private static final Set<String> IMAGES = Set.of("image", "image_url", "input_image");
  private static final Set<String> DOCUMENTS = Set.of("document", "file", "input_file");

  /** Fields that carry no content. */
  private static final Set<String> NO_CONTENT =
      Set.of(
          "type",
          "id",
          "tool_use_id",
          "tool_call_id",
          "call_id",
          "cache_control",
          "role",
          "signature",
          "encrypted_content",
          "status",
          "detail",
          "media_type",
          "index",
          "strict",
          "citations");

  /** Fields whose value is JSON that the model reads as such. */
  private static final Set<String> FREE_JSON =
      Set.of("input", "input_schema", "parameters", "schema", "json_schema", "arguments");

  private final TokenCounter counter;

  ContentTokens(TokenCounter counter) {
    this.counter = counter;
  }

  /** Tokens of a call. */
  long of(CallFormat format, JsonNode body, Vocabulary vocabulary) {
    if (format == CallFormat.OPENAI_EMBEDDINGS) {
      return embedding(body.path("input"), vocabulary);
    }
    boolean anthropic = format == CallFormat.ANTHROPIC_MESSAGES;
    long tokens = content(body.path("system"), vocabulary, anthropic);
    tokens += content(body.path("instructions"), vocabulary, anthropic);
    JsonNode turns = body.has("messages") ? body.path("messages") : body.path("input");
    if (turns.isArray()) {
      for (JsonNode turn : turns) {
        tokens += MESSAGE_OVERHEAD + content(turn, vocabulary, anthropic);
      }
    } else {
      tokens += content(turns, vocabulary, anthropic);
    }
    JsonNode tools = body.path("tools");
    if (!tools.isEmpty()) {
      tokens += anthropic ? ANTHROPIC_TOOLS_OVERHEAD : (long) OPENAI_TOOL_OVERHEAD * tools.size();
      tokens += text(tools.toString(), vocabulary);
    }
    for (String schema : new String[] {"response_format", "text", "output_format"}) {
      tokens += body.path(schema).isObject() ? text(body.path(schema).toString(), vocabulary) : 0;
    }
    return tokens;
  }

  private long content(JsonNode node, Vocabulary vocabulary, boolean anthropic) {
    if (node.isTextual()) {
      return text(node.textValue(), vocabulary);
    }
    long tokens = 0;
    if (node.isArray()) {
      for (JsonNode element : node) {
        tokens += content(element, vocabulary, anthropic);
      }
      return tokens;
    }
    if (!node.isObject()) {
      return 0;
    }
    String type = node.path("type").asText();
    if (IMAGES.contains(type)) {
      return image(node, anthropic);
    }
    if (DOCUMENTS.contains(type)) {
      return document(node, vocabulary);
    }
    for (Map.Entry<String, JsonNode> field : node.properties()) {
      JsonNode value = field.getValue();
      if (FREE_JSON.contains(field.getKey()) && value.isObject()) {
        tokens += text(value.toString(), vocabulary);
      } else if (!NO_CONTENT.contains(field.getKey())) {
        tokens += content(value, vocabulary, anthropic);
      }
    }
    return tokens;
  }

  private static long image(JsonNode node, boolean anthropic) {
    JsonNode url = node.path("image_url");
    String source = url.isObject() ? url.path("url").asText() : url.asText();
    String detail = url.isObject() ? url.path("detail").asText() : node.path("detail").asText();
    if (detail.equals("low")) {
      return LOW_DETAIL_IMAGE;
    }
    int comma = source.startsWith("data:") ? source.indexOf(',') : -1;
    String base64 =
        comma >= 0 ? source.substring(comma + 1) : node.path("source").path("data").asText();
    ImageSize size = ImageSize.ofBase64(base64);
    if (size == null) {
      return UNSEEN_IMAGE;
    }
    return anthropic ? size.anthropicTokens() : size.openaiTokens();
  }

  private long document(JsonNode node, Vocabulary vocabulary) {
    JsonNode source = node.path("source");
    if (source.path("type").asText().equals("text")) {
      return text(source.path("data").asText(), vocabulary);
    }
    if (source.has("content")) {
      return content(source.path("content"), vocabulary, true);
    }
    String data = source.path("data").asText();
    data = data.isEmpty() ? node.path("file_data").asText() : data;
    data = data.isEmpty() ? node.path("file").path("file_data").asText() : data;
    long pages = Math.max(1, data.length() / DOCUMENT_PAGE_BASE64_CHARS);
    return pages * DOCUMENT_PAGE;
  }

  /** A text, texts, tokens, or lists of tokens. */
  private long embedding(JsonNode input, Vocabulary vocabulary) {
    if (input.isTextual()) {
      return text(input.textValue(), vocabulary);
    }
    if (input.isNumber()) {
      return 1;
    }
    long tokens = 0;
    for (JsonNode element : input) {
      tokens += embedding(element, vocabulary);
    }
    return tokens;
  }

  private long text(String text, Vocabulary vocabulary) {
    return counter.count(text, vocabulary);
  }
}
