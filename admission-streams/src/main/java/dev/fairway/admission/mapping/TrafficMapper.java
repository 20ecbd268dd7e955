package dev.fairway.admission.mapping;

import dev.fairway.admission.engine.alert.Traffic;
import dev.fairway.admission.engine.alert.Waves;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.schemas.TrafficRow;
import dev.fairway.schemas.TrafficWindow;
import dev.fairway.schemas.WavesRow;

/** The row that counts traffic, both ways. Thread-safe. */
final class TrafficMapper {
  private TrafficMapper() {}

  static TrafficRow row(Row.TrafficRow from) {
    Traffic t = from.traffic();
    return new TrafficRow(
        from.quotaId(),
        t.startMs(),
        t.requestsBefore(),
        t.successesBefore(),
        t.refusals(),
        t.tasks(),
        t.retrySpend(),
        window(t.last()),
        window(t.beforeLast()),
        Values.list(t.waves(), TrafficMapper::waves),
        Values.list(t.asked(), TrafficMapper::waves));
  }

  static Row.TrafficRow row(TrafficRow from) {
    return new Row.TrafficRow(
        from.getQuota(),
        new Traffic(
            from.getStartMs(),
            from.getRequestsBefore(),
            from.getSuccessesBefore(),
            from.getRefusals(),
            from.getTasks(),
            from.getRetrySpend(),
            window(from.getLast()),
            window(from.getBeforeLast()),
            Values.list(from.getWaves(), TrafficMapper::waves),
            // Rows written before that was counted have none.
            from.getAsked().isEmpty()
                ? Waves.NO_SCALE
                : Values.list(from.getAsked(), TrafficMapper::waves)));
  }

  private static WavesRow waves(Waves w) {
    return new WavesRow(w.bin(), w.count(), w.mean(), w.meanSquare());
  }

  private static Waves waves(WavesRow w) {
    return new Waves(w.getBin(), w.getCount(), w.getMean(), w.getMeanSquare());
  }

  private static TrafficWindow window(Traffic.Window from) {
    return new TrafficWindow(
        from.requests(), from.successes(), from.refusals(), from.tasks(), from.retrySpend());
  }

  private static Traffic.Window window(TrafficWindow from) {
    return new Traffic.Window(
        from.getRequests(),
        from.getSuccesses(),
        from.getRefusals(),
        from.getTasks(),
        from.getRetrySpend());
  }
}
