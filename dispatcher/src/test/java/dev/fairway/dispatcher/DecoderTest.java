package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.dispatcher.Decoder.NotYetException;
import dev.fairway.schemas.AdmissionEvent;
import dev.fairway.schemas.DeadLetterReason;
import dev.fairway.schemas.TaskState;
import dev.fairway.schemas.TaskUpdate;
import dev.fairway.schemas.serde.UndecodableRecordException;
import dev.fairway.schemas.serde.UndecodableRecordException.Reason;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.EOFException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.Deserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DecoderTest {

  private static final long APPENDED_MS = 1_000;
  private static final long PATIENCE_MS = 500;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final DispatcherMetrics metrics = new DispatcherMetrics(meters);
  private final List<DeadLetterReason> reasons = new ArrayList<>();

  @Test
  void shouldGiveWhatTheTopicShouldHold() throws NotYetException {
    // given
    AdmissionEvent event = Events.ticked();

    // when
    AdmissionEvent decoded = decoder((topic, data) -> event).decode(record(), APPENDED_MS);

    // then
    assertThat(decoded).isSameAs(event);
    assertThat(skipped()).isZero();
  }

  @Test
  void shouldGiveNullForATombstoneWithoutCountingIt() throws NotYetException {
    // when
    AdmissionEvent decoded = decoder((topic, data) -> null).decode(record(), APPENDED_MS);

    // then
    assertThat(decoded).isNull();
    assertThat(skipped()).isZero();
  }

  @Test
  void shouldSkipARecordThatBelongsElsewhere() throws NotYetException {
    // given
    TaskUpdate other =
        TaskUpdate.newBuilder().setTaskId("t").setQuota("q").setState(TaskState.DONE).build();

    // when
    AdmissionEvent decoded = decoder((topic, data) -> other).decode(record(), APPENDED_MS);

    // then
    assertThat(decoded).isNull();
    assertThat(skipped()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(names = {"MAGIC_BYTE", "TRUNCATED", "TRAILING_BYTES", "MALFORMED", "TOO_LARGE"})
  void shouldSkipWhatCanNeverBeRead(Reason reason) throws NotYetException {
    // when
    AdmissionEvent decoded = failing(undecodable(reason)).decode(record(), APPENDED_MS);

    // then
    assertThat(decoded).isNull();
    assertThat(skipped()).isEqualTo(1);
    assertThat(reasons).extracting(DeadLetterReason::name).containsExactly(reason.name());
  }

  @ParameterizedTest
  @EnumSource(names = {"UNKNOWN_SCHEMA", "INCOMPATIBLE_SCHEMA"})
  void shouldWaitForASchemaAWhileAndThenSkip(Reason reason) throws NotYetException {
    // given
    Decoder<AdmissionEvent> decoder = failing(undecodable(reason));

    // when / then
    assertThatThrownBy(() -> decoder.decode(record(), APPENDED_MS + PATIENCE_MS - 1))
        .isInstanceOf(NotYetException.class);
    assertThat(skipped()).isZero();
    assertThat(decoder.decode(record(), APPENDED_MS + PATIENCE_MS)).isNull();
    assertThat(skipped()).isEqualTo(1);
  }

  @Test
  void shouldWaitForTheRegistryHoweverLongItTakes() {
    // given
    Decoder<AdmissionEvent> decoder = failing(undecodable(Reason.REGISTRY_UNAVAILABLE));

    // when / then
    assertThatThrownBy(() -> decoder.decode(record(), Long.MAX_VALUE / 2))
        .isInstanceOf(NotYetException.class)
        .hasMessage("why");
  }

  @Test
  void shouldTellAnotherDeserializersTroubleByItsCause() throws NotYetException {
    // given
    Decoder<AdmissionEvent> unreachable =
        failing(new SerializationException("x", new ConnectException("refused")));
    Decoder<AdmissionEvent> truncated =
        failing(new SerializationException("x", new EOFException()));

    // when / then
    assertThatThrownBy(() -> unreachable.decode(record(), APPENDED_MS))
        .isInstanceOf(NotYetException.class);
    assertThat(truncated.decode(record(), APPENDED_MS)).isNull();
    assertThat(reasons).containsExactly(DeadLetterReason.MALFORMED);
  }

  private Decoder<AdmissionEvent> failing(SerializationException error) {
    return decoder(
        (topic, data) -> {
          throw error;
        });
  }

  private Decoder<AdmissionEvent> decoder(Deserializer<Object> deserializer) {
    return new Decoder<>(
        AdmissionEvent.class,
        deserializer,
        PATIENCE_MS,
        metrics,
        (record, reason, detail) -> reasons.add(reason));
  }

  private double skipped() {
    return meters.get("fairway.dispatcher.undecodable").counter().count();
  }

  private static UndecodableRecordException undecodable(Reason reason) {
    return new UndecodableRecordException(reason, "why", null);
  }

  private static ConsumerRecord<byte[], byte[]> record() {
    return new ConsumerRecord<>(
        "fairway.journal",
        0,
        5,
        APPENDED_MS,
        TimestampType.LOG_APPEND_TIME,
        1,
        1,
        new byte[1],
        new byte[1],
        new RecordHeaders(),
        Optional.empty());
  }
}
