package dev.fairway.agent.estimate;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.agent.estimate.InputEstimator.Seen;
import dev.fairway.agent.estimate.TokenCounter.Vocabulary;
import java.util.Map;
import java.util.Set;

/**
 * Tokens of everything in a call's body that a model reads: texts, tools and their schemas, calls
 * of tools and their results, images, documents, audio, and what is encrypted. Before any
 * correction. Thread-safe.
 */
final class ContentTokens {
  /** Role, separators, and the like. */
  private static final int MESSAGE_OVERHEAD = 4;

  /** What Anthropic's documentation says that the prompt for tools takes. */
  private static final int ANTHROPIC_TOOLS_OVERHEAD = 346;

  private static final int OPENAI_TOOL_OVERHEAD = 8;

  /** Fields of a body that name a text which the provider keeps. */
  private static final String[] KEPT_BY_PROVIDER = {
    "previous_response_id", "conversation", "prompt"
  };

  /** How the types of tools begin that the provider runs: what they find is read, and unseen. */
  private static final Set<String> PROVIDER_TOOLS =
      Set.of(
          "web_search",
          "web_fetch",
          "file_search",
          "code_interpreter",
          "code_execution",
          "image_generation",
          "mcp");

  private static final String[] TOOLS = {"tools", "functions"};
  private static final String[] SCHEMAS = {
    "response_format", "text", "output_format", "output_config"
  };

