package dev.fairway.replay.verify;

import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.RowId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Compares the rows of a key, whatever order they come in. */
final class RowDifference {
  private RowDifference() {}

  /** The first difference in words, or null if there is none. */
  static String first(List<Row> journalled, List<Row> decided) {
    Map<RowId, Row> rest = new LinkedHashMap<>();
    decided.forEach(row -> rest.put(row.id(), row));
    for (Row row : journalled) {
      Row found = rest.remove(row.id());
      if (!row.equals(found)) {
        return "snapshot has " + row + ", but the state is " + (found == null ? "without" : found);
      }
    }
    return rest.isEmpty()
        ? null
        : "snapshot is without " + rest.values().iterator().next() + ", which the state has";
  }
}
