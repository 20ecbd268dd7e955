package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.state.Row.RoleRow;
import java.util.HashMap;
import java.util.Map;

/** Exponentially weighted means per role. Bounded: the role unused for longest makes room. */
final class RoleAverages implements RoleStatistics {
  static final int MAX_ROLES = 256;
  private static final double SHARE = 0.05;

  final Map<String, RoleRow> rows = new HashMap<>();
  final DueIndex use = new DueIndex();

  @Override
  public Double meanInputPerCall(String role) {
    RoleRow row = rows.get(role);
    return row == null ? null : row.meanInput();
  }

  @Override
  public Double callsPerTask(String role) {
    RoleRow row = rows.get(role);
    return row == null ? null : row.callsPerTask();
  }

  void learnInput(KeyState key, String role, long input) {
    RoleRow old = rows.get(role);
    put(
        key,
        new RoleRow(
            role,
            mean(old == null ? null : old.meanInput(), input),
            old == null ? null : old.callsPerTask(),
            key.nowMs));
  }

  void learnTask(KeyState key, String role, int calls) {
    RoleRow old = rows.get(role);
    put(
        key,
        new RoleRow(
            role,
            old == null ? null : old.meanInput(),
            mean(old == null ? null : old.callsPerTask(), calls),
            key.nowMs));
  }

  private static Double mean(Double old, double value) {
    return old == null ? value : old + SHARE * (value - old);
  }

  private void put(KeyState key, RoleRow row) {
    if (!rows.containsKey(row.role()) && rows.size() >= MAX_ROLES) {
      RoleRow oldest = rows.remove(use.firstName());
      use.remove(oldest.touchedAtMs(), oldest.role());
      key.changes.delete(oldest.id());
    }
    index(row);
    key.changes.put(row);
  }

  void index(RoleRow row) {
    RoleRow old = rows.put(row.role(), row);
    if (old != null) {
      use.remove(old.touchedAtMs(), old.role());
    }
    use.add(row.touchedAtMs(), row.role());
  }
}