  private static final Set<String> IMAGES =
      Set.of("image", "image_url", "input_image", "computer_screenshot");
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
          "thought_signature",
          "status",
          "detail",
          "format",
          "media_type",
          "index",
          "strict",
          "citations");

  /** Fields whose value is JSON that the model reads as such. */
  private static final Set<String> FREE_JSON =
      Set.of("input", "input_schema", "parameters", "schema", "json_schema", "arguments");

  /** Fields that an API defines as text: base64 in them is read letter by letter. */
  private static final Set<String> TEXTS =
      Set.of(
          "text",
          "content",
          "output",
          "input",
          "arguments",
          "thinking",
          "reasoning_content",
          "refusal",
          "code",
          "stdout",
          "stderr");

  private final TokenCounter counter;

  ContentTokens(TokenCounter counter) {
    this.counter = counter;
  }

  /** What is seen of a call, or null where that is nothing, or not all of a text. */
  Seen of(CallFormat format, JsonNode body, Vocabulary vocabulary) {
    Sum sum = new Sum(vocabulary, format == CallFormat.ANTHROPIC_MESSAGES);
    if (format == CallFormat.OPENAI_EMBEDDINGS) {
      sum.embedding(body.path("input"));
    } else {
      sum.call(body);
    }
    return sum.unseenText || sum.text + sum.other == 0
        ? null
        : new Seen(sum.text, sum.other, sum.whole);
  }

  /** Adds up one call. */
  private final class Sum {
    private final Vocabulary vocabulary;
    private final boolean anthropic;
    private long text;
    private long other;
    private boolean whole = true;
    private boolean unseenText;

    Sum(Vocabulary vocabulary, boolean anthropic) {
      this.vocabulary = vocabulary;
      this.anthropic = anthropic;
    }

    void call(JsonNode body) {
      for (String kept : KEPT_BY_PROVIDER) {
        unseenText |= body.hasNonNull(kept);
      }
      JsonNode turns = body.has("messages") ? body.path("messages") : body.path("input");
      if (turns.isEmpty() && turns.asText().isEmpty()) {
        unseenText = true; // Whatever a model may answer, it is not to nothing.
        return;
      }
      content("text", body.path("system"));
      content("text", body.path("instructions"));
      if (turns.isArray()) {
        for (JsonNode turn : turns) {
          unseenText |= turn.path("type").asText().equals("item_reference");
          text += MESSAGE_OVERHEAD;
          content("text", turn);
        }
      } else {
        content("text", turns);
      }
      for (String tools : TOOLS) {
        tools(body.path(tools));
      }
      whole &= body.path("mcp_servers").isEmpty() && !body.has("web_search_options");
      for (String schema : SCHEMAS) {
        if (body.path(schema).isObject()) {
          text(body.path(schema).toString());
        }
      }
    }

    private void tools(JsonNode tools) {
      if (tools.isEmpty()) {
        return;
      }
      text += anthropic ? ANTHROPIC_TOOLS_OVERHEAD : (long) OPENAI_TOOL_OVERHEAD * tools.size();
      text(tools.toString());
      for (JsonNode tool : tools) {
        String type = tool.path("type").asText();
        whole &= PROVIDER_TOOLS.stream().noneMatch(type::startsWith);
      }
    }

    /** What stands in a field, or in an array in it. */
    private void content(String field, JsonNode node) {
      if (node.isTextual()) {
        if (TEXTS.contains(field)) {
          text(node.textValue());
        } else {
          data(node.textValue(), "");
        }
      } else if (node.isArray()) {
        for (JsonNode element : node) {
          content(field, element);
        }
      } else if (node.isObject()) {
        block(field, node);
      }
    }

    private void block(String name, JsonNode node) {
      String type = node.path("type").asText();
      if (IMAGES.contains(type)) {
        image(node);
        return;
      }
      if (DOCUMENTS.contains(type)) {
        document(node);
        return;
      }
      String kind = String.join(" ", name, type, mediaType(node));
      for (Map.Entry<String, JsonNode> field : node.properties()) {
        if (!NO_CONTENT.contains(field.getKey())) {
          field(kind, type, field.getKey(), field.getValue());
        }
      }
    }

    private void field(String kind, String type, String name, JsonNode value) {
      if (FREE_JSON.contains(name) && value.isObject()) {
        text(value.toString());
      } else if (name.equals("audio") && value.hasNonNull("id")) {
        add(BinaryTokens.unseenAudio()); // Said before, and kept by the provider.
      } else if (!value.isTextual()) {
        content(name, value);
      } else if (name.equals("encrypted_content") || type.equals("redacted_thinking")) {
        add(BinaryTokens.encrypted(value.textValue()));
      } else if (TEXTS.contains(name)) {
        text(value.textValue());
      } else {
        data(value.textValue(), kind);
      }
    }

    private void image(JsonNode node) {
      JsonNode url = node.has("image_url") ? node.path("image_url") : node.path("url");
      String source = url.isObject() ? url.path("url").asText() : url.asText();
      String detail = url.isObject() ? url.path("detail").asText() : node.path("detail").asText();
      String data = node.path("source").path("data").asText();
      add(
          BinaryTokens.image(
              data.isEmpty() ? BinaryTokens.withoutHead(source) : data, detail, anthropic));
    }

    private void document(JsonNode node) {
      content("text", node.path("title"));
      content("text", node.path("context"));
      JsonNode source = node.path("source");
      if (source.path("type").asText().equals("text")) {
        text(source.path("data").asText());
        return;
      }
      if (source.has("content")) {
        content("text", source.path("content"));
        return;
      }
      String data = source.path("data").asText();
      data = data.isEmpty() ? node.path("file_data").asText() : data;
      data = data.isEmpty() ? node.path("file").path("file_data").asText() : data;
      String plain = BinaryTokens.plainText(data);
      if (plain != null) {
        text(plain);
      } else {
        add(BinaryTokens.document(BinaryTokens.withoutHead(data)));
      }
    }

    /** A string that may be anything. */
    private void data(String string, String kind) {
      BinaryTokens.Count count = BinaryTokens.of(string, kind, anthropic);
      if (count == null) {
        text(string);
      } else {
        add(count);
      }
    }

    private void add(BinaryTokens.Count count) {
      other += count.tokens();
      whole &= count.known();
    }

    /** A text, texts, tokens, or lists of tokens. */
    void embedding(JsonNode input) {
      if (input.isTextual()) {
        text(input.textValue());
      } else if (input.isNumber()) {
        text++;
      }
      for (JsonNode element : input) {
        embedding(element);
      }
    }

    private void text(String string) {
      text += counter.count(string, vocabulary);
    }
  }

  private static String mediaType(JsonNode node) {
    StringBuilder type = new StringBuilder();
    for (String name : new String[] {"media_type", "mime_type", "format"}) {
      type.append(node.path(name).asText()).append(' ');
    }
    return type.toString();
  }
}
