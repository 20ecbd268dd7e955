package dev.fairway.agent.checkpoint;

import dev.fairway.schemas.service.FileTrouble;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Keeps each checkpoint in a file of one folder. A new one is written beside the old one, forced to
 * the disk, renamed over it in one step, and the folder forced, too: a crash at any point leaves
 * the old one or the new one. A file says how long it is and what it hashes to, so one that was
 * damaged later is an error and never half a checkpoint.
 *
 * <p>One process uses a folder at a time; within it the store is thread-safe. Files are at most
 * {@value #BYTES_MAX} bytes.
 */
public final class FileCheckpointStore implements CheckpointStore {
  /** Largest file. */
  public static final int BYTES_MAX = 64 << 20;

  private static final String SUFFIX = ".checkpoint";
  private static final String UNFINISHED = ".unfinished";
  private static final String MAGIC = "fairway-checkpoint 1 ";
  private static final int HEAD_BYTES_MAX = 128;

  /** What is done to the disk, so that a test can stop in between. */
  static class Disk {
    void write(FileChannel channel, ByteBuffer bytes) throws IOException {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }

    void force(FileChannel channel) throws IOException {
      channel.force(true);
    }

    void rename(Path from, Path to) throws IOException {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private final Path folder;
  private final Disk disk;

  private FileCheckpointStore(Path folder, Disk disk) {
    this.folder = folder;
    this.disk = disk;
  }

  /**
   * Opens a folder, which is made if it is not there; what an earlier process did not finish goes.
   *
   * @throws CheckpointException if the folder cannot be used
   */
  public static FileCheckpointStore open(Path folder) {
    return open(folder, new Disk());
  }

  static FileCheckpointStore open(Path folder, Disk disk) {
    try {
      Files.createDirectories(folder);
      for (Path unfinished : list(folder, UNFINISHED)) {
        Files.deleteIfExists(unfinished);
      }
    } catch (IOException e) {
      throw new CheckpointException(
          "Expected to use folder " + folder + " for checkpoints, but: " + FileTrouble.of(e) + ".",
          e);
    }
    return new FileCheckpointStore(folder, disk);
  }

  @Override
  public synchronized void save(Checkpoint checkpoint) {
    byte[] json = CheckpointJson.write(checkpoint);
    if (json.length > BYTES_MAX) {
      throw new CheckpointException(
          "Expected a checkpoint of at most "
              + BYTES_MAX
              + " bytes, but "
              + checkpoint.id()
              + " has "
              + json.length
              + ". Keep fewer decisions, or a smaller call.");
    }
    String head = MAGIC + json.length + " " + hash(json) + "\n";
    Path file = file(checkpoint.id());
    Path unfinished = folder.resolve(checkpoint.id() + UNFINISHED);
    try {
      try (FileChannel channel =
          FileChannel.open(
              unfinished,
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE,
              StandardOpenOption.TRUNCATE_EXISTING)) {
        disk.write(channel, ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII)));
        disk.write(channel, ByteBuffer.wrap(json));
        disk.force(channel);
      }
      disk.rename(unfinished, file);
      forceFolder();
    } catch (IOException e) {
      throw new CheckpointException(
          "Expected to store checkpoint "
              + checkpoint.id()
              + " in "
              + folder
              + ", but: "
              + FileTrouble.of(e)
              + ". Don't begin the wait; make room or name another folder.",
          e);
    }
  }

  @Override
  public synchronized Optional<Checkpoint> load(String id) {
    Path file = file(id);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long size = channel.size();
      if (size > BYTES_MAX + (long) HEAD_BYTES_MAX) {
        throw broken(file, "it has " + size + " bytes, more than a checkpoint may have");
      }
      ByteBuffer bytes = ByteBuffer.allocate((int) size);
      while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
        // Until the end.
      }
      Checkpoint read = read(file, bytes.array());
      if (!read.id().equals(id)) {
        throw broken(file, "it holds checkpoint " + read.id());
      }
      return Optional.of(read);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new CheckpointException(
          "Expected to read checkpoint " + file + ", but: " + FileTrouble.of(e) + ".", e);
    }
  }

  @Override
  public synchronized void delete(String id) {
    try {
      if (Files.deleteIfExists(file(id))) {
        forceFolder();
      }
    } catch (IOException e) {
      throw new CheckpointException(
          "Expected to delete checkpoint " + id + ", but: " + FileTrouble.of(e) + ".", e);
    }
  }

  @Override
  public synchronized List<String> ids() {
    try {
      return list(folder, SUFFIX).stream()
          .map(file -> file.getFileName().toString())
          .map(name -> name.substring(0, name.length() - SUFFIX.length()))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new CheckpointException(
          "Expected to list folder " + folder + ", but: " + FileTrouble.of(e) + ".", e);
    }
  }

  private static Checkpoint read(Path file, byte[] bytes) {
    int end = -1;
    for (int i = 0; i < Math.min(bytes.length, HEAD_BYTES_MAX) && end < 0; i++) {
      end = bytes[i] == '\n' ? i : -1;
    }
    String head = end < 0 ? "" : new String(bytes, 0, end, StandardCharsets.US_ASCII);
    if (!head.matches(MAGIC + "[0-9]{1,9} [0-9a-f]{64}")) {
      throw broken(file, "it does not begin as a checkpoint of version 1 does");
    }
    String[] words = head.substring(MAGIC.length()).split(" ", -1);
    int length = Integer.parseInt(words[0]);
    if (bytes.length - end - 1 != length) {
      throw broken(
          file, "its content has " + (bytes.length - end - 1) + " bytes instead of " + length);
    }
    byte[] json = new byte[length];
    System.arraycopy(bytes, end + 1, json, 0, length);
    if (!hash(json).equals(words[1])) {
      throw broken(file, "its content is not what was written");
    }
    try {
      return CheckpointJson.read(json);
    } catch (IllegalArgumentException e) {
      throw broken(file, e.getMessage());
    }
  }

  private static CheckpointException broken(Path file, String found) {
    return new CheckpointException(
        "Expected a whole checkpoint in "
            + file
            + ", but "
            + found
            + ". Restore the file, or delete it and begin the step anew.");
  }

  private static String hash(byte[] bytes) {
    return HexFormat.of().formatHex(FileState.newDigest().digest(bytes));
  }

  private Path file(String id) {
    return folder.resolve(Checkpoint.checkId(id) + SUFFIX);
  }

  /** A rename is durable once its folder is. */
  private void forceFolder() throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      disk.force(channel);
    }
  }

  private static List<Path> list(Path folder, String suffix) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.getFileName().toString().endsWith(suffix)).toList();
    }
  }
}
