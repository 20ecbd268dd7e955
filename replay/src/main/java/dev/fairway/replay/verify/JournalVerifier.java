package dev.fairway.replay.verify;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.mapping.JournalMapper;
import dev.fairway.admission.mapping.JournalRecord;
import dev.fairway.admission.mapping.JournalRecord.Decided;
import dev.fairway.admission.mapping.JournalRecord.Snapshot;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.StateRow;
import dev.fairway.schemas.TakeSnapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides a journal again: each command at its own time, in a fresh engine, and compares sequence,
 * events and, at each snapshot, rows. A key begins at its first record if that is sequence 1, else
 * at its first whole snapshot. After a snapshot the engine goes on from its rows, so one error does
 * not hide what comes later. Holds the state of every key, and of a journal one record at a time.
 * Not thread-safe.
 */
public final class JournalVerifier {
  private static final int TOLD_MAX = 20;

  private final AdmissionEngine engine = new AdmissionEngine();
  private final Conservation conservation = new Conservation(TOLD_MAX);
  private final Findings mismatches = new Findings(TOLD_MAX);
  private final Findings unreadable = new Findings(TOLD_MAX);
  private final Map<String, KeyRun> runs = new HashMap<>();
  private long inputs;
  private long events;
  private long skipped;

  /** How far the verification of one key has come. */
  private static final class KeyRun {
    private long sequence;
    private boolean engineInStep;
    private boolean conservationStarted;
    private final List<Row> rows = new ArrayList<>();
    private final List<StateRow> stateRows = new ArrayList<>();
    private int nextChunk;
  }

  /** Takes the next record of the journal; those of one key come in their order. */
  public void accept(AdmissionEvent event) {
    KeyRun run = runs.computeIfAbsent(event.getKey(), key -> new KeyRun());
    try {
      check(run, event);
    } catch (RuntimeException e) {
      // Whatever a record of somebody else's provokes is that record's fault; the others go on.
      mismatches.add(where(event) + "expected a record that can be checked, but: " + e);
      leave(event.getKey(), run);
    }
  }

  /** Counts a record that the journal's reader refused. */
  public void unreadable(UnreadableRecordException record) {
    unreadable.add(record.getMessage());
  }

  private void check(KeyRun run, AdmissionEvent event) {
    JournalRecord record;
    try {
      record = JournalMapper.toEngine(event);
    } catch (IllegalArgumentException e) {
      mismatches.add(where(event) + "expected a record that can be read, but " + e.getMessage());
      leave(event.getKey(), run);
      return;
    }
    if (record instanceof Snapshot snapshot) {
      chunk(run, snapshot, event);
    } else if (record instanceof Decided decided) {
      decided(run, decided, event);
    }
  }

  /** What was found until now. */
  public VerifyReport report() {
    List<String> told = new ArrayList<>(mismatches.told());
    conservation.findings().stream().map(text -> "not conserved: " + text).forEach(told::add);
    unreadable.told().stream().map(text -> "unreadable: " + text).forEach(told::add);
    long verified = runs.values().stream().filter(run -> run.conservationStarted).count();
    return new VerifyReport(
        inputs,
        events,
        mismatches.count(),
        conservation.holds(),
        verified,
        skipped,
        unreadable.count(),
        told);
  }

  private void decided(KeyRun run, Decided decided, AdmissionEvent event) {
    run.nextChunk = 0;
    if (!run.conservationStarted && decided.sequence() == 1) {
      conservation.start(decided.key());
      run.conservationStarted = true;
      run.engineInStep = true;
    }
    if (!run.conservationStarted) {
      skipped++;
      return;
    }
    inputs++;
    events += decided.events().size();
    conservation.fold(event);
    if (decided.sequence() != run.sequence + 1) {
      mismatches.add(
          where(event)
              + "expected sequence "
              + (run.sequence + 1)
              + " next; records are missing or out of order");
      leave(decided.key(), run);
    } else if (run.engineInStep) {
      decideAgain(run, decided, event);
    }
    run.sequence = decided.sequence();
  }

