package dev.fairway.cli.up;

import dev.fairway.cli.CliException;
import dev.fairway.schemas.service.FileTrouble;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The folder in which {@code fairway up} keeps everything, locked for one process at a time. The
 * lock goes with the process, however it ends.
 */
public final class DataFolder implements AutoCloseable {

  private final Path path;
  private final FileChannel channel;
  private final FileLock lock;

  private DataFolder(Path path, FileChannel channel, FileLock lock) {
    this.path = path;
    this.channel = channel;
    this.lock = lock;
  }

  /**
   * Creates the folder if it is absent, checks that it can be written, and locks it.
   *
   * @throws CliException if it is no such folder, or another process has it
   */
  public static DataFolder open(Path path) {
    FileChannel channel = null;
    try {
      Files.createDirectories(path);
      channel =
          FileChannel.open(
              path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      FileLock lock = channel.tryLock();
      if (lock != null) {
        return new DataFolder(path, channel, lock);
      }
      channel.close();
    } catch (OverlappingFileLockException e) {
      closeQuietly(channel);
    } catch (IOException e) {
      closeQuietly(channel);
      throw new CliException(
          "Expected a folder that can be written at "
              + path.toAbsolutePath()
              + ", but: "
              + FileTrouble.of(e)
              + ". Name another with --data.",
          e);
    }
    throw new CliException(
        "Expected the data folder "
            + path.toAbsolutePath()
            + " to be free, but another 'fairway up' runs on it"
            + Addresses.read(path).map(other -> " (process " + other.pid() + ")").orElse("")
            + ". Stop that one, or name another folder with --data.");
  }

  /** The folder. */
  public Path path() {
    return path;
  }

  /** Folder of the embedded Kafka. */
  public Path kafka() {
    return path.resolve("kafka");
  }

  /** Folder of the schema registry. */
  public Path registry() {
    return path.resolve("registry");
  }

  /** Folder of the coordinator's local state. */
  public Path coordinator() {
    return path.resolve("coordinator");
  }

  /** Tells other commands where this process is reached, until {@link #close()}. */
  public void publish(Addresses addresses) {
    try {
      addresses.write(path);
    } catch (IOException e) {
      throw new CliException(
          "Expected to write the addresses to "
              + path.toAbsolutePath()
              + ", but: "
              + FileTrouble.of(e)
              + ".",
          e);
    }
  }

  @Override
  public void close() {
    try {
      Addresses.delete(path);
      lock.release();
      channel.close();
    } catch (IOException e) {
      throw new CliException(
          "Expected to release " + path.toAbsolutePath() + ", but: " + FileTrouble.of(e) + ".", e);
    }
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException ignored) {
      // What went wrong before is what matters.
    }
  }
}
