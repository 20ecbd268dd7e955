package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.alert.AlertKind;
import dev.fairway.admission.engine.state.Row.AlertRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Alerts of a quota that are raised. Everybody may read it; only this package changes it. */
public final class AlertBook {
  private final Map<String, AlertRow> raised = new TreeMap<>();

  AlertBook() {}

  /** Whether that alert is raised. */
  public boolean isRaised(AlertKind kind, String subject) {
    return raised.containsKey(name(kind, subject));
  }

  /** Alerts raised, by kind and subject. */
  public Collection<AlertRow> raised() {
    return List.copyOf(raised.values());
  }

  /** Subjects of one kind. */
  public List<String> subjects(AlertKind kind) {
    List<String> subjects = new ArrayList<>();
    for (AlertRow row : raised.values()) {
      if (row.kind() == kind) {
        subjects.add(row.subject());
      }
    }
    return subjects;
  }

  void put(AlertRow row) {
    raised.put(name(row.kind(), row.subject()), row);
  }

  AlertRow remove(AlertKind kind, String subject) {
    return raised.remove(name(kind, subject));
  }

  private static String name(AlertKind kind, String subject) {
    return kind.name() + "/" + subject;
  }
}
