package dev.fairway.cli;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/**
 * Says in words why a file could not be read or written, where exceptions say it by their names.
 */
public final class FileTrouble {

  private FileTrouble() {}

  /** What was found, to go on after "but"; without a full stop. */
  public static String of(IOException error) {
    if (error instanceof CharacterCodingException) {
      return "it is no UTF-8 text";
    }
    if ("Is a directory".equals(error.getMessage())) {
      return "it is a folder";
    }
    if (!(error instanceof FileSystemException found) || found.getFile() == null) {
      return error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
    }
    String file = found.getFile();
    if (error instanceof NoSuchFileException) {
      Path folder = Path.of(file).toAbsolutePath().getParent();
      return folder == null || Files.isDirectory(folder)
          ? "there is no file or folder " + file
          : "there is no folder " + folder;
    }
    if (error instanceof AccessDeniedException) {
      return "access to " + file + " is denied";
    }
    if (error instanceof FileAlreadyExistsException) {
      return file + " exists already, and is something else";
    }
    if (error instanceof NotDirectoryException || "Not a directory".equals(found.getReason())) {
      return "there is a file where " + file + " needs a folder";
    }
    if ("Is a directory".equals(found.getReason())) {
      return file + " is a folder";
    }
    return found.getReason() == null ? file : file + ": " + found.getReason();
  }
}
