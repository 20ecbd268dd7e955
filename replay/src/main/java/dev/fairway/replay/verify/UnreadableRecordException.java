package dev.fairway.replay.verify;

import java.io.IOException;

/**
 * One record of a journal is no journal record. The message says where it stands, what was found
 * and what to do; reading may go on after it.
 */
public final class UnreadableRecordException extends IOException {
  private static final long serialVersionUID = 1L;

  UnreadableRecordException(String message, Throwable cause) {
    super(message, cause);
  }
}
