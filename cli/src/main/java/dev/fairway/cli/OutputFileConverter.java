package dev.fairway.cli;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A file to be written. That it cannot be is said before the work begins, whose result would be
 * lost with it.
 */
final class OutputFileConverter implements ITypeConverter<Path> {
  @Override
  public Path convert(String value) {
    Path file;
    try {
      file = Path.of(value);
    } catch (InvalidPathException e) {
      throw new TypeConversionException(
          "Expected a file to write, but found '" + value + "': " + e.getReason() + ".");
    }
    String trouble = trouble(file);
    if (trouble != null) {
      throw new TypeConversionException(trouble + " Name another file.");
    }
    return file;
  }

  /** Why a file cannot be written, as a sentence; null if it can. */
  static String trouble(Path named) {
    Path file = named.toAbsolutePath();
    Path folder = file.getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      return "Expected a file in a folder that is there, but there is no folder " + folder + ".";
    }
    boolean there = Files.exists(file);
    if (Files.isDirectory(file) || !Files.isWritable(there ? file : folder)) {
      return "Expected a file that can be written, but found "
          + file
          + (Files.isDirectory(file) ? ", a folder." : ", which may not be written.");
    }
    return null;
  }
}
