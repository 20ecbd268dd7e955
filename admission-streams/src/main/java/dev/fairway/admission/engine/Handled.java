package dev.fairway.admission.engine;

import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.engine.state.Row.RowId;
import java.util.List;
import java.util.Map;

/**
 * What one command did.
 *
 * @param key key
 * @param sequence journal sequence of the key, from 1 without gaps
 * @param epoch ownership epoch of the key
 * @param atMs decision time
 * @param events what happened, in order; empty for a no-op
 * @param changedRows rows to write, in order of first change; a null value deletes the row
 */
public record Handled(
    String key,
    long sequence,
    int epoch,
    long atMs,
    List<Event> events,
    Map<RowId, Row> changedRows) {}
