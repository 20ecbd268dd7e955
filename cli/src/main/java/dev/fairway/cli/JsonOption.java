package dev.fairway.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.schemas.service.FileTrouble;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import picocli.CommandLine.Option;

/** The option {@code --json FILE|-} that every command has. Mix in with {@code @Mixin}. */
public final class JsonOption {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  @Option(
      names = "--json",
      paramLabel = "FILE|-",
      converter = OutputTargetConverter.class,
      description = "Write the result as JSON to FILE, or to standard output instead of the text.")
  private String target;

  private boolean begun;

  /** Whether JSON goes to standard output, which then has nothing else on it. */
  public boolean isStandardOutput() {
    return "-".equals(target);
  }

  /** Whether JSON was asked for. */
  public boolean isGiven() {
    return target != null;
  }

  /**
   * Writes one JSON value and a line end, if JSON was asked for. Later values of the same run are
   * appended.
   *
   * @param value what Jackson can write
   * @param standardOutput used for {@code -}
   * @throws CliException if the file cannot be written
   */
  public void write(Object value, PrintWriter standardOutput) {
    if (!isGiven()) {
      return;
    }
    String line = toJson(value);
    if (isStandardOutput()) {
      standardOutput.println(line);
      standardOutput.flush();
      return;
    }
    Path file = Path.of(target);
    try {
      if (begun) {
        Files.writeString(file, line + "\n", StandardCharsets.UTF_8, StandardOpenOption.APPEND);
      } else {
        Files.writeString(file, line + "\n", StandardCharsets.UTF_8);
        begun = true;
      }
    } catch (IOException e) {
      throw new CliException(
          "Expected to write JSON to "
              + file
              + ", but: "
              + FileTrouble.of(e)
              + ". Name a file that can be written.",
          e);
    }
  }

  private static String toJson(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a result that is no JSON", e);
    }
  }
}
