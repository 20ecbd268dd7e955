package dev.fairway.cli;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A file that a command will write. It is looked at before the work starts, so that an hour's
 * result is not lost for want of a folder.
 */
final class OutputFileConverter implements ITypeConverter<Path> {

  OutputFileConverter() {}

  @Override
  public Path convert(String text) {
    Path file;
    try {
      file = Path.of(text);
    } catch (InvalidPathException e) {
      throw new TypeConversionException("expected the name of a file, but found '" + text + "'");
    }
    String trouble = text.isEmpty() ? "the name is empty" : trouble(file);
    if (trouble != null) {
      throw new TypeConversionException(
          "expected a file that can be written, but " + trouble + ". Name another one");
    }
    return file;
  }

  /** Why a file cannot be written, to go on after "but"; null if it can. */
  static String trouble(Path file) {
    if (Files.isDirectory(file)) {
      return file + " is a folder";
    }
    if (Files.exists(file)) {
      return Files.isWritable(file) ? null : file + " may not be written";
    }
    Path folder = file.toAbsolutePath().getParent();
    if (!Files.exists(folder)) {
      return "there is no folder " + folder;
    }
    if (!Files.isDirectory(folder)) {
      return folder + " is no folder";
    }
    return Files.isWritable(folder) ? null : "nothing may be written into the folder " + folder;
  }
}
