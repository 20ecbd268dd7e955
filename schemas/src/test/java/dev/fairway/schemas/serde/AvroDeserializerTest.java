package dev.fairway.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.TaskState;
import dev.fairway.schemas.TaskUpdate;
import dev.fairway.schemas.serde.UndecodableRecordException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificRecord;
import org.junit.jupiter.api.Test;

/** Reading what others wrote: older and newer versions, and everything that is no record at all. */
class AvroDeserializerTest {

  private static final String TOPIC = "fairway.tasks";
  private static final String SUBJECT = TOPIC + "-value";

  private final InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
  private final AvroDeserializer<TaskUpdate> deserializer =
      new AvroDeserializer<>(registry, TaskUpdate.class);
  private final byte[] good =
      new AvroSerializer<TaskUpdate>(registry).serialize(TOPIC, Samples.taskUpdate());

  private UndecodableRecordException failure(byte[] bytes) {
    return failure(deserializer, bytes);
  }

  private static UndecodableRecordException failure(AvroDeserializer<?> reader, byte[] bytes) {
    UndecodableRecordException failure =
        catchThrowableOfType(
            UndecodableRecordException.class, () -> reader.deserialize(TOPIC, bytes));
    assertThat(failure).isNotNull();
    assertThat(failure).hasMessageStartingWith("Topic " + TOPIC + ": Expected");
    return failure;
  }

  private byte[] written(Schema schema, Consumer<BinaryEncoder> body) {
    int id = registry.register(SUBJECT, schema);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write(0);
    bytes.writeBytes(ByteBuffer.allocate(4).putInt(id).array());
    BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
    body.accept(encoder);
    return bytes.toByteArray();
  }

