package dev.fairway.agent.provider;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.async.ByteArrayFeeder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ContainerNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;

/**
 * Builds the tree of a JSON document from bytes as they come, and of the tree only what profiles
 * ask for: content (messages, tool calls, log probabilities, images) is passed over. So a document
 * may be of any size, and memory stays small. Bounds, and what happens there:
 *
 * <ul>
 *   <li>objects and arrays are kept under the names of {@link #KEPT}, to a depth of {@value
 *       #DEPTH_MAX}; others are passed over;
 *   <li>{@value #NODES_MAX} values a document, {@value #ELEMENTS_MAX} elements an array are kept;
 *       later ones are passed over;
 *   <li>of a text the first {@value #TEXT_MAX} characters are kept;
 *   <li>an integer beyond a long, and a fraction longer than {@value #FRACTION_MAX} characters, is
 *       null, like anything unknown;
 *   <li>nesting deeper than {@value #NESTING_MAX}, a text longer than {@value #STRING_MAX}
 *       characters, or bytes that are no JSON: the rest of the document is unreadable; what was
 *       read until then stays, and {@link #end()} says that it is not whole.
 * </ul>
 */
final class JsonTreeReader {
  static final int DEPTH_MAX = 12;
  static final int NODES_MAX = 2_048;
  static final int ELEMENTS_MAX = 32;
  static final int TEXT_MAX = 4_096;
  static final int NESTING_MAX = 512;
  static final int STRING_MAX = 16 << 20;
  static final int FRACTION_MAX = 64;

  private static final Set<String> KEPT =
      Set.of(
          "error",
          "details",
          "violations",
          "metadata",
          "headers",
          "usage",
          "usageMetadata",
          "x_groq",
          "response",
          "message",
          "delta",
          "choices",
          "candidates",
          "tokens",
          "amazon-bedrock-invocationMetrics",
          "prompt_tokens_details",
          "prompt_token_details",
          "input_tokens_details",
          "completion_tokens_details",
          "output_tokens_details",
          "cache_creation");

  /**
   * The parser gets blocks of this size, counted from the document's beginning, however the bytes
   * come: where input is no JSON, what it makes of it depends on where its input is cut.
   */
  private static final int BLOCK = 1_024;

