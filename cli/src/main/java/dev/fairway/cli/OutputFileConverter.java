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
      file = Path.of(value).toAbsolutePath();
    } catch (InvalidPathException e) {
      throw new TypeConversionException(
          "Expected a file to write, but found '" + value + "': " + e.getReason() + ".");
    }
    Path folder = file.getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new TypeConversionException(
          "Expected a file in a folder that is there, but there is no folder "
              + folder
              + ". Make it, or name another file.");
    }
    boolean there = Files.exists(file);
    if (Files.isDirectory(file) || !Files.isWritable(there ? file : folder)) {
      throw new TypeConversionException(
          "Expected a file that can be written, but found "
              + file
              + (Files.isDirectory(file) ? ", a folder" : ", which may not be written")
              + ". Name another file.");
    }
    return Path.of(value);
  }
}
