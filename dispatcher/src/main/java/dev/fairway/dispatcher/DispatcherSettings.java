package dev.fairway.dispatcher;

import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.service.ServiceSettings;
import org.apache.kafka.common.config.ConfigDef;

/** The type, default, range and meaning of each setting of {@link DispatcherConfig}. */
final class DispatcherSettings {

  static final ConfigDef DEFINITION =
      ServiceSettings.definition()
          .define(
              DispatcherConfig.GROUP_ID,
              ConfigDef.Type.STRING,
              null,
              ConfigDef.Importance.MEDIUM,
              "Consumer group of the journal. Null: the topic prefix and 'dispatcher'. Offsets of the group with '-agents' behind it mark which bad registrations were dead-lettered.")
          .define(
              DispatcherConfig.OPEN_MODE,
              ConfigDef.Type.BOOLEAN,
              null,
              ConfigDef.Importance.HIGH,
              "Whether an agent that is not registered is registered by its first request. Null: only if"
                  + " every bootstrap server is on loopback.")
          .define(
              DispatcherConfig.PARKED_REPLIES_MAX,
              ConfigDef.Type.INT,
              50_000,
              ConfigDef.Range.atLeast(1),
              ConfigDef.Importance.LOW,
              "Most parked replies. Beyond it the expired go, then the oldest.")
          .define(
              DispatcherConfig.PARKED_REPLIES_PER_AGENT_MAX,
              ConfigDef.Type.INT,
              1_000,
              ConfigDef.Range.atLeast(1),
              ConfigDef.Importance.LOW,
              "Most parked replies of one agent. Beyond it its oldest goes.")
          .define(
              DispatcherConfig.PARKED_BYTES_MAX,
              ConfigDef.Type.LONG,
              64L << 20,
              ConfigDef.Range.atLeast(1L << 20),
              ConfigDef.Importance.LOW,
              "Most bytes of parked replies, their overhead included.")
          .define(
              DispatcherConfig.PARKING_DEADLINE_MS,
              ConfigDef.Type.LONG,
              60_000L,
              ConfigDef.Range.between(1_000, 86_400_000),
              ConfigDef.Importance.MEDIUM,
              "How long a reply waits for a topic that does not take it, in milliseconds from when it was read;"
                  + " a grant at least as long as its lease. A place in line is told at most this long after"
                  + " its append to the journal; a grant or a reject however late, within"
                  + " reply.retention.ms.")
          .define(
              DispatcherConfig.CLOCK_TOLERANCE_MS,
              ConfigDef.Type.LONG,
              1_000L,
              ConfigDef.Range.between(0, 3_600_000),
              ConfigDef.Importance.LOW,
              "How much longer than its lease a grant is parked, in milliseconds: how far this clock may be"
                  + " ahead of the brokers'.")
          .define(
              DispatcherConfig.IN_FLIGHT_REPLIES_MAX,
              ConfigDef.Type.INT,
              20_000,
              ConfigDef.Range.atLeast(1),
              ConfigDef.Importance.LOW,
              "Most replies sent and not acknowledged. At it, no more of the journal is read.")
          .define(
              DispatcherConfig.REPLY_RETENTION_MS,
              ConfigDef.Type.LONG,
              3_600_000L,
              ConfigDef.Range.atLeast(60_000),
              ConfigDef.Importance.LOW,
              "Retention of the reply topics that are created, in milliseconds.")
          .define(
              DispatcherConfig.REPLY_REPLICATION_FACTOR,
              ConfigDef.Type.SHORT,
              (short) -1,
              ConfigDef.Range.atLeast(-1),
              ConfigDef.Importance.MEDIUM,
              "Replication factor of the reply topics that are created. -1: the brokers' default.")
          .define(
              DispatcherConfig.AGENTS_MAX,
              ConfigDef.Type.INT,
              100_000,
              ConfigDef.Range.atLeast(1),
              ConfigDef.Importance.LOW,
              "Most registered agents. Beyond it an agent's decisions are dropped.")
          .define(
              DispatcherConfig.AGENT_IDLE_MS,
              ConfigDef.Type.LONG,
              86_400_000L,
              ConfigDef.Range.atLeast(60_000),
              ConfigDef.Importance.LOW,
              "In open mode, how long an agent that registered itself may be silent before it is retired, in"
                  + " milliseconds.")
          .define(
              DispatcherConfig.AGENT_RETIRE_GRACE_MS,
              ConfigDef.Type.LONG,
              600_000L,
              ConfigDef.Range.atLeast(0),
              ConfigDef.Importance.LOW,
              "How long the reply topic of a retired agent is kept, in milliseconds.")
          .define(
              DispatcherConfig.COMMIT_INTERVAL_MS,
              ConfigDef.Type.LONG,
              200L,
              ConfigDef.Range.between(1, 60_000),
              ConfigDef.Importance.LOW,
              "How often offsets are committed, in milliseconds.")
          .define(
              DispatcherConfig.HTTP_HOST,
              ConfigDef.Type.STRING,
              "127.0.0.1",
              ConfigDef.Importance.LOW,
              "Address that health and metrics are served on. 0.0.0.0: all.")
          .define(
              DispatcherConfig.HTTP_PORT,
              ConfigDef.Type.INT,
              8091,
              ConfigDef.Range.between(0, 65_535),
              ConfigDef.Importance.MEDIUM,
              "Port that health and metrics are served on. 0: any free one.")
          .define(
              DispatcherConfig.VALUE_SERIALIZER,
              ConfigDef.Type.CLASS,
              AvroSerializer.class,
              ConfigDef.Importance.LOW,
              "Class that writes values; Confluent's KafkaAvroSerializer fits too.")
          .define(
              DispatcherConfig.VALUE_DESERIALIZER,
              ConfigDef.Type.CLASS,
              AvroDeserializer.class,
              ConfigDef.Importance.LOW,
              "Class that reads values; Confluent's KafkaAvroDeserializer fits too.");

  private DispatcherSettings() {}
}
