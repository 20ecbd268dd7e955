package dev.fairway.admission;

import dev.fairway.admission.topology.TopologySettings;
import dev.fairway.schemas.service.ServiceSettings;
import org.apache.kafka.common.config.ConfigDef;

/** The type, default, range and meaning of each setting of {@link AdmissionConfig}. */
final class AdmissionSettings {

  static final ConfigDef DEFINITION =
      ServiceSettings.definition()
          .define(
              AdmissionConfig.APPLICATION_ID,
              ConfigDef.Type.STRING,
              null,
              ConfigDef.Importance.MEDIUM,
              "Kafka Streams application: instances with the same one share the partitions. It names"
                  + " the consumer group and the changelog topic. Null: the topic prefix and"
                  + " 'admission'.")
          .define(
              AdmissionConfig.STATE_DIR,
              ConfigDef.Type.STRING,
              "fairway-data/admission",
              new ConfigDef.NonEmptyString(),
              ConfigDef.Importance.MEDIUM,
              "Folder of this instance's own files. Two instances on one machine need two.")
          .define(
              AdmissionConfig.STREAM_THREADS,
              ConfigDef.Type.INT,
              1,
              ConfigDef.Range.between(1, 256),
              ConfigDef.Importance.MEDIUM,
              "Threads that decide; they share the partitions of this instance.")
          .define(
              AdmissionConfig.HTTP_HOST,
              ConfigDef.Type.STRING,
              "127.0.0.1",
              new ConfigDef.NonEmptyString(),
              ConfigDef.Importance.MEDIUM,
              "Address of health, metrics and status. They have no login: keep it on loopback or in"
                  + " a network that you trust.")
          .define(
              AdmissionConfig.HTTP_PORT,
              ConfigDef.Type.INT,
              8090,
              ConfigDef.Range.between(0, 65_535),
              ConfigDef.Importance.MEDIUM,
              "Port of health, metrics and status. 0: any free one.")
          .define(
              AdmissionConfig.START_TIMEOUT_MS,
              ConfigDef.Type.LONG,
              60_000L,
              ConfigDef.Range.between(0, 3_600_000),
              ConfigDef.Importance.LOW,
              "How long the start waits for brokers, topics and schema registry, in milliseconds.")
          .define(
              AdmissionConfig.SNAPSHOT_INTERVAL_MS,
              ConfigDef.Type.LONG,
              TopologySettings.SNAPSHOT_INTERVAL_MS_DEFAULT,
              ConfigDef.Range.between(1_000, 86_400_000),
              ConfigDef.Importance.LOW,
              "How often the state of every key is written to the journal, in milliseconds.")
          .define(
              AdmissionConfig.RECORD_BYTES_MAX,
              ConfigDef.Type.INT,
              TopologySettings.RECORD_BYTES_MAX_DEFAULT,
              ConfigDef.Range.between(1_024, 900_000),
              ConfigDef.Importance.LOW,
              "Most bytes of an input record's value; a longer one is dead-lettered. A journal record"
                  + " can hold it three times.")
          .define(
              AdmissionConfig.DEAD_LETTER_BYTES_MAX,
              ConfigDef.Type.INT,
              TopologySettings.DEAD_LETTER_BYTES_MAX_DEFAULT,
              ConfigDef.Range.between(1_024, 3_000_000),
              ConfigDef.Importance.LOW,
              "Most bytes of a value that are dead-lettered whole; of a longer one the first 65536."
                  + " Keep it below max.message.bytes of the dead-letters topic.")
          .define(
              AdmissionConfig.RESTARTS_MAX,
              ConfigDef.Type.INT,
              50,
              ConfigDef.Range.between(0, 100_000),
              ConfigDef.Importance.LOW,
              "Most stream threads that are replaced within ten minutes after a failure; beyond, the"
                  + " instance stops.")
          .define(
              AdmissionConfig.METRICS_QUOTAS_MAX,
              ConfigDef.Type.INT,
              500,
              ConfigDef.Range.between(1, 100_000),
              ConfigDef.Importance.LOW,
              "Most quotas with metrics of their own; the rest share the label 'other'.");

  private AdmissionSettings() {}
}
