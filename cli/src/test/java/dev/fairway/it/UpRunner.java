package dev.fairway.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.cli.Fairway;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** {@code fairway up} in a process of its own, as a user has it, so that it can be killed. */
public final class UpRunner implements AutoCloseable {

  private static final Duration START_TIMEOUT = Duration.ofMinutes(3);
  private static final Duration STOP_TIMEOUT = Duration.ofMinutes(1);
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final Process process;
  private final Path log;
  private final JsonNode ready;

  private UpRunner(Process process, Path log, JsonNode ready) {
    this.process = process;
    this.log = log;
    this.ready = ready;
  }

  /** What a command printed, and how it ended. */
  public record Result(int code, String out, String err) {}

  /** Starts it on a data folder and waits until it says that it is ready. */
  public static UpRunner start(Path data, String... more) {
    try {
      Path json = Files.createTempFile("fairway-up", ".json");
      Path log = Files.createTempFile("fairway-up", ".log");
      List<String> command =
          new ArrayList<>(
              List.of(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx512m",
                  "-XX:+UseSerialGC",
                  "-XX:TieredStopAtLevel=1",
                  "-cp",
                  System.getProperty("java.class.path"),
                  "dev.fairway.cli.Fairway",
                  "up",
                  "--data",
                  data.toString(),
                  "--json",
                  json.toString()));
      command.addAll(List.of(more));
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      Awaitility.await("fairway up is ready; its log is " + log)
          .atMost(START_TIMEOUT)
          .pollInterval(Duration.ofMillis(50))
          .until(() -> !process.isAlive() || Files.readString(json).endsWith("\n"));
      if (!process.isAlive()) {
        throw new AssertionError(
            "fairway up ended with " + process.exitValue() + ":\n" + Files.readString(log));
      }
      return new UpRunner(process, log, MAPPER.readTree(Files.readString(json)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What it said when it was ready. */
  public JsonNode ready() {
    return ready;
  }

  /** Address for {@code bootstrap.servers}. */
  public String bootstrap() {
    return ready.path("bootstrap").asText();
  }

  /** Base URL of the schema registry. */
  public String registry() {
    return ready.path("registry").asText();
  }

  /** What it printed so far. */
  public String log() throws IOException {
    return Files.readString(log, StandardCharsets.UTF_8);
  }

  /** Ends it as Ctrl-C and service managers do, and gives its exit code. */
  public int terminate() throws InterruptedException {
    process.destroy();
    assertThat(process.waitFor(STOP_TIMEOUT.toSeconds(), TimeUnit.SECONDS))
        .as("ends on a signal")
        .isTrue();
    return process.exitValue();
  }

  /** Ends it without a chance to clean up. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Runs another command in this JVM. */
  public static Result command(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = Fairway.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    return new Result(code, out.toString(), err.toString());
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
