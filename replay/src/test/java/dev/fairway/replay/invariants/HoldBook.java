package dev.fairway.replay.invariants;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.QuotaDefinition;
import dev.fairway.admission.engine.QuotaDefinition.State;
import dev.fairway.admission.engine.QuotaSnapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Nothing is granted of a quota that is paused or held, nor of one that takes from such a one. */
final class HoldBook {
  private final List<String> wrong = new ArrayList<>();
  private final Map<String, QuotaDefinition> definitions = new HashMap<>();

  /** End of each hold; {@link Long#MAX_VALUE} where an operator has to end it. */
  private final Map<String, Long> heldUntilMs = new HashMap<>();

  private HoldBook() {}

  static List<String> nothingIsGranted(List<Step> steps) {
    HoldBook book = new HoldBook();
    for (Step step : steps) {
      for (Event event : step.handled().events()) {
        book.read(step, event);
      }
    }
    return book.wrong;
  }

  private void read(Step step, Event event) {
    if (event instanceof Event.QuotaHeld e) {
      heldUntilMs.put(e.quotaId(), e.untilMs() == null ? Long.MAX_VALUE : e.untilMs());
    } else if (event instanceof Event.QuotaReleased e) {
      heldUntilMs.remove(e.quotaId());
    } else if (event instanceof Event.QuotaDefined e) {
      definitions.put(e.quotaId(), e.definition());
      // Taken up again after a removal, a quota may begin anew; no definition begins a hold.
      QuotaSnapshot now = Invariants.snapshot(step, e.quotaId());
      if (now.holdReason() == null) {
        heldUntilMs.remove(e.quotaId());
      }
    } else if (event instanceof Event.LeaseGranted e) {
      check(step, e, e.quotaId());
      definitions.get(e.quotaId()).also().forEach(id -> check(step, e, id));
    }
  }

  private void check(Step step, Event.LeaseGranted e, String quotaId) {
    if (heldUntilMs.getOrDefault(quotaId, Long.MIN_VALUE) > step.atMs()) {
      wrong.add(e.leaseId() + " was granted while " + quotaId + " was held");
    }
    if (definitions.get(quotaId).state() == State.PAUSED) {
      wrong.add(e.leaseId() + " was granted while " + quotaId + " was paused");
    }
  }
}
