package dev.fairway.dispatcher;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;

/**
 * The Kafka clients of one run, so that whatever was opened is closed, also if the next one fails.
 */
final class Clients implements AutoCloseable {

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  private final Admin admin;
  private final NonBlockingProducer producer;
  private final Consumer<byte[], byte[]> agents;
  private final Consumer<byte[], byte[]> journal;

  private Clients(
      Admin admin,
      NonBlockingProducer producer,
      Consumer<byte[], byte[]> agents,
      Consumer<byte[], byte[]> journal) {
    this.admin = admin;
    this.producer = producer;
    this.agents = agents;
    this.journal = journal;
  }

  static Clients open(DispatcherConfig config, Inbox inbox) {
    Admin admin = null;
    NonBlockingProducer producer = null;
    Consumer<byte[], byte[]> agents = null;
    try {
      Map<String, Object> settings = new HashMap<>();
      settings.put(AdminClientConfig.CLIENT_ID_CONFIG, "fairway-dispatcher");
      settings.putAll(config.clientSettings());
      admin = Admin.create(settings);
      producer = NonBlockingProducer.open(config, inbox);
      agents = AgentsReader.newConsumer(config);
      return new Clients(admin, producer, agents, JournalReader.newConsumer(config));
    } catch (RuntimeException e) {
      if (agents != null) {
        agents.close();
      }
      if (producer != null) {
        producer.close();
      }
      if (admin != null) {
        admin.close(Duration.ZERO);
      }
      throw e;
    }
  }

  Admin admin() {
    return admin;
  }

  NonBlockingProducer producer() {
    return producer;
  }

  Consumer<byte[], byte[]> agents() {
    return agents;
  }

  Consumer<byte[], byte[]> journal() {
    return journal;
  }

  /** Closes the journal first, because that commits what is finished. */
  @Override
  public void close() {
    try {
      journal.close(CloseOptions.timeout(CLOSE_TIMEOUT));
    } finally {
      try {
        agents.close(CloseOptions.timeout(CLOSE_TIMEOUT));
      } finally {
        producer.close();
        admin.close(Duration.ZERO);
      }
    }
  }
}
