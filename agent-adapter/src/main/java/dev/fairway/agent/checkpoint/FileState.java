package dev.fairway.agent.checkpoint;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * A file as it was read.
 *
 * @param path relative to the root, with {@code /} between its parts, and not above it
 * @param sha256 hash of its content in small hexadecimal letters, or null if it was not there
 * @param bytes its length, 0 if it was not there
 */
public record FileState(String path, String sha256, long bytes) {
  private static final int PATH_CHARS_MAX = 4_096;
  private static final int BUFFER_BYTES = 64 * 1024;
  private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");

  /** Checks the path and the hash. */
  public FileState {
    boolean inside =
        path != null
            && !path.isBlank()
            && path.length() <= PATH_CHARS_MAX
            && !path.startsWith("/")
            && !("/" + path + "/").contains("/../");
    if (!inside || !isText(path)) {
      throw new IllegalArgumentException(
          "Expected a path below the root, such as src/Main.java, but found " + path + ".");
    }
    if (sha256 != null && !HASH.matcher(sha256).matches()) {
      throw new IllegalArgumentException(
          "Expected a SHA-256 of 64 hexadecimal letters for " + path + ", but found another text.");
    }
    if (bytes < 0 || (sha256 == null && bytes != 0)) {
      throw new IllegalArgumentException(
          "Expected a length of 0 or more for "
              + path
              + ", and 0 if it was not there, but found "
              + bytes
              + ".");
    }
  }

  /** No file has a NUL in its name, and no text of a file half a character. */
  private static boolean isText(String path) {
    return path.indexOf('\0') < 0 && StandardCharsets.UTF_8.newEncoder().canEncode(path);
  }

  /**
   * A file with the content that was read, for who must not read it twice.
   *
   * @param path relative to the root, with {@code /} between its parts, and not above it
   * @param content all of it
   */
  public static FileState of(String path, byte[] content) {
    return new FileState(
        path, HexFormat.of().formatHex(newDigest().digest(content)), content.length);
  }

  /** Whether it was there. */
  public boolean existed() {
    return sha256 != null;
  }

  /**
   * A file as it is now; one that is not there is noted as such.
   *
   * @param root folder that the path is in
   * @param path relative to the root
   * @throws UncheckedIOException if there is something that cannot be read, or is no file
   */
  public static FileState of(Path root, Path path) {
    try {
      return isFile(root.resolve(path.normalize())) ? read(root, path) : absent(path);
    } catch (NotAFileException e) {
      throw new UncheckedIOException(
          "Expected " + name(path) + " to be a file, but found something else", e);
    } catch (IOException e) {
      throw unreadable(path, e);
    }
  }

  /** What is there now: what is no file counts as none. */
  FileState now(Path root) {
    Path path;
    try {
      path = root.getFileSystem().getPath(this.path);
    } catch (InvalidPathException e) {
      throw new UncheckedIOException(
          "Expected a name that this process can give a file, but "
              + this.path
              + " has characters that its locale has not. Start it where the checkpoint was made, or"
              + " with a locale of UTF-8, such as LC_ALL=C.UTF-8",
          new IOException(e));
    }
    try {
      return isFile(root.resolve(path.normalize())) ? read(root, path) : absent(path);
    } catch (NotAFileException e) {
      return absent(path);
    } catch (IOException e) {
      throw unreadable(path, e);
    }
  }

  private static FileState read(Path root, Path path) throws IOException {
    MessageDigest digest = newDigest();
    long length = 0;
    try (InputStream in = Files.newInputStream(root.resolve(path.normalize()))) {
      byte[] buffer = new byte[BUFFER_BYTES];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        digest.update(buffer, 0, read);
        length += read;
      }
    } catch (NoSuchFileException e) {
      return absent(path);
    }
    return new FileState(name(path), HexFormat.of().formatHex(digest.digest()), length);
  }

  /**
   * Whether there is a file: not if there is nothing, also because what should be a folder on the
   * way is none, or because links lead nowhere or in a circle.
   *
   * @throws NotAFileException if there is a folder or something else
   */
  private static boolean isFile(Path file) throws IOException {
    BasicFileAttributes found;
    try {
      found = Files.readAttributes(file, BasicFileAttributes.class);
    } catch (NoSuchFileException e) {
      return false;
    } catch (AccessDeniedException e) {
      throw e;
    } catch (FileSystemException e) {
      if (leadsNowhere(file)) {
        return false;
      }
      throw e;
    }
    if (!found.isRegularFile()) {
      throw new NotAFileException(file);
    }
    return true;
  }

  private static boolean leadsNowhere(Path file) {
    if (Files.isSymbolicLink(file)) {
      return true;
    }
    for (Path on = file.getParent(); on != null; on = on.getParent()) {
      if (Files.exists(on, LinkOption.NOFOLLOW_LINKS)) {
        return !Files.isDirectory(on);
      }
    }
    return false;
  }

  private static FileState absent(Path path) {
    return new FileState(name(path), null, 0);
  }

  private static String name(Path path) {
    return path.normalize().toString().replace(path.getFileSystem().getSeparator(), "/");
  }

  private static UncheckedIOException unreadable(Path path, IOException e) {
    return new UncheckedIOException("Expected to read " + name(path) + ", but failed", e);
  }

  private static final class NotAFileException extends IOException {
    private static final long serialVersionUID = 1L;

    NotAFileException(Path file) {
      super(file + " is no regular file");
    }
  }

  static MessageDigest newDigest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }
}
