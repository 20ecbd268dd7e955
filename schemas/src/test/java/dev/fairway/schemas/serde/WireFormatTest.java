package dev.fairway.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.TaskState;
import dev.fairway.schemas.TaskUpdate;
import java.util.HexFormat;
import org.apache.avro.Schema;
import org.apache.kafka.common.errors.SerializationException;
import org.junit.jupiter.api.Test;

/** The bytes on the wire, against vectors written by hand from the format's description. */
class WireFormatTest {

  private static final String TOPIC = "fairway.tasks";

  /**
   * 0x00, schema id 0x00000102, then field by field: task_id "T1" (zigzag length 2 = 04), quota
   * null (branch 0 = 00), role null, agent_id null, state BLOCKED (index 1 = 02), blocked_on: a
   * block of 2 (04), "T2", "T3", end (00).
   */
  private static final String TASK_UPDATE_HEX =
      "00"
          + "00000102"
          + "04"
          + "5431"
          + "00"
          + "00"
          + "00"
          + "02"
          + "04"
          + "045432"
          + "045433"
          + "00";

  private static SchemaRegistry registryWithId(int id) {
    return new SchemaRegistry() {
      private Schema schema;

      @Override
      public int register(String subject, Schema newSchema) {
        assertThat(subject).isEqualTo(TOPIC + "-value");
        schema = newSchema;
        return id;
      }

      @Override
      public int idOf(String subject, Schema asked) {
        throw new AssertionError("auto.register.schemas is on");
      }

      @Override
      public Schema byId(int asked) {
        assertThat(asked).isEqualTo(id);
        return schema;
      }
    };
  }

  @Test
  void shouldWriteTheHandMadeVector() {
    byte[] bytes =
        new AvroSerializer<TaskUpdate>(registryWithId(0x102))
            .serialize(TOPIC, Samples.taskUpdate());
    assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(TASK_UPDATE_HEX);
  }

  @Test
  void shouldReadTheHandMadeVector() {
    // given
    SchemaRegistry registry = registryWithId(0x102);
    registry.register(TOPIC + "-value", TaskUpdate.getClassSchema());

    // when
    TaskUpdate read =
        new AvroDeserializer<>(registry, TaskUpdate.class)
            .deserialize(TOPIC, HexFormat.of().parseHex(TASK_UPDATE_HEX));

    // then
    assertThat(read).isEqualTo(Samples.taskUpdate());
    assertThat(read.getState()).isEqualTo(TaskState.BLOCKED);
  }

  @Test
  void shouldWriteIdsAsUnsignedBigEndian() {
    byte[] bytes =
        new AvroSerializer<TaskUpdate>(registryWithId(0x7f0a0b0c))
            .serialize(TOPIC, Samples.taskUpdate());
    assertThat(bytes).startsWith(0x00, 0x7f, 0x0a, 0x0b, 0x0c);
  }

  @Test
  void shouldReadBackWhatItWrote() {
    InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    LeaseRequest request = Samples.leaseRequest();
    byte[] bytes =
        new AvroSerializer<LeaseRequest>(registry).serialize("fairway.requests", request);
    assertThat(
            new AvroDeserializer<>(registry, LeaseRequest.class)
                .deserialize("fairway.requests", bytes))
        .isEqualTo(request);
  }

  @Test
  void shouldKeepTombstonesNull() {
    InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    assertThat(new AvroSerializer<TaskUpdate>(registry).serialize(TOPIC, null)).isNull();
    assertThat(new AvroDeserializer<>(registry, TaskUpdate.class).deserialize(TOPIC, null))
        .isNull();
  }

  @Test
  void shouldRegisterTheSchemaOfTheFileNotOfTheClass() {
    InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    new AvroSerializer<TaskUpdate>(registry).serialize(TOPIC, Samples.taskUpdate());
    assertThat(TaskUpdate.getClassSchema().toString()).contains("avro.java.string");
    assertThat(registry.byId(1).toString())
        .doesNotContain("avro.java")
        .contains("\"name\":\"blocked_on\"")
        .contains("at most 1000");
  }

  @Test
  void shouldOnlyLookUpWhereRegistrationIsOff() {
    // given
    InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    AvroSerializer<TaskUpdate> serializer = new AvroSerializer<>(registry, false);

    // then
    assertThatThrownBy(() -> serializer.serialize(TOPIC, Samples.taskUpdate()))
        .isInstanceOf(SchemaRegistryException.class)
        .hasMessageContaining("fairway.tasks-value");

    // when
    OwnSchemas.registerAll(registry, new dev.fairway.schemas.Topics());

    // then
    assertThat(serializer.serialize(TOPIC, Samples.taskUpdate())).startsWith(0, 0, 0, 0);
  }

  @Test
  void shouldSayWhichRecordIsIncomplete() {
    TaskUpdate incomplete = new TaskUpdate();
    assertThatThrownBy(
            () ->
                new AvroSerializer<TaskUpdate>(new InMemorySchemaRegistry())
                    .serialize(TOPIC, incomplete))
        .isInstanceOf(SerializationException.class)
        .hasMessageContaining("dev.fairway.schemas.TaskUpdate")
        .hasMessageContaining(TOPIC);
  }
}
