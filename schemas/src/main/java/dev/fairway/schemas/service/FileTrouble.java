package dev.fairway.schemas.service;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** What went wrong with a file, in words: the JDK's messages are a path, or a class name. */
public final class FileTrouble {

  private FileTrouble() {}

  /** The trouble as the end of a sentence that names the file, without a full stop. */
  public static String of(IOException error) {
    if (error instanceof NoSuchFileException) {
      return "there is no such file or folder";
    }
    if (error instanceof AccessDeniedException) {
      return "permission is denied";
    }
    if (error instanceof FileAlreadyExistsException || error instanceof NotDirectoryException) {
      return "a file stands where a folder is needed";
    }
    if (error instanceof CharacterCodingException) {
      return "it is not UTF-8 text";
    }
    String text = error instanceof FileSystemException file ? file.getReason() : error.getMessage();
    if (text == null || text.isBlank()) {
      return "the system gave no reason (" + error.getClass().getSimpleName() + ")";
    }
    if (text.endsWith("Is a directory")) {
      return "it is a folder";
    }
    if (text.endsWith("Not a directory")) {
      return "a file stands where a folder is needed";
    }
    return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
  }
}
