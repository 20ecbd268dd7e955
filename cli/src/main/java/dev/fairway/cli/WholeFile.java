package dev.fairway.cli;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Writes a file so that it is there whole or not at all: into a temporary file beside it, which
 * takes its place at the end. A pipe or a device is written as it is.
 */
final class WholeFile {

  /** Writes the text. */
  interface Content {
    /** Writes all of it; a failure leaves what was there before. */
    void writeTo(Writer out) throws IOException;
  }

  private WholeFile() {}

  static void write(Path file, Content content) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      try (Writer out = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
        content.writeTo(out);
      }
      return;
    }
    // What a link stands for is replaced, not the link.
    Path target = Files.exists(file) ? file.toRealPath() : file;
    Path unfinished =
        target.resolveSibling(target.getFileName() + "." + ProcessHandle.current().pid() + ".tmp");
    try {
      try (Writer out = Files.newBufferedWriter(unfinished, StandardCharsets.UTF_8)) {
        content.writeTo(out);
      }
      Files.move(
          unfinished, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }
}