  private byte[] written(GenericRecord record) {
    return written(
        record.getSchema(),
        encoder -> {
          try {
            new GenericDatumWriter<GenericRecord>(record.getSchema()).write(record, encoder);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  private static Schema taskUpdate(String... fields) {
    return new Schema.Parser()
        .parse(
            """
            {"type":"record","namespace":"dev.fairway.schemas","name":"TaskUpdate","fields":[%s]}
            """
                .formatted(String.join(",", fields)));
  }

  private static final String TASK_ID = "{\"name\":\"task_id\",\"type\":\"string\"}";
  private static final String STATE =
      "{\"name\":\"state\",\"type\":{\"type\":\"enum\",\"name\":\"TaskState\",\"symbols\":%s}}";
  private static final String STATES =
      STATE.formatted("[\"STARTED\",\"BLOCKED\",\"UNBLOCKED\",\"DONE\",\"MERGED\",\"FAILED\"]");

  @Test
  void shouldReadAnOlderWriterWithDefaults() {
    // given
    Schema old = taskUpdate(STATES, TASK_ID);
    GenericRecord record = new GenericData.Record(old);
    record.put("task_id", "T9");
    record.put("state", new GenericData.EnumSymbol(old.getField("state").schema(), "DONE"));

    // when
    TaskUpdate read = deserializer.deserialize(TOPIC, written(record));

    // then
    assertThat(read.getTaskId()).isEqualTo("T9");
    assertThat(read.getBlockedOn()).isEmpty();
    assertThat(read.getRole()).isNull();
  }

  @Test
  void shouldReadANewerWriterWithoutItsNewFields() {
    // given
    Schema newer =
        taskUpdate(
            TASK_ID,
            "{\"name\":\"colour\",\"type\":{\"type\":\"array\",\"items\":\"string\"},\"default\":[]}",
            STATES);
    GenericRecord record = new GenericData.Record(newer);
    record.put("task_id", "T9");
    record.put("colour", List.of("red", "blue"));
    record.put("state", new GenericData.EnumSymbol(newer.getField("state").schema(), "DONE"));

    // when / then
    assertThat(deserializer.deserialize(TOPIC, written(record)).getTaskId()).isEqualTo("T9");
  }

  @Test
  void shouldRefuseEveryPrefixOfARecord() {
    for (int length = 0; length < good.length; length++) {
      assertThat(failure(Arrays.copyOf(good, length)).reason())
          .as("%d of %d bytes", length, good.length)
          .isEqualTo(Reason.TRUNCATED);
    }
  }

  @Test
  void shouldRefuseTrailingBytes() {
    assertThat(failure(Arrays.copyOf(good, good.length + 1)).reason())
        .isEqualTo(Reason.TRAILING_BYTES);
  }

  @Test
  void shouldRefuseAnotherMagicByte() {
    byte[] bytes = good.clone();
    bytes[0] = '{';
    assertThat(failure(bytes))
        .hasMessageContaining("0x7b")
        .extracting(UndecodableRecordException::reason)
        .isEqualTo(Reason.MAGIC_BYTE);
  }

  @Test
  void shouldRefuseAnUnknownSchemaId() {
    byte[] bytes = good.clone();
    bytes[4] = 99;
    assertThat(failure(bytes).reason()).isEqualTo(Reason.UNKNOWN_SCHEMA);
    bytes[1] = -1;
    assertThat(failure(bytes).reason()).isEqualTo(Reason.UNKNOWN_SCHEMA);
  }

  @Test
  void shouldRefuseAnotherRecord() {
    byte[] other =
        new AvroSerializer<LeaseRequest>(registry).serialize(TOPIC, Samples.leaseRequest());
    assertThat(failure(other))
        .hasMessageContaining("dev.fairway.schemas.TaskUpdate")
        .hasMessageContaining("dev.fairway.schemas.LeaseRequest")
        .extracting(UndecodableRecordException::reason)
        .isEqualTo(Reason.INCOMPATIBLE_SCHEMA);
  }

  @Test
  void shouldRefuseARecordOfTheSameShortName() {
    Schema foreign =
        new Schema.Parser()
            .parse(
                TaskUpdate.getClassSchema()
                    .toString()
                    .replace("\"namespace\":\"dev.fairway.schemas\"", "\"namespace\":\"other\""));
    GenericRecord record = new GenericData.Record(foreign);
    record.put("task_id", "T1");
    record.put("state", new GenericData.EnumSymbol(foreign.getField("state").schema(), "DONE"));
    record.put("blocked_on", List.of());
    assertThat(failure(written(record)).reason()).isEqualTo(Reason.INCOMPATIBLE_SCHEMA);
  }

  @Test
  void shouldRefuseASchemaThatIsNoRecord() {
    byte[] bytes = written(Schema.create(Schema.Type.STRING), encoder -> {});
    assertThat(failure(bytes).reason()).isEqualTo(Reason.INCOMPATIBLE_SCHEMA);
    assertThat(failure(new AvroDeserializer<>(registry, null), bytes).reason())
        .isEqualTo(Reason.INCOMPATIBLE_SCHEMA);
  }

  @Test
  void shouldRefuseASchemaThatTheReaderCannotResolve() {
    Schema missing = taskUpdate(TASK_ID);
    GenericRecord record = new GenericData.Record(missing);
    record.put("task_id", "T1");
    assertThat(failure(written(record)))
        .hasMessageContaining("state")
        .extracting(UndecodableRecordException::reason)
        .isEqualTo(Reason.INCOMPATIBLE_SCHEMA);
  }

  @Test
  void shouldReadANewerWritersSymbolsWhereItKnowsThem() {
    // given
    Schema newer = taskUpdate(TASK_ID, STATE.formatted("[\"PAUSED\",\"DONE\"]"));
    GenericRecord record = new GenericData.Record(newer);
    record.put("task_id", "T1");
    Schema states = newer.getField("state").schema();

    // when
    record.put("state", new GenericData.EnumSymbol(states, "DONE"));
    byte[] known = written(record);
    record.put("state", new GenericData.EnumSymbol(states, "PAUSED"));
    byte[] unknown = written(record);

    // then
    assertThat(deserializer.deserialize(TOPIC, known).getState()).isEqualTo(TaskState.DONE);
    assertThat(failure(unknown))
        .hasMessageContaining("PAUSED")
        .hasMessageContaining("Upgrade the reader")
        .extracting(UndecodableRecordException::reason)
        .isEqualTo(Reason.INCOMPATIBLE_SCHEMA);
  }

  @Test
  void shouldRefuseBytesThatContradictTheSchema() {
    // given: branch 7 of a union of two, symbol 99 of an enum of six, a length below zero
    byte[] badBranch = HexFormat.of().parseHex("00" + "00000001" + "045431" + "0e");
    byte[] badSymbol = HexFormat.of().parseHex("00" + "00000001" + "045431" + "000000" + "c601");
    byte[] badLength = HexFormat.of().parseHex("00" + "00000001" + "03");
    byte[] badVarint = HexFormat.of().parseHex("00" + "00000001" + "ff".repeat(12));

    // then
    for (byte[] bytes : List.of(badBranch, badSymbol, badLength, badVarint)) {
      assertThat(failure(bytes).reason()).isEqualTo(Reason.MALFORMED);
    }
  }

  @Test
  void shouldNotMakeRoomForClaimedLengths() {
    // given: a string, then an array, of 2^31 - 9 (the most that Avro takes), and of 2^62
    String hugeInt = "eeffffff0f";
    String hugeLong = "80808080808080808001";
    String head = "00" + "00000001";
    String beforeArray = head + "045431" + "000000" + "02";

    // when / then
    assertThat(failure(HexFormat.of().parseHex(head + hugeInt)).reason())
        .isEqualTo(Reason.TRUNCATED);
    assertThat(failure(HexFormat.of().parseHex(head + hugeLong)).reason())
        .isEqualTo(Reason.MALFORMED);
    assertThat(failure(HexFormat.of().parseHex(beforeArray + hugeInt)).reason())
        .isEqualTo(Reason.MALFORMED);
    assertThat(failure(HexFormat.of().parseHex(beforeArray + hugeLong)).reason())
        .isEqualTo(Reason.MALFORMED);
  }

  @Test
  void shouldBoundItemsThatTakeNoBytes() {
    // given: a writer whose array items are empty records, in many blocks of the largest free count
    Schema schema =
        taskUpdate(
            TASK_ID,
            STATES,
            "{\"name\":\"nothing\",\"type\":{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"N\",\"fields\":[]}}}");
    byte[] bytes =
        written(
            schema,
            encoder -> {
              try {
                encoder.writeString("T1");
                encoder.writeEnum(0);
                for (int block = 0; block < 100; block++) {
                  encoder.writeLong(1_000);
                }
                encoder.writeLong(0);
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });

    // then
    assertThat(failure(bytes).reason()).isEqualTo(Reason.MALFORMED);
  }

  @Test
  void shouldRefuseMoreBytesThanItsLimit() {
    assertThat(failure(new byte[AvroSerdeConfig.MAX_BYTES_DEFAULT + 1]).reason())
        .isEqualTo(Reason.TOO_LARGE);
    assertThat(
            failure(new AvroDeserializer<>(registry, TaskUpdate.class, good.length - 1), good)
                .reason())
        .isEqualTo(Reason.TOO_LARGE);
    assertThat(
            new AvroDeserializer<>(registry, TaskUpdate.class, good.length)
                .deserialize(TOPIC, good))
        .isEqualTo(Samples.taskUpdate());
  }

  @Test
  void shouldTellAnUnreachableRegistryFromABadRecord() {
    SchemaRegistry silent =
        new SchemaRegistry() {
          @Override
          public int register(String subject, Schema schema) {
            throw new AssertionError();
          }

          @Override
          public int idOf(String subject, Schema schema) {
            throw new AssertionError();
          }

          @Override
          public Schema byId(int id) {
            throw new SchemaRegistryException(
                SchemaRegistryException.Kind.UNAVAILABLE, "Expected an answer", null);
          }
        };
    UndecodableRecordException failure =
        failure(new AvroDeserializer<>(silent, TaskUpdate.class), good);
    assertThat(failure.reason()).isEqualTo(Reason.REGISTRY_UNAVAILABLE);
    assertThat(failure.isRetriable()).isTrue();
    assertThat(failure(new byte[0]).isRetriable()).isFalse();
  }

  @Test
  void shouldReadTheProtocolsRecordsByNameWhereNoClassIsGiven() {
    AvroDeserializer<SpecificRecord> any = new AvroDeserializer<>(registry, null);
    assertThat(any.deserialize(TOPIC, good)).isInstanceOf(TaskUpdate.class);
    byte[] request =
        new AvroSerializer<LeaseRequest>(registry).serialize("t", Samples.leaseRequest());
    assertThat(any.deserialize("t", request)).isInstanceOf(LeaseRequest.class);
  }

  @Test
  void shouldThrowNothingElseOnRandomBytes() {
    // given
    registry.register("q", OwnSchemas.schemaOf(Quota.class));
    AvroDeserializer<Quota> quotas = new AvroDeserializer<>(registry, Quota.class);
    long seed = 20_260_101L;
    Random random = new Random(seed);
    int refused = 0;

    // when
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[5 + random.nextInt(200)];
      random.nextBytes(bytes);
      Arrays.fill(bytes, 0, 4, (byte) 0);
      bytes[4] = 2;
      try {
        quotas.deserialize(TOPIC, bytes);
      } catch (UndecodableRecordException e) {
        refused++;
      }
    }

    // then
    assertThat(refused).as("seed %d", seed).isGreaterThan(19_000);
  }
}
