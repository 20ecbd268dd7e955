package dev.fairway.cli.demo.fleet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the sizes of calls from a public trace: Azure's LLM inference trace of 2023 (CSV with the
 * header {@code TIMESTAMP,ContextTokens,GeneratedTokens}) or a Mooncake trace (JSON lines with
 * {@code input_length} and {@code output_length}). The format is told from the first line. Anything
 * unexpected is an error with its line number; nothing is skipped.
 */
public final class TraceReader {
  /** Rows read at most; a longer trace is cut there, far beyond what a run can use. */
  public static final int ROWS_MAX = 1_000_000;

  private static final String AZURE_HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens";
  private static final long TOKENS_MAX = 10_000_000;
  private static final int SHOWN_CHARS_MAX = 80;
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private TraceReader() {}

  /**
   * Sizes of one call.
   *
   * @param inputTokens at least 1
   * @param outputTokens at least 0
   */
  public record Row(long inputTokens, long outputTokens) {}

  private interface LineParser {
    Row parse(String line, long number) throws TraceFormatException;
  }

  /** All rows, in the order of the file; at least one. */
  public static List<Row> read(Path file) throws IOException {
    String where = file.toString();
    List<Row> rows = new ArrayList<>();
    long number = 1;
    try (BufferedReader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      String line = reader.readLine();
      if (line == null) {
        throw new TraceFormatException(where, 1, "a trace", "an empty file");
      }
      LineParser parser;
      if (line.equals(AZURE_HEADER)) {
        parser = (text, at) -> azure(where, text, at);
        line = reader.readLine();
        number++;
      } else if (line.startsWith("{")) {
        parser = (text, at) -> mooncake(where, text, at);
      } else {
        throw new TraceFormatException(
            where, 1, "the header " + AZURE_HEADER + " or a JSON object", shown(line));
      }
      for (; line != null && rows.size() < ROWS_MAX; line = reader.readLine(), number++) {
        rows.add(parser.parse(line, number));
      }
      if (rows.isEmpty()) {
        throw new TraceFormatException(where, number, "a row of the trace", "the end of the file");
      }
    } catch (CharacterCodingException e) {
      throw new TraceFormatException(where, number, "UTF-8 text", "bytes that are none");
    }
    return rows;
  }

  private static Row azure(String where, String line, long number) throws TraceFormatException {
    String[] fields = line.split(",", -1);
    if (fields.length != 3 || fields[0].isEmpty()) {
      throw new TraceFormatException(
          where, number, "three fields, timestamp,input tokens,output tokens", shown(line));
    }
    return new Row(
        tokens(where, number, "ContextTokens", fields[1], 1),
        tokens(where, number, "GeneratedTokens", fields[2], 0));
  }

  private static Row mooncake(String where, String line, long number) throws TraceFormatException {
    JsonNode node;
    try {
      node = JSON.readTree(line);
    } catch (JsonProcessingException e) {
      throw new TraceFormatException(where, number, "a JSON object", shown(line));
    }
    if (!node.isObject()) {
      throw new TraceFormatException(where, number, "a JSON object", shown(line));
    }
    if (!node.path("timestamp").isNumber()) {
      throw new TraceFormatException(
          where, number, "a number in timestamp", shown(node.path("timestamp").toString()));
    }
    return new Row(
        tokens(where, number, "input_length", node.path("input_length").toString(), 1),
        tokens(where, number, "output_length", node.path("output_length").toString(), 0));
  }

  private static long tokens(String where, long number, String name, String text, long atLeast)
      throws TraceFormatException {
    try {
      long tokens = Long.parseLong(text);
      if (tokens >= atLeast && tokens <= TOKENS_MAX) {
        return tokens;
      }
    } catch (NumberFormatException e) {
      // Told below, with the bounds.
    }
    throw new TraceFormatException(
        where,
        number,
        "a whole number from " + atLeast + " to " + TOKENS_MAX + " in " + name,
        text.isEmpty() ? "nothing" : shown(text));
  }

  private static String shown(String text) {
    return text.length() <= SHOWN_CHARS_MAX ? text : text.substring(0, SHOWN_CHARS_MAX) + "...";
  }
}
