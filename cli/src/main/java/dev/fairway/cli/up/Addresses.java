package dev.fairway.cli.up;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.cli.CliException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/**
 * Where a running {@code fairway up} is reached; kept in its data folder while it runs, for the
 * other commands.
 *
 * @param bootstrap address for {@code bootstrap.servers}
 * @param registry base URL of the schema registry
 * @param coordinator base URL of the coordinator's status port
 * @param gateway base URL of the gateway, or null if it runs none
 * @param prefix prefix of the topics
 * @param pid process id of {@code up}
 */
public record Addresses(
    @JsonProperty("bootstrap") String bootstrap,
    @JsonProperty("registry") String registry,
    @JsonProperty("coordinator") String coordinator,
    @JsonProperty("gateway") String gateway,
    @JsonProperty("prefix") String prefix,
    @JsonProperty("pid") long pid) {

  private static final String FILE = "up.json";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /**
   * Of the {@code up} that runs on a data folder.
   *
   * @throws CliException if none does
   */
  public static Addresses running(Path data) {
    return read(data)
        .orElseThrow(
            () ->
                new CliException(
                    "Expected a running 'fairway up' on "
                        + data.toAbsolutePath()
                        + ", but found none. Start it, name its folder with --data, or name a cluster with --bootstrap and --registry."));
  }

  /** The addresses of the process that runs on this folder; empty if none does. */
  public static Optional<Addresses> read(Path data) {
    Path file = data.resolve(FILE);
    try {
      Addresses addresses =
          MAPPER.readValue(Files.readString(file, StandardCharsets.UTF_8), Addresses.class);
      // A killed process leaves its file behind.
      boolean alive = ProcessHandle.of(addresses.pid()).map(ProcessHandle::isAlive).orElse(false);
      return alive ? Optional.of(addresses) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Writes them in one step, so that a reader sees all or nothing. */
  void write(Path data) throws IOException {
    Path written = data.resolve(FILE + ".new");
    Files.writeString(written, MAPPER.writeValueAsString(this) + "\n", StandardCharsets.UTF_8);
    Files.move(
        written,
        data.resolve(FILE),
        StandardCopyOption.REPLACE_EXISTING,
        StandardCopyOption.ATOMIC_MOVE);
  }

  static void delete(Path data) throws IOException {
    Files.deleteIfExists(data.resolve(FILE));
  }
}
