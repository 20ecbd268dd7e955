package dev.fairway.replay.script;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.Reader;

/**
 * Reads a script, one JSON object a line, strictly: what a line does not know is an error, and so
 * is a name that stands twice. Empty lines are skipped. Holds one line at a time, unless it is
 * asked what stands further on. Not thread-safe; closing the reader is its owner's part.
 */
public final class ScriptReader {
  /** Longest line, in characters; a quota with a thousand tenants is a tenth of it. */
  public static final int LINE_LENGTH_MAX = 1 << 20;

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private final Reader in;
  private final StringBuilder text = new StringBuilder();
  private final LinesAhead ahead = new LinesAhead();
  private long lineNumber;

  /** A reader of that text; a buffered one is faster. */
  public ScriptReader(Reader in) {
    this.in = in;
  }

  /**
   * The next line, or null at the end.
   *
   * @throws ScriptException if the line is no line of a script; reading may go on after it
   * @throws IOException if the text cannot be read
   */
  public ScriptLine next() throws IOException {
    return ahead.isEmpty() ? read() : ahead.next();
  }

  /**
   * The agent of the first line after this one that makes that request. Reads on until it has found
   * the line, at most 32 Mi characters far: whoever writes lines into a pipe one by one waits here.
   *
   * @return null if no line makes that request
   * @throws IOException if the text cannot be read
   */
  String agentOfLater(String quotaId, String requestId) throws IOException {
    String agentId = ahead.agentOf(quotaId, requestId);
    boolean more = true;
    while (agentId == null && more && !ahead.isFull()) {
      more = readAhead();
      agentId = ahead.agentOf(quotaId, requestId);
    }
    return agentId;
  }

  /** Whether there was another line. */
  private boolean readAhead() throws IOException {
    try {
      ScriptLine line = read();
      if (line == null) {
        return false;
      }
      ahead.add(line, text.length());
    } catch (ScriptException e) {
      ahead.add(e, text.length());
    }
    return true;
  }

  private ScriptLine read() throws IOException {
    while (readLine()) {
      String line = text.toString();
      if (!line.isBlank()) {
        return parse(line);
      }
    }
    return null;
  }

  private ScriptLine parse(String line) {
    JsonNode tree;
    try {
      tree = JSON.readTree(line);
    } catch (JsonProcessingException e) {
      throw error(
          "expected one JSON object, but found "
              + (line.length() <= 80 ? line : line.substring(0, 80) + "...")
              + " ("
              + e.getOriginalMessage()
              + ")",
          e);
    }
    try {
      return ScriptLineJson.parse(lineNumber, tree);
    } catch (InvalidJsonException e) {
      throw error(e.getMessage(), e);
    }
  }

  private boolean readLine() throws IOException {
    text.setLength(0);
    lineNumber++;
    int c = in.read();
    if (c < 0) {
      return false;
    }
    while (c >= 0 && c != '\n') {
      if (text.length() == LINE_LENGTH_MAX) {
        skipLine();
        throw error("expected at most " + LINE_LENGTH_MAX + " characters, but found more", null);
      }
      text.append((char) c);
      c = in.read();
    }
    return true;
  }

  private void skipLine() throws IOException {
    int c = in.read();
    while (c >= 0 && c != '\n') {
      c = in.read();
    }
  }

  private ScriptException error(String message, Throwable cause) {
    return new ScriptException(lineNumber, message, cause);
  }
}
