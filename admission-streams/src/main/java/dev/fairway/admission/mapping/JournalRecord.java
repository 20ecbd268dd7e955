package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.state.Row;
import java.util.List;
import java.util.Map;

/** One record of the journal, in the engine's terms. */
public sealed interface JournalRecord {

  /** Key. */
  String key();

  /** Journal sequence: of the command handled, or of the last one before a snapshot. */
  long sequence();

  /** Ownership epoch. */
  int epoch();

  /** Decision time, epoch milliseconds. */
  long atMs();

  /** Version of the engine that decided. */
  String engineVersion();

  /** A command, and what it did. */
  record Decided(
      String key,
      long sequence,
      int epoch,
      long atMs,
      String engineVersion,
      Cause cause,
      Command command,
      List<Event> events)
      implements JournalRecord {

    /** What the engine returned, but for the rows, which the journal leaves to snapshots. */
    public Handled handled() {
      return new Handled(key, sequence, epoch, atMs, events, Map.of());
    }
  }

  /**
   * Part of the rows of a key, as they are after the command of this sequence. All chunks of one
   * snapshot stand next to each other among the records of their key. A snapshot changes nothing
   * and takes no sequence of its own.
   *
   * @param chunk number of this chunk, from 0
   * @param chunks how many there are
   * @param rows rows of this chunk
   */
  record Snapshot(
      String key,
      long sequence,
      int epoch,
      long atMs,
      String engineVersion,
      int chunk,
      int chunks,
      List<Row> rows)
      implements JournalRecord {}
}
