package dev.fairway.admission.topology;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.mapping.JournalMapper;
import dev.fairway.schemas.AdmissionEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Writes the state of keys down, in chunks that fit into a journal record. The chunks of a key
 * follow each other without a command of that key in between.
 */
final class Snapshots {
  static final int ROWS_MAX = 500;
  static final int BYTES_MAX = 400_000;

  private Snapshots() {}

  /** The snapshot of every key the engine knows, chunk by chunk. */
  static void writeAll(AdmissionEngine engine, StateRows sizes, Consumer<AdmissionEvent> journal) {
    for (String key : List.copyOf(engine.keys())) {
      write(key, engine.rows(key), sizes, journal);
    }
  }

  private static void write(
      String key, List<Row> rows, StateRows sizes, Consumer<AdmissionEvent> journal) {
    if (rows.isEmpty() || !(rows.get(0) instanceof Row.KeyRow state)) {
      throw new IllegalStateException(
          "Expected the rows of key '"
              + key
              + "' to begin with its key row but found "
              + rows.size());
    }
    List<List<Row>> chunks = chunks(key, rows, sizes);
    for (int chunk = 0; chunk < chunks.size(); chunk++) {
      journal.accept(JournalMapper.snapshot(state, chunk, chunks.size(), chunks.get(chunk)));
    }
  }

  private static List<List<Row>> chunks(String key, List<Row> rows, StateRows sizes) {
    List<List<Row>> chunks = new ArrayList<>();
    List<Row> chunk = new ArrayList<>();
    int bytes = 0;
    for (Row row : rows) {
      int size = sizes.size(key, row);
      if (!chunk.isEmpty() && (chunk.size() == ROWS_MAX || bytes + size > BYTES_MAX)) {
        chunks.add(chunk);
        chunk = new ArrayList<>();
        bytes = 0;
      }
      chunk.add(row);
      bytes += size;
    }
    chunks.add(chunk);
    return chunks;
  }
}
