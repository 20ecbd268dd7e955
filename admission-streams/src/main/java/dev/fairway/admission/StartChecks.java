package dev.fairway.admission;

import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.OwnSchemas;
import dev.fairway.schemas.serde.SchemaRegistry;
import dev.fairway.schemas.serde.SchemaRegistryException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What has to be there before a coordinator can decide. Waits for it, and creates nothing. */
final class StartChecks {
  private static final Logger LOG = LoggerFactory.getLogger(StartChecks.class);
  private static final long PAUSE_MS = 500;
  private static final long REQUEST_MS = 10_000;

  private final Admin admin;
  private final Topics topics;
  private final String bootstrapServers;
  private final long deadlineNanos;

  StartChecks(Admin admin, Topics topics, String bootstrapServers, long timeoutMs) {
    this.admin = admin;
    this.topics = topics;
    this.bootstrapServers = bootstrapServers;
    this.deadlineNanos = System.nanoTime() + timeoutMs * 1_000_000;
  }

  /**
   * Waits until the topics are there.
   *
   * @return how many partitions the topics of keys have
   * @throws StartException if they are not there in time, or differ in number of partitions
   */
  int awaitTopics() {
    List<String> byKey =
        List.of(
            topics.quotas(),
            topics.requests(),
            topics.settlements(),
            topics.tasks(),
            topics.journal());
    Set<String> wanted = new TreeSet<>(byKey);
    wanted.add(topics.deadLetters());
    Map<String, Integer> found = new TreeMap<>();
    boolean told = false;
    while (true) {
      String trouble = describe(wanted, found);
      Set<String> missing = new TreeSet<>(wanted);
      missing.removeAll(found.keySet());
      if (missing.isEmpty()) {
        return samePartitions(byKey, found);
      }
      String message =
          trouble == null
              ? "Expected topics %s on %s, but they do not exist. Create them with 'fairway up --bootstrap', or your own tools (docs/protocol.md has their settings)."
                  .formatted(missing, bootstrapServers)
              : trouble;
      if (System.nanoTime() - deadlineNanos >= 0) {
        throw new StartException(message, null);
      }
      if (!told) {
        told = true;
        LOG.warn("{} Waiting.", message);
      }
      pause();
    }
  }

  /**
   * Waits until the registry has the schemas of the protocol, so that neither reading nor writing
   * what this version knows asks it again.
   *
   * @throws StartException if it refuses one, or does not answer in time
   */
  void registerSchemas(SchemaRegistry registry) {
    boolean told = false;
    while (true) {
      try {
        OwnSchemas.registerAll(registry, topics);
        return;
      } catch (SchemaRegistryException e) {
        if (e.kind() != SchemaRegistryException.Kind.UNAVAILABLE
            || System.nanoTime() - deadlineNanos >= 0) {
          throw new StartException(e.getMessage(), e);
        }
        if (!told) {
          told = true;
          LOG.warn("{} Waiting.", e.getMessage());
        }
        pause();
      }
    }
  }

  /** Says which settings of brokers and topics cost latency or will refuse a record. */
  void warn() {
    try {
      warnOfBroker();
      warnOfTopics();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.info("Could not read the settings of brokers and topics to check them: {}", e.toString());
    }
  }

  private void warnOfBroker() throws InterruptedException, ExecutionException, TimeoutException {
    Node node = get(admin.describeCluster().nodes()).iterator().next();
    ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, node.idString());
    Config config = get(admin.describeConfigs(List.of(broker)).all()).get(broker);
    TransactionSettings.warnings(node.idString(), config).forEach(LOG::warn);
  }

  private void warnOfTopics() throws InterruptedException, ExecutionException, TimeoutException {
    Map<String, ConfigResource> resources = new HashMap<>();
    for (String topic :
        List.of(
            topics.quotas(),
            topics.requests(),
            topics.settlements(),
            topics.tasks(),
            topics.journal())) {
      resources.put(topic, new ConfigResource(ConfigResource.Type.TOPIC, topic));
    }
    Map<ConfigResource, Config> configs = get(admin.describeConfigs(resources.values()).all());
    resources.forEach(
        (topic, resource) -> {
          ConfigEntry time = configs.get(resource).get("message.timestamp.type");
          if (!topic.equals(topics.journal())
              && time != null
              && !"LogAppendTime".equals(time.value())) {
            LOG.warn(
                "Expected message.timestamp.type=LogAppendTime on topic {}, but found {}: a record's age is counted from when it is read, not from when it was appended",
                topic,
                time.value());
          }
        });
    Long bytes = number(configs.get(resources.get(topics.journal())).get("max.message.bytes"));
    if (bytes != null && bytes < StreamsProperties.JOURNAL_BYTES_MAX) {
      LOG.warn(
          "Expected max.message.bytes of {} or more on topic {}, but found {}: a command that grants many requests at once could not be written",
          StreamsProperties.JOURNAL_BYTES_MAX,
          topics.journal(),
          bytes);
    }
  }

  /** Fills in what exists; says what is wrong beside that, or null. */
  private String describe(Set<String> wanted, Map<String, Integer> found) {
    Map<String, KafkaFuture<TopicDescription>> answers =
        admin.describeTopics(wanted).topicNameValues();
    String trouble = null;
    for (Map.Entry<String, KafkaFuture<TopicDescription>> answer : answers.entrySet()) {
      try {
        found.put(answer.getKey(), get(answer.getValue()).partitions().size());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new StartException("Interrupted while waiting for the topics.", e);
      } catch (TimeoutException e) {
        trouble = unreachable(e);
      } catch (ExecutionException e) {
        if (e.getCause() instanceof AuthenticationException
            || e.getCause() instanceof AuthorizationException) {
          throw new StartException(
              "Expected to be allowed to describe topic %s on %s, but: %s. Check the kafka.* security settings."
                  .formatted(answer.getKey(), bootstrapServers, e.getCause().getMessage()),
              e);
        }
        if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
          if (!(e.getCause() instanceof RetriableException)) {
            throw new StartException(unreachable(e.getCause()), e);
          }
          trouble = unreachable(e.getCause());
        }
      }
    }
    return trouble;
  }

  private String unreachable(Throwable cause) {
    return "Expected Kafka on %s to describe topics, but: %s. Check %s, and that the brokers are up."
        .formatted(bootstrapServers, cause, AdmissionConfig.BOOTSTRAP_SERVERS);
  }

  private static int samePartitions(List<String> byKey, Map<String, Integer> found) {
    Map<String, Integer> counts = new TreeMap<>(found);
    counts.keySet().retainAll(byKey);
    if (new TreeSet<>(counts.values()).size() > 1) {
      throw new StartException(
          "Expected the same number of partitions in all topics of keys, but found %s. Create them anew: to add partitions would give keys a new owner."
              .formatted(counts),
          null);
    }
    return counts.values().iterator().next();
  }

  private static Long number(ConfigEntry entry) {
    try {
      return entry == null || entry.value() == null ? null : Long.valueOf(entry.value());
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private static <T> T get(KafkaFuture<T> future)
      throws InterruptedException, ExecutionException, TimeoutException {
    return future.get(REQUEST_MS, TimeUnit.MILLISECONDS);
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartException("Interrupted while waiting for Kafka and the registry.", e);
    }
  }
}
