package dev.fairway.admission.engine.state;

import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.state.Row.RowId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One command at work on a key: handlers read the state and emit events, and each event is applied
 * as it is emitted, so that the next decision sees it.
 */
public final class Transaction {
  /** Most events one command causes; what is left over is due at once, in the next tick. */
  public static final int MAX_EVENTS = 500;

  private final KeyState state;
  private final long previousNowMs;
  private final List<Event> events = new ArrayList<>();

  /** Starts a command at that time; a time before the last one counts as the last one. */
  public Transaction(KeyState state, long nowMs) {
    this.state = state;
    this.previousNowMs = state.nowMs();
    state.begin(nowMs);
  }

  /** State of the key, with all that was emitted so far applied. */
  public KeyState state() {
    return state;
  }

  /** Time of this command. */
  public long nowMs() {
    return state.nowMs();
  }

  /** Time of the command before. */
  public long previousNowMs() {
    return previousNowMs;
  }

  /** Emits an event and applies it. */
  public void emit(Event event) {
    events.add(event);
    Applier.apply(state, event);
  }

  /** Whether the command may go on to cause more. */
  public boolean hasRoom() {
    return events.size() < MAX_EVENTS;
  }

  /** What was emitted so far, in order; a copy. */
  public List<Event> events() {
    return List.copyOf(events);
  }

  /** Ends the command: the rows it changed, in order of first change. */
  public Map<RowId, Row> end() {
    return state.end();
  }
}
