package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.state.Row.RowId;
import java.util.LinkedHashMap;
import java.util.Map;

/** Rows that the present command touched, in order of first touch. */
final class RowChanges {
  private Map<RowId, Row> changes = new LinkedHashMap<>();

  void put(Row row) {
    changes.put(row.id(), row);
  }

  void delete(RowId id) {
    changes.put(id, null);
  }

  Map<RowId, Row> take() {
    Map<RowId, Row> taken = changes;
    changes = new LinkedHashMap<>();
    return taken;
  }
}
