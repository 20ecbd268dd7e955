package dev.fairway.cli.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The registry's file: written anew beside the old one, forced to disk, and then moved over it. So
 * a crash at any moment leaves a whole file, and an id that was given out is in it.
 */
final class StoreFile implements AutoCloseable {

  private static final int FORMAT = 1;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path folder;
  private final Path file;
  private final FileChannel lockChannel;

  /**
   * Takes the folder for this process alone.
   *
   * @throws IOException if it cannot be written, or another registry has it
   */
  StoreFile(Path folder) throws IOException {
    this.folder = Files.createDirectories(folder);
    this.file = folder.resolve("schemas.json");
    this.lockChannel =
        FileChannel.open(
            folder.resolve("schemas.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    if (!locked(lockChannel)) {
      lockChannel.close();
      throw new IOException(
          "Expected the schema registry folder %s for this process alone, but another one uses it. Stop that one, or give each a folder of its own."
              .formatted(folder));
    }
  }

  private static boolean locked(FileChannel channel) throws IOException {
    try {
      FileLock lock = channel.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  StoreState load() throws IOException {
    if (Files.notExists(file)) {
      return StoreState.EMPTY;
    }
    try {
      return parse(JSON.readTree(file.toFile()));
    } catch (IOException | RuntimeException e) {
      // An empty start would give out ids again that topics already carry for other schemas.
      throw new IOException(
          "Expected the schemas of this registry in %s, but it cannot be read: %s. Restore the file; without it, what the topics hold cannot be read."
              .formatted(file, e.getMessage()),
          e);
    }
  }

  void save(StoreState state) throws IOException {
    if (!lockChannel.isOpen()) {
      throw new IOException("the registry is closed");
    }
    Path fresh = folder.resolve("schemas.json.new");
    try (FileChannel channel =
        FileChannel.open(
            fresh,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      ByteBuffer bytes = ByteBuffer.wrap(JSON.writeValueAsBytes(render(state)));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    forceFolder();
  }

  private void forceFolder() throws IOException {
    // Makes the move itself durable. Windows opens no folders, and needs no such thing.
    if (!System.getProperty("os.name", "").startsWith("Windows")) {
      try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }

  private static ObjectNode render(StoreState state) {
    ObjectNode root = JSON.createObjectNode().put("format", FORMAT);
    root.put("compatibility", state.compatibility().name());
    ArrayNode schemas = root.putArray("schemas");
    state.schemas().forEach(schemas::add);
    ObjectNode versions = root.putObject("versions");
    state
        .versions()
        .forEach(
            (subject, ids) -> {
              ArrayNode list = versions.putArray(subject);
              ids.forEach(list::add);
            });
    ObjectNode levels = root.putObject("subject_compatibility");
    state.subjectCompatibility().forEach((subject, level) -> levels.put(subject, level.name()));
    return root;
  }

  private static StoreState parse(JsonNode root) {
    if (root.path("format").asInt() != FORMAT) {
      throw new IllegalArgumentException(
          "expected format %d, but found %s".formatted(FORMAT, root.path("format")));
    }
    List<String> schemas = new ArrayList<>();
    root.required("schemas").forEach(schema -> schemas.add(schema.asText()));
    Map<String, List<Integer>> versions = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : root.required("versions").properties()) {
      List<Integer> ids = new ArrayList<>();
      for (JsonNode id : entry.getValue()) {
        if (id.asInt() < 1 || id.asInt() > schemas.size()) {
          throw new IllegalArgumentException(
              "subject %s has id %s, but ids end at %d"
                  .formatted(entry.getKey(), id, schemas.size()));
        }
        ids.add(id.asInt());
      }
      versions.put(entry.getKey(), List.copyOf(ids));
    }
    Map<String, Compatibility> levels = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : root.required("subject_compatibility").properties()) {
      levels.put(entry.getKey(), Compatibility.valueOf(entry.getValue().asText()));
    }
    return new StoreState(
        List.copyOf(schemas),
        versions,
        Compatibility.valueOf(root.required("compatibility").asText()),
        levels);
  }

  @Override
  public void close() throws IOException {
    lockChannel.close();
  }
}
