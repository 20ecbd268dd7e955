package dev.fairway.cli.demo.emulator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Every call that the provider saw, in memory and, where a file is given, appended to it as JSON
 * lines at once. The file outlives the process: what was written is in the page cache after each
 * line and on the disk after {@link #sync()}.
 *
 * <p>Thread-safe. Memory holds the first {@link #MEMORY_MAX} calls; beyond that {@link #entries()}
 * throws rather than telling half the truth, and the file goes on.
 */
public final class Ledger implements AutoCloseable {
  /** Calls held in memory. */
  public static final int MEMORY_MAX = 500_000;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Map<Long, LedgerEntry> entries = new LinkedHashMap<>();
  private final FileChannel file;
  private final int memoryMax;
  private boolean overflowed;
  private boolean dirty;

  private Ledger(FileChannel file, int memoryMax) {
    this.file = file;
    this.memoryMax = memoryMax;
  }

  /** One that keeps nothing, for whom no one asks. */
  public static Ledger none() {
    return new Ledger(null, 0);
  }

  /** A ledger in memory only. */
  public static Ledger inMemory() {
    return new Ledger(null, MEMORY_MAX);
  }

  /**
   * A ledger that is also appended to {@code path}, which is created if need be. A last line that a
   * kill cut off is removed first.
   */
  public static Ledger appendingTo(Path path) throws IOException {
    FileChannel file =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      long end = file.size();
      ByteBuffer one = ByteBuffer.allocate(1);
      while (end > 0 && file.read(one.clear(), end - 1) == 1 && one.get(0) != '\n') {
        end--;
      }
      file.truncate(end);
      file.position(end);
    } catch (IOException e) {
      file.close();
      throw e;
    }
    return new Ledger(file, MEMORY_MAX);
  }

  /**
   * Reads a ledger file; of two entries of a call the later one counts. A last line without its end
   * is left out: it is being written, or a kill cut it off.
   */
  public static List<LedgerEntry> read(Path path) throws IOException {
    // An emulator that was started again on the same file counts from 1 again.
    record Identity(long seq, long arrivedNs) {}
    Map<Identity, LedgerEntry> byIdentity = new LinkedHashMap<>();
    String text = Files.readString(path);
    for (String line :
        (Iterable<String>) text.substring(0, text.lastIndexOf('\n') + 1).lines()::iterator) {
      LedgerEntry entry = JSON.readValue(line, LedgerEntry.class);
      byIdentity.put(new Identity(entry.seq(), entry.arrivedNs()), entry);
    }
    return List.copyOf(byIdentity.values());
  }

  synchronized void write(LedgerEntry entry) {
    if (entries.size() < memoryMax || entries.containsKey(entry.seq())) {
      entries.put(entry.seq(), entry);
    } else {
      overflowed = true;
    }
    if (file != null && file.isOpen()) {
      append(entry);
    }
  }

  private void append(LedgerEntry entry) {
    try {
      ByteBuffer line =
          ByteBuffer.wrap((JSON.writeValueAsString(entry) + "\n").getBytes(StandardCharsets.UTF_8));
      while (line.hasRemaining()) {
        file.write(line);
      }
      dirty = true;
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("A ledger entry could not be written as JSON", e);
    } catch (IOException e) {
      throw new UncheckedIOException("The ledger file could not be appended to", e);
    }
  }

  /** Forces what was written to the disk. */
  public synchronized void sync() throws IOException {
    if (file != null && dirty) {
      file.force(false);
      dirty = false;
    }
  }

  /** All calls so far, in order of arrival, each as it is now. */
  public synchronized List<LedgerEntry> entries() {
    if (overflowed) {
      throw new IllegalStateException(
          "Expected at most "
              + memoryMax
              + " calls in memory, but there were more: read the ledger file instead");
    }
    return new ArrayList<>(entries.values());
  }

  /** Forces and closes the file. */
  @Override
  public synchronized void close() throws IOException {
    if (file != null && file.isOpen()) {
      sync();
      file.close();
    }
  }
}
