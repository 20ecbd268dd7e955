package dev.fairway.admission.topology;

import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Handled;
import dev.fairway.schemas.DeadLetterReason;
import java.util.ArrayList;
import java.util.List;

/** Remembers what it was told, in words. */
final class RecordingObserver implements AdmissionObserver {
  final List<String> told = new ArrayList<>();

  @Override
  public void handled(Command command, Handled handled, long nanos) {
    told.add("handled " + command.getClass().getSimpleName());
  }

  @Override
  public void deadLettered(DeadLetterReason reason) {
    told.add("dead " + reason);
  }

  @Override
  public void forwarded(String topic) {
    told.add("forwarded " + topic);
  }

  @Override
  public void engineFailed() {
    told.add("failed");
  }

  @Override
  public void restored(int partition, int keys, long rows, long nanos) {
    told.add("restored " + keys + " keys, " + rows + " rows");
  }
}
