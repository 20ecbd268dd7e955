package dev.fairway.replay.verify;

import dev.fairway.schemas.AdmissionEvent;
import java.io.Closeable;
import java.io.IOException;

/** A journal from its beginning to the end it had when reading began. Not thread-safe. */
public interface JournalSource extends Closeable {
  /**
   * The next record, or null at the end. Records of one key come in their order.
   *
   * @throws UnreadableRecordException if the next one is no journal record; the one after it may be
   * @throws IOException if there is no journal, or it cannot be read; the message says why
   */
  AdmissionEvent next() throws IOException;
}
