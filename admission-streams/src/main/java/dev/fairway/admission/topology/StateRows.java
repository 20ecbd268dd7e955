package dev.fairway.admission.topology;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.RowId;
import dev.fairway.admission.mapping.RowCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/** The rows of a task's engine in its store. Not thread-safe. */
final class StateRows {
  private final KeyValueStore<Bytes, byte[]> store;
  private final RowCodec codec = new RowCodec();

  StateRows(KeyValueStore<Bytes, byte[]> store) {
    this.store = store;
  }

  /**
   * Loads every key of the store into an engine.
   *
   * @return rows read
   * @throws IllegalArgumentException if a row cannot be read, or a key's rows are not whole
   */
  long restore(AdmissionEngine engine) {
    long count = 0;
    String key = null;
    List<Row> rows = new ArrayList<>();
    try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
      while (all.hasNext()) {
        KeyValue<Bytes, byte[]> entry = all.next();
        if (ParkedRecords.isParked(entry.key)) {
          continue;
        }
        RowCodec.KeyedRow read = codec.decode(entry.value);
        if (!read.key().equals(key)) {
          restore(engine, key, rows);
          key = read.key();
          rows = new ArrayList<>();
        }
        rows.add(read.row());
        count++;
      }
    }
    restore(engine, key, rows);
    return count;
  }

  /** What a command changed, as entries of the store; a null value deletes. */
  List<KeyValue<Bytes, byte[]>> encoded(String key, Map<RowId, Row> changed) {
    List<KeyValue<Bytes, byte[]>> entries = new ArrayList<>(changed.size());
    changed.forEach(
        (id, row) ->
            entries.add(
                KeyValue.pair(
                    Bytes.wrap(RowCodec.storeKey(key, id)),
                    row == null ? null : codec.encode(key, row))));
    return entries;
  }

  void write(List<KeyValue<Bytes, byte[]>> entries) {
    for (KeyValue<Bytes, byte[]> entry : entries) {
      store.put(entry.key, entry.value);
    }
  }

  /** Bytes that a row takes in a store or, about, in a snapshot. */
  int size(String key, Row row) {
    return codec.encode(key, row).length;
  }

  private static void restore(AdmissionEngine engine, String key, List<Row> rows) {
    if (key != null) {
      engine.restore(key, rows);
    }
  }
}
