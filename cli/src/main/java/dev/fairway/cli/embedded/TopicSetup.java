package dev.fairway.cli.embedded;

import dev.fairway.admission.TransactionSettings;
import dev.fairway.schemas.Topics;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Creates the topics of the protocol where they are missing, and checks those that exist. May be
 * run any number of times, and by several at once. Never alters a topic: partitions of a live topic
 * must not change, and its configuration is its operator's.
 */
public final class TopicSetup {

  private static final int TIMEOUT_S = 30;
  private static final int VISIBLE_PAUSE_MS = 20;

  private final Admin admin;

  /** Works over this client, which stays its owner's. */
  public TopicSetup(Admin admin) {
    this.admin = admin;
  }

  /**
   * Makes sure that all topics are there and as the protocol needs them.
   *
   * @param layout for topics that are created; if some of the topics exist already, their number of
   *     partitions is used
   * @return names of the topics that were created, sorted
   * @throws TopicSetupException with everything that is wrong, or if the broker does not answer
   */
  public List<String> ensure(Topics topics, TopicLayout layout) {
    List<TopicSpec> specs = TopicSpec.all(topics);
    Map<String, TopicDescription> existing = describe(specs);
    check(specs, existing);
    List<String> created = create(specs, existing, layout);
    // Of all, whoever created them: another process may have been faster, with another layout.
    check(specs, describeWhenVisible(specs));
    return created;
  }

  /**
   * Broker settings that make each decision slower than it has to be: one line a broker and
   * setting, with what to write; empty if all is well or the brokers don't tell.
   */
  public List<String> warnings() {
    try {
      Collection<Node> nodes = admin.describeCluster().nodes().get(TIMEOUT_S, TimeUnit.SECONDS);
      List<ConfigResource> brokers =
          nodes.stream()
              .map(node -> new ConfigResource(ConfigResource.Type.BROKER, node.idString()))
              .toList();
      List<String> warnings = new ArrayList<>();
      new TreeMap<>(byName(await(admin.describeConfigs(brokers).all())))
          .forEach(
              (broker, config) -> warnings.addAll(TransactionSettings.warnings(broker, config)));
      return warnings;
    } catch (ExecutionException | TimeoutException e) {
      // Only advice is lost: whoever may not read the brokers' settings still runs.
      return List.of();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of();
    }
  }

