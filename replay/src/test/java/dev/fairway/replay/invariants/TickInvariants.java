package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import java.util.ArrayList;
import java.util.List;

/** What changes with time alone is told ahead: that is how nobody waits longer than he must. */
final class TickInvariants {
  private TickInvariants() {}

  /** A tick before the time that was told does nothing, but for alerts, which any look may end. */
  static List<String> nothingIsOverdue(List<Step> steps) {
    List<String> wrong = new ArrayList<>();
    for (int i = 1; i < steps.size(); i++) {
      Step step = steps.get(i);
      long dueMs = steps.get(i - 1).dueMs();
      boolean acted =
          step.handled().events().stream()
              .anyMatch(
                  e -> !(e instanceof Event.AlertRaised) && !(e instanceof Event.AlertCleared));
      if (step.command() instanceof Command.Tick && step.atMs() < dueMs && acted) {
        wrong.add("not due before " + dueMs + ", but at " + step.atMs() + ": " + step.handled());
      }
    }
    return wrong;
  }
}
