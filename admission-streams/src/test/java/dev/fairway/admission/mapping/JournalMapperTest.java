package dev.fairway.admission.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.admission.engine.AdmissionEngine;
import dev.fairway.admission.engine.Command;
import dev.fairway.admission.engine.Event;
import dev.fairway.admission.engine.Handled;
import dev.fairway.admission.engine.WaitsFor;
import dev.fairway.admission.engine.bucket.Dimension;
import dev.fairway.admission.engine.state.Row;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.TakeSnapshot;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class JournalMapperTest {
  private static final Cause CAUSE = Cause.record("fairway.requests", 3, 42);
  private static final WaitsFor INPUT =
      new WaitsFor(WaitsFor.Reason.LIMIT, "k", Dimension.INPUT_TOKENS);

  @Provide
  Arbitrary<Command> commands() {
    return RandomValues.commands();
  }

  @Provide
  Arbitrary<List<Event>> events() {
    return RandomValues.events().list().ofMaxSize(5);
  }

  @Provide
  Arbitrary<List<Row>> rows() {
    return RandomValues.rows().list().ofMaxSize(5);
  }

  @Property
  void shouldReadBackWhatWasHandled(
      @ForAll("commands") Command command, @ForAll("events") List<Event> events) {
    // given
    Handled handled = new Handled("k", 7, 2, 1_700_000_000_000L, events, Map.of());

    // when
    byte[] bytes = AvroBytes.write(JournalMapper.toAvro(handled, command, CAUSE));
    JournalRecord read = JournalMapper.toEngine(AvroBytes.read(AdmissionEvent.class, bytes));

    // then
    assertThat(read)
        .isEqualTo(
            new JournalRecord.Decided(
                "k", 7, 2, 1_700_000_000_000L, AdmissionEngine.VERSION, CAUSE, command, events));
    assertThat(((JournalRecord.Decided) read).handled()).isEqualTo(handled);
  }

  @Property
  void shouldWriteTheSameBytesForWhatItReadBack(
      @ForAll("commands") Command command, @ForAll("events") List<Event> events) {
    // given
    Handled handled = new Handled("k", 1, 0, 5, events, Map.of());
    byte[] bytes = AvroBytes.write(JournalMapper.toAvro(handled, command, Cause.TICK));

    // when
    JournalRecord.Decided read =
        (JournalRecord.Decided) JournalMapper.toEngine(AvroBytes.read(AdmissionEvent.class, bytes));
    byte[] again =
        AvroBytes.write(JournalMapper.toAvro(read.handled(), read.command(), read.cause()));

    // then: byte for byte, whatever order maps had in memory
    assertThat(again).isEqualTo(bytes);
  }

  @Property
  void shouldReadBackASnapshot(@ForAll("rows") List<Row> rows) {
    // given
    Row.KeyRow state = new Row.KeyRow("k", 12, 900, 1, null);

    // when
    byte[] bytes = AvroBytes.write(JournalMapper.snapshot(state, 1, 3, rows));
    JournalRecord read = JournalMapper.toEngine(AvroBytes.read(AdmissionEvent.class, bytes));

    // then
    assertThat(read)
        .isEqualTo(
            new JournalRecord.Snapshot("k", 12, 1, 900, AdmissionEngine.VERSION, 1, 3, rows));
  }

  @Test
  void shouldJournalARepeatedRevisionAsWhatItTells() {
    // given
    Event.EtaRevised revised = new Event.EtaRevised("k", "r", "a", 3, 500, null, INPUT, null);

    // when
    Event read = EventMapper.toEngine(EventMapper.toAvro(new Event.DecisionRepeated(revised)));

    // then
    assertThat(read)
        .isEqualTo(
            new Event.DecisionRepeated(
                new Event.LeaseQueued("k", "r", "a", 3, 500, null, INPUT, null)));
  }

  @Test
  void shouldNotTakeASnapshotForACommand() {
    assertThatThrownBy(() -> CommandMapper.fromJournal(new TakeSnapshot(0, 1, List.of())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Expected a command of the engine but found TakeSnapshot");
  }
}
