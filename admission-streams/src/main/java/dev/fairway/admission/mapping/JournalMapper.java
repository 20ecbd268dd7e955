package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.admission.mapping.JournalRecord.Decided;
import dev.fairway.admission.mapping.JournalRecord.Snapshot;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.CauseKind;
import dev.fairway.schemas.TakeSnapshot;
import java.util.ArrayList;
import java.util.List;

/** Journal records, both ways. Thread-safe. */
public final class JournalMapper {
  private JournalMapper() {}

  /** The journal record of a handled command. */
  public static AdmissionEvent toAvro(Handled handled, Command command, Cause cause) {
    return new AdmissionEvent(
        handled.key(),
        handled.sequence(),
        handled.epoch(),
        handled.atMs(),
        AdmissionEngine.VERSION,
        cause(cause),
        CommandMapper.toJournal(command),
        Values.list(handled.events(), EventMapper::toAvro));
  }

  /**
   * The journal record of a part of a key's rows.
   *
   * @param state the key's row: its sequence, epoch and time are the record's
   */
  public static AdmissionEvent snapshot(Row.KeyRow state, int chunk, int chunks, List<Row> rows) {
    return new AdmissionEvent(
        state.key(),
        state.sequence(),
        state.epoch(),
        state.nowMs(),
        AdmissionEngine.VERSION,
        cause(Cause.SNAPSHOT),
        new TakeSnapshot(
            chunk, chunks, Values.list(rows, row -> RowMapper.toAvro(state.key(), row))),
        new ArrayList<>());
  }

  /**
   * A journal record in the engine's terms.
   *
   * @throws IllegalArgumentException if it is not what this version or an older one wrote
   */
  public static JournalRecord toEngine(AdmissionEvent from) {
    if (from.getCommand() instanceof TakeSnapshot snapshot) {
      return new Snapshot(
          from.getKey(),
          from.getSequence(),
          from.getEpoch(),
          from.getAtMs(),
          from.getEngineVersion(),
          snapshot.getChunk(),
          snapshot.getChunks(),
          Values.list(snapshot.getRows(), RowMapper::toEngine));
    }
    return new Decided(
        from.getKey(),
        from.getSequence(),
        from.getEpoch(),
        from.getAtMs(),
        from.getEngineVersion(),
        cause(from.getCause()),
        CommandMapper.fromJournal(from.getCommand()),
        Values.list(from.getEvents(), EventMapper::toEngine));
  }

  private static dev.fairway.schemas.Cause cause(Cause from) {
    return new dev.fairway.schemas.Cause(
        Values.symbol(from.kind(), CauseKind.class), from.topic(), from.partition(), from.offset());
  }

  private static Cause cause(dev.fairway.schemas.Cause from) {
    return new Cause(
        Values.symbol(from.getKind(), Cause.Kind.class),
        from.getTopic(),
        from.getPartition(),
        from.getOffset());
  }
}
