package dev.fairway.cli.demo.fleet;

import java.io.IOException;

/** A trace that is not as it should be; the message names file and line. */
public final class TraceFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  TraceFormatException(String where, long line, String expected, String found) {
    super(where + ", line " + line + ": expected " + expected + ", but found " + found);
  }
}
