package dev.fairway.admission;

import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;

/** Kafka Streams settings of a coordinator, each with the reason why it is not the default. */
final class StreamsProperties {
  /** What {@code max.message.bytes} of the journal has to allow. */
  static final int JOURNAL_BYTES_MAX = 4 * 1024 * 1024;

  private StreamsProperties() {}

  static Properties of(AdmissionConfig config) {
    Properties p = new Properties();
    p.put(StreamsConfig.APPLICATION_ID_CONFIG, config.applicationId());
    p.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, config.bootstrapServers());
    p.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    p.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, config.streamThreads());
    // The default is under /tmp, and two instances would share it.
    p.put(StreamsConfig.STATE_DIR_CONFIG, config.stateDir().toString());
    // Names are explicit: nothing may be renamed by a change of the topology.
    p.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, true);
    // There is no global store; unset, Streams warns of a default that will change.
    p.put(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_GLOBAL_ENABLED_CONFIG, true);
    p.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
    // Decisions are committed when the polled batch is used up; this is for all the rest.
    p.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 100);
    p.put(StreamsConfig.POLL_MS_CONFIG, 100);
    p.put(StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG, 10_000);
    p.put(StreamsConfig.consumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), 5_000);
    // How long a crash stalls its partitions, and the readers of its open transaction.
    p.put(StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), 6_000);
    p.put(StreamsConfig.consumerPrefix(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG), 2_000);
    p.put(StreamsConfig.producerPrefix(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG), 10_000);
    // Streams waits 100 ms for a fuller batch, which an agent would wait for too.
    p.put(StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG), 0);
    // A transaction that starts right after the last waits for its markers in these steps.
    p.put(StreamsConfig.producerPrefix(ProducerConfig.RETRY_BACKOFF_MS_CONFIG), 5);
    // One command can grant or reject hundreds of requests, told in one record.
    p.put(StreamsConfig.producerPrefix(ProducerConfig.MAX_REQUEST_SIZE_CONFIG), JOURNAL_BYTES_MAX);
    p.put(StreamsConfig.producerPrefix(ProducerConfig.COMPRESSION_TYPE_CONFIG), "lz4");
    p.putAll(config.kafka());
    return p;
  }
}