  private static final byte[] MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  // Names are not interned: they are the provider's, or whoever plays it.
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(NESTING_MAX)
                  .maxStringLength(STRING_MAX)
                  .build())
          .build();

  private final Deque<ContainerNode<?>> open = new ArrayDeque<>();
  private JsonParser parser;
  private ByteArrayFeeder feeder;
  private JsonNode root = MissingNode.getInstance();
  private String name;
  private int markLength;
  private boolean begun;
  private byte[] block;
  private int blockLength;
  private int passedOver;
  private int nodes;
  private boolean started;
  private boolean complete;
  private boolean broken;

  /** Reads the next bytes; at most a block of them is kept for a while. */
  void read(byte[] bytes, int offset, int length) {
    int end = offset + length;
    int from = begun ? offset : start(bytes, offset, end);
    while (from < end && !complete && !broken) {
      if (blockLength == 0 && end - from >= BLOCK) {
        feed(bytes, from, BLOCK);
        from += BLOCK;
      } else {
        int taken = Math.min(end - from, BLOCK - blockLength);
        System.arraycopy(bytes, from, block, blockLength, taken);
        blockLength += taken;
        from += taken;
        if (blockLength == BLOCK) {
          feedBlock();
        }
      }
    }
  }

  /**
   * Where the document begins, past blanks and one byte order mark. The parser would take several
   * marks, or not, by how the bytes happen to be cut.
   */
  private int start(byte[] bytes, int offset, int end) {
    int i = offset;
    while (i < end && !broken) {
      byte b = bytes[i];
      boolean inMark = markLength > 0 && markLength < MARK.length;
      if (markLength < MARK.length && b == MARK[markLength]) {
        markLength++;
      } else if (inMark || b == MARK[0]) {
        broken = true;
      } else if (b == ' ' || b == '\t' || b == '\n' || b == '\r') {
        markLength = MARK.length; // A mark stands at the very beginning.
      } else {
        begun = true;
        block = new byte[BLOCK];
        return i;
      }
      i++;
    }
    return i;
  }

  /** Ends the document; whether it was read to its end. */
  boolean end() {
    if (begun && !complete && !broken) {
      feedBlock();
    }
    if (parser != null && !complete && !broken) {
      try {
        feeder.endOfInput();
        drain();
      } catch (IOException | RuntimeException e) {
        broken = true;
      }
    }
    close();
    return complete && !broken;
  }

  /** What was read; a missing node if that was not even a beginning. */
  JsonNode tree() {
    return root;
  }

  private void feedBlock() {
    int length = blockLength;
    blockLength = 0;
    feed(block, 0, length);
  }

  private void feed(byte[] bytes, int offset, int length) {
    try {
      if (parser == null) {
        parser = FACTORY.createNonBlockingByteArrayParser();
        feeder = (ByteArrayFeeder) parser.getNonBlockingInputFeeder();
      }
      feeder.feedInput(bytes, offset, offset + length);
      drain();
    } catch (IOException | RuntimeException e) {
      // The parser speaks of most bad input with the former, of some with the latter.
      broken = true;
    }
    if (complete || broken) {
      close();
    }
  }

  private void drain() throws IOException {
    while (!complete) {
      JsonToken token = parser.nextToken();
      if (token == null || token == JsonToken.NOT_AVAILABLE) {
        return;
      }
      accept(token);
    }
  }

  private void accept(JsonToken token) throws IOException {
    if (token == JsonToken.FIELD_NAME) {
      name = passedOver > 0 ? null : parser.currentName();
    } else if (token.isStructStart()) {
      start(token == JsonToken.START_OBJECT);
    } else if (token.isStructEnd()) {
      if (passedOver > 0) {
        passedOver--;
      } else {
        open.pop();
      }
      complete = passedOver == 0 && open.isEmpty();
    } else if (passedOver == 0) {
      attach(scalar(token));
      complete = open.isEmpty();
    }
  }

  private void start(boolean object) {
    boolean inArray = open.peek() instanceof ArrayNode;
    if (passedOver == 0
        && open.size() < DEPTH_MAX
        && (!started || inArray || KEPT.contains(name))) {
      ContainerNode<?> node = object ? NODES.objectNode() : NODES.arrayNode();
      if (attach(node)) {
        open.push(node);
        return;
      }
    }
    passedOver++;
  }

  /** Puts a value where it belongs; whether there was room. */
  private boolean attach(JsonNode value) {
    if (!started) {
      started = true;
      root = value;
      return true;
    }
    ContainerNode<?> parent = open.peek();
    if (parent instanceof ObjectNode object) {
      if (++nodes > NODES_MAX) {
        return false;
      }
      object.set(name, value);
      return true;
    }
    if (++nodes > NODES_MAX || parent.size() >= ELEMENTS_MAX) {
      return false;
    }
    ((ArrayNode) parent).add(value);
    return true;
  }

  private JsonNode scalar(JsonToken token) throws IOException {
    return switch (token) {
      case VALUE_STRING -> {
        int length = Math.min(TEXT_MAX, parser.getTextLength());
        yield NODES.textNode(
            new String(parser.getTextCharacters(), parser.getTextOffset(), length));
      }
      case VALUE_NUMBER_INT ->
          parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
              ? NullNode.getInstance()
              : NODES.numberNode(parser.getLongValue());
      case VALUE_NUMBER_FLOAT ->
          parser.getTextLength() > FRACTION_MAX
              ? NullNode.getInstance()
              : NODES.numberNode(parser.getDoubleValue());
      case VALUE_TRUE -> NODES.booleanNode(true);
      case VALUE_FALSE -> NODES.booleanNode(false);
      default -> NullNode.getInstance();
    };
  }

  private void close() {
    if (parser != null) {
      try {
        parser.close();
      } catch (IOException e) {
        broken = true; // Cannot be: it reads from no stream.
      }
    }
  }
}
