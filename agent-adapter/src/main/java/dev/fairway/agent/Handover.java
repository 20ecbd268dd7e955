package dev.fairway.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a client leaves to the next one with the same file, should it be killed: how its request ids
 * begin, and how far it has read its decisions. So the next one knows which requests nobody waits
 * for any more, and which of their grants nobody has ever seen: a grant that was not read was not
 * sent on, and is given back without knowing more.
 *
 * <p>The position is written before what was read is handed on, and reaches the file as far as the
 * operating system, which outlives the process but not the machine: after a power failure a grant
 * may be given back under which a call was sent; its tokens are missing from the buckets until the
 * provider's headers say so.
 *
 * <p>Kept are the beginnings of the last {@value #BEGINNINGS_MAX} clients. Used by one thread at a
 * time; {@link #isInherited} by any.
 */
final class Handover implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Handover.class);

  static final int BEGINNINGS_MAX = 16;

  /** Position unknown: there was no client before, or it never read anything. */
  static final long UNKNOWN = -1;

  private static final int BYTES_MAX = 8_192;
  private static final int POSITION_LENGTH = 20;

  private final FileChannel file;
  private final List<String> inherited;
  private final long position;
  private boolean troubleLogged;

  private Handover(FileChannel file, List<String> inherited, long position) {
    this.file = file;
    this.inherited = inherited;
    this.position = position;
  }

  /** For a client that leaves nothing, and has nobody before it. */
  static Handover none() {
    return new Handover(null, List.of(), UNKNOWN);
  }

  /**
   * Takes over what the file says, and puts this client's beginning of request ids into it.
   *
   * @param path null for {@link #none()}
   * @throws AdmissionException if the file cannot be written, or another client has it
   */
  static Handover open(Path path, String beginning) {
    if (path == null) {
      return none();
    }
    FileChannel file = null;
    try {
      file =
          FileChannel.open(
              path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      if (file.tryLock() == null) {
        throw new OverlappingFileLockException();
      }
      List<String> lines = lines(file, path);
      List<String> inherited = lines.isEmpty() ? List.of() : lines.subList(1, lines.size());
      long position = lines.isEmpty() ? UNKNOWN : Long.parseLong(lines.get(0));
      List<String> kept = new ArrayList<>(List.of(beginning));
      kept.addAll(inherited.subList(0, Math.min(inherited.size(), BEGINNINGS_MAX - 1)));
      String text = positioned(position) + "\n" + String.join("\n", kept) + "\n";
      file.truncate(0);
      write(file, text);
      return new Handover(file, List.copyOf(inherited), position);
    } catch (OverlappingFileLockException e) {
      closeQuietly(file);
      throw new AdmissionException(
          "Expected the handover file " + path + " to be free, but another client has it.", e);
    } catch (IOException e) {
      closeQuietly(file);
      throw new AdmissionException(
          "Expected to read and write the handover file " + path + ", but: " + e + ".", e);
    }
  }

  /** Whether a client before this one made the request, so that nobody waits for it any more. */
  boolean isInherited(String requestId) {
    for (String beginning : inherited) {
      if (requestId.startsWith(beginning)) {
        return true;
      }
    }
    return false;
  }

  /** From where on the client before has read nothing, or {@link #UNKNOWN}. */
  long position() {
    return position;
  }

  /** Everything before this position is about to be handed on. */
  void read(long next) {
    if (file == null) {
      return;
    }
    try {
      write(file, positioned(next));
    } catch (IOException e) {
      if (!troubleLogged) {
        troubleLogged = true;
        log.warn(
            "Expected to note how far decisions are read, but: {}. Should this process be killed,"
                + " the next one gives back less of what it had in line.",
            e.toString());
      }
    }
  }

  @Override
  public void close() {
    closeQuietly(file);
  }

  private static List<String> lines(FileChannel file, Path path) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(file.size(), BYTES_MAX));
    while (bytes.hasRemaining() && file.read(bytes, bytes.position()) >= 0) {
      // Until it is all there.
    }
    String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
    List<String> lines = text.lines().toList();
    boolean sound =
        text.matches("[-0-9][0-9]{" + (POSITION_LENGTH - 1) + "}\n([A-Za-z0-9._:-]{4,64}\n)*");
    if (!sound && !text.isEmpty()) {
      log.warn(
          "Expected a position and the beginnings of request ids in the handover file {}, but found"
              + " something else; nothing is taken over from the client before.",
          path);
    }
    return sound ? lines : List.of();
  }

  private static String positioned(long position) {
    return String.format("%0" + POSITION_LENGTH + "d", position);
  }

  private static void write(FileChannel file, String text) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    while (bytes.hasRemaining()) {
      file.write(bytes, bytes.position());
    }
  }

  private static void closeQuietly(FileChannel file) {
    if (file != null) {
      try {
        file.close();
      } catch (IOException e) {
        log.debug("The handover file was not closed", e);
      }
    }
  }
}