  private void decideAgain(KeyRun run, Decided decided, AdmissionEvent event) {
    Handled handled;
    try {
      handled = engine.handle(decided.key(), decided.command(), decided.atMs());
    } catch (RuntimeException e) {
      mismatches.add(where(event) + "expected a decision, but the engine failed: " + e);
      leave(decided.key(), run);
      return;
    }
    String difference = difference(decided, handled);
    if (difference != null) {
      mismatches.add(where(event) + difference);
    }
  }

  private static String difference(Decided decided, Handled handled) {
    if (handled.sequence() != decided.sequence()) {
      return "expected sequence " + decided.sequence() + ", but decided " + handled.sequence();
    }
    if (handled.epoch() != decided.epoch()) {
      return "expected epoch " + decided.epoch() + ", but decided in " + handled.epoch();
    }
    if (handled.atMs() != decided.atMs()) {
      return "expected a time that does not go back, but it is " + handled.atMs() + " already";
    }
    List<Event> expected = decided.events();
    List<Event> found = handled.events();
    for (int i = 0; i < Math.max(expected.size(), found.size()); i++) {
      Event journalled = i < expected.size() ? expected.get(i) : null;
      Event decidedNow = i < found.size() ? found.get(i) : null;
      if (journalled == null || !isSame(journalled, decidedNow)) {
        return "event "
            + i
            + ": journal "
            + (journalled == null ? "has no more" : "has " + journalled)
            + ", but decided "
            + (decidedNow == null ? "none" : decidedNow);
      }
    }
    return null;
  }

  /**
   * Older versions did not write what is waited for: what says nothing of it holds all the same.
   */
  private static boolean isSame(Event journalled, Event decidedNow) {
    return journalled.equals(decidedNow) || journalled.equals(withoutWaitsFor(decidedNow));
  }

  private static Event withoutWaitsFor(Event event) {
    if (event instanceof Event.LeaseQueued e) {
      return e.withoutWaitsFor();
    }
    if (event instanceof Event.EtaRevised e) {
      return e.withoutWaitsFor();
    }
    return event instanceof Event.DecisionRepeated e
            && e.decision() instanceof Event.LeaseQueued queued
        ? new Event.DecisionRepeated(queued.withoutWaitsFor())
        : event;
  }

  private void chunk(KeyRun run, Snapshot snapshot, AdmissionEvent event) {
    if (snapshot.chunk() == 0) {
      run.rows.clear();
      run.stateRows.clear();
    } else if (snapshot.chunk() != run.nextChunk) {
      // The head of this snapshot lies before the journal's beginning.
      run.nextChunk = 0;
      return;
    }
    run.rows.addAll(snapshot.rows());
    run.stateRows.addAll(((TakeSnapshot) event.getCommand()).getRows());
    run.nextChunk = snapshot.chunk() + 1;
    if (run.nextChunk == snapshot.chunks()) {
      whole(run, snapshot, event);
      run.rows.clear();
      run.stateRows.clear();
      run.nextChunk = 0;
    }
  }

  private void whole(KeyRun run, Snapshot snapshot, AdmissionEvent event) {
    String key = snapshot.key();
    if (run.conservationStarted) {
      conservation.compare(key, run.stateRows);
      if (snapshot.sequence() != run.sequence) {
        mismatches.add(
            where(event)
                + "expected a snapshot of sequence "
                + run.sequence
                + "; records are missing");
      } else if (run.engineInStep) {
        String difference = RowDifference.first(run.rows, engine.rows(key));
        if (difference != null) {
          mismatches.add(where(event) + difference);
        }
      }
    }
    conservation.start(key, run.stateRows);
    try {
      engine.restore(key, List.copyOf(run.rows));
      run.engineInStep = true;
    } catch (IllegalArgumentException e) {
      mismatches.add(where(event) + "expected the whole state of the key, but " + e.getMessage());
      leave(key, run);
    }
    run.conservationStarted = true;
    run.sequence = snapshot.sequence();
  }

  /** The engine's state of a key is of no use until the next snapshot. */
  private void leave(String key, KeyRun run) {
    engine.discard(key);
    run.engineInStep = false;
  }

  private static String where(AdmissionEvent event) {
    return "key "
        + event.getKey()
        + ", sequence "
        + event.getSequence()
        + " at "
        + event.getAtMs()
        + " ("
        + event.getCommand().getClass().getSimpleName()
        + "): ";
  }
}