  private Map<String, TopicDescription> describe(List<TopicSpec> specs) {
    List<String> names = specs.stream().map(TopicSpec::name).toList();
    Map<String, TopicDescription> existing = new HashMap<>();
    admin
        .describeTopics(names)
        .topicNameValues()
        .forEach(
            (name, description) -> {
              try {
                existing.put(name, await(description));
              } catch (ExecutionException e) {
                if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                  throw refused("describe topic " + name, e);
                }
              }
            });
    return existing;
  }

  /**
   * A topic that was just created is not yet known to every broker, and a reader that starts now
   * would not find it.
   */
  private Map<String, TopicDescription> describeWhenVisible(List<TopicSpec> specs) {
    long deadline_ns = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
    Map<String, TopicDescription> existing = describe(specs);
    while (!haveLeaders(specs, existing)) {
      if (System.nanoTime() > deadline_ns) {
        throw new TopicSetupException(
            "Expected every topic to have a leader within "
                + TIMEOUT_S
                + " s of its creation. Check that all brokers run.",
            null);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(VISIBLE_PAUSE_MS));
      existing = describe(specs);
    }
    return existing;
  }

  private static boolean haveLeaders(
      List<TopicSpec> specs, Map<String, TopicDescription> existing) {
    return specs.stream()
        .map(spec -> existing.get(spec.name()))
        .allMatch(
            topic ->
                topic != null && topic.partitions().stream().allMatch(p -> p.leader() != null));
  }

  private void check(List<TopicSpec> specs, Map<String, TopicDescription> existing) {
    List<String> problems = checkPartitions(specs, existing);
    problems.addAll(checkConfigs(specs, existing.keySet()));
    if (!problems.isEmpty()) {
      throw new TopicSetupException(String.join(System.lineSeparator(), problems), null);
    }
  }

  private static List<String> checkPartitions(
      List<TopicSpec> specs, Map<String, TopicDescription> existing) {
    TreeMap<Integer, TreeSet<String>> byCount = new TreeMap<>();
    for (TopicSpec spec : specs) {
      if (spec.byKey() && existing.containsKey(spec.name())) {
        byCount
            .computeIfAbsent(
                existing.get(spec.name()).partitions().size(), count -> new TreeSet<>())
            .add(spec.name());
      }
    }
    List<String> problems = new ArrayList<>();
    if (byCount.size() > 1) {
      problems.add(
          "Expected the same number of partitions in every topic that is partitioned by key, but found "
              + byCount
              + ". Delete the topics that are wrong, or use another prefix; partitions are never altered in place.");
    }
    return problems;
  }

  private List<String> checkConfigs(List<TopicSpec> specs, Collection<String> existing) {
    List<ConfigResource> resources =
        existing.stream().map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name)).toList();
    Map<String, Config> configs;
    try {
      configs = byName(await(admin.describeConfigs(resources).all()));
    } catch (ExecutionException e) {
      throw refused("read the configuration of the topics", e);
    }
    List<String> problems = new ArrayList<>();
    for (TopicSpec spec : specs) {
      if (configs.containsKey(spec.name())) {
        check(spec, configs.get(spec.name()), "message.timestamp.type", "LogAppendTime", problems);
        check(spec, configs.get(spec.name()), "cleanup.policy", spec.cleanupPolicy(), problems);
      }
    }
    return problems;
  }

  private static void check(
      TopicSpec spec, Config config, String name, String expected, List<String> problems) {
    String found = config.get(name) == null ? null : config.get(name).value();
    if (!expected.equals(found)) {
      problems.add(
          "Expected %s=%s on topic %s, but found %s. Set it with kafka-configs --alter --entity-type topics --entity-name %s --add-config %s=%s."
              .formatted(name, expected, spec.name(), found, spec.name(), name, expected));
    }
  }

  private List<String> create(
      List<TopicSpec> specs, Map<String, TopicDescription> existing, TopicLayout layout) {
    int partitions =
        specs.stream()
            .filter(spec -> spec.byKey() && existing.containsKey(spec.name()))
            .map(spec -> existing.get(spec.name()).partitions().size())
            .findFirst()
            .orElse(layout.partitions());
    List<NewTopic> topics = new ArrayList<>();
    for (TopicSpec spec : specs) {
      if (!existing.containsKey(spec.name())) {
        topics.add(
            new NewTopic(spec.name(), spec.byKey() ? partitions : 1, layout.replicationFactor())
                .configs(spec.config(layout)));
      }
    }
    TreeSet<String> created = new TreeSet<>();
    admin
        .createTopics(topics)
        .values()
        .forEach(
            (name, done) -> {
              try {
                await(done);
                created.add(name);
              } catch (ExecutionException e) {
                // Somebody else was faster, and makes the same topic.
                if (!(e.getCause() instanceof TopicExistsException)) {
                  throw refused("create topic " + name, e);
                }
              }
            });
    return List.copyOf(created);
  }

  private static Map<String, Config> byName(Map<ConfigResource, Config> configs) {
    Map<String, Config> byName = new HashMap<>();
    configs.forEach((resource, config) -> byName.put(resource.name(), config));
    return byName;
  }

  private static <T> T await(KafkaFuture<T> future) throws ExecutionException {
    try {
      return future.get(TIMEOUT_S, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TopicSetupException("Interrupted while setting up topics.", e);
    } catch (TimeoutException e) {
      throw new TopicSetupException(
          "Expected an answer of the broker within "
              + TIMEOUT_S
              + " s, but there was none. Check that it runs.",
          e);
    }
  }

  private static TopicSetupException refused(String what, ExecutionException e) {
    return new TopicSetupException(
        "Expected to " + what + ", but the broker said: " + e.getCause().getMessage(),
        e.getCause());
  }
}
