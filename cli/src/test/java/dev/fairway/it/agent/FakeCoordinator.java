package dev.fairway.it.agent;

import dev.fairway.schemas.Amounts;
import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Grant;
import dev.fairway.schemas.KeyPartitioner;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Queued;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Topics;
import dev.fairway.schemas.serde.AvroDeserializer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Coordinator and dispatcher in one, played by the test: remembers what agents wrote, and answers
 * as the test says. Creates an agent's own reply topic for its first answer, as in open mode.
 */
@SuppressWarnings(
    "FutureReturnValueIgnored") // A reply that is lost shows in the test that waits for it.
final class FakeCoordinator implements AutoCloseable {
  static final int PARTITIONS = 4;

  /** A record, and the partition it was found in. */
  record Received<T>(T value, String key, int partition) {}

  final List<Received<LeaseRequest>> requests = new CopyOnWriteArrayList<>();
  final List<Received<Settlement>> settlements = new CopyOnWriteArrayList<>();

  private final Topics topics;
  private final Admin admin;
  private final KafkaConsumer<String, byte[]> consumer;
  private final KafkaProducer<String, SpecificRecord> producer;
  private final BiConsumer<FakeCoordinator, LeaseRequest> onRequest;
  private final Map<String, TopicPartition> shared = new ConcurrentHashMap<>();
  private final Set<String> known = ConcurrentHashMap.newKeySet();
  private final AtomicLong sequence = new AtomicLong();
  private final Thread thread;
  private volatile boolean closed;

  FakeCoordinator(
      String bootstrapServers, String prefix, BiConsumer<FakeCoordinator, LeaseRequest> onRequest) {
    this.topics = new Topics(prefix);
    this.onRequest = onRequest;
    Map<String, Object> settings = Map.of("bootstrap.servers", bootstrapServers);
    admin = Admin.create(settings);
    createTopic(topics.requests(), PARTITIONS);
    createTopic(topics.settlements(), PARTITIONS);
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrapServers, "linger.ms", 0),
            new StringSerializer(),
            new SharedRegistrySerializer());
    consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
    List<TopicPartition> partitions = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) {
      partitions.add(new TopicPartition(topics.requests(), i));
      partitions.add(new TopicPartition(topics.settlements(), i));
    }
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    thread = new Thread(this::run, "fake-coordinator");
    thread.setDaemon(true);
    thread.start();
  }

  /** Grants every request at once. */
  static void grantAll(FakeCoordinator coordinator, LeaseRequest request) {
    coordinator.grant(request, 1);
  }

  /** Answers nothing. */
  static void silent(FakeCoordinator coordinator, LeaseRequest request) {}

  /** From now on the agent's replies go to a partition of a shared topic. */
  void register(String agentId, String topic, int partition) {
    shared.put(agentId, new TopicPartition(topic, partition));
  }

  void grant(LeaseRequest request, int attempt) {
    grant(request, attempt, 60_000);
  }

  void grant(LeaseRequest request, int attempt, long ttlMs) {
    Decision.Builder decision = decision(request, DecisionStatus.GRANTED);
    reply(
        decision
            .setGranted(
                Grant.newBuilder()
                    .setLeaseId("lease-" + request.getRequestId() + "-" + attempt)
                    .setAttempt(attempt)
                    .setCharged(Amounts.newBuilder().setRequests(1L).build())
                    .setExpiresAtMs(decision.getDecidedAtMs() + ttlMs)
                    .setTtlMs(ttlMs)
                    .build())
            .build());
  }

  void queue(LeaseRequest request, int position, long etaMs) {
    reply(
        decision(request, DecisionStatus.QUEUED)
            .setQueued(Queued.newBuilder().setPosition(position).setEtaMs(etaMs).build())
            .build());
  }

  /** Bytes that are no decision, in the agent's reply topic. */
  void poison(String agentId) {
    TopicPartition address = address(agentId);
    producer.send(
        new ProducerRecord<>(
            address.topic(),
            address.partition(),
            "poison",
            Settlement.newBuilder()
                .setAgentId(agentId)
                .setQuota("key")
                .setOutcome(Outcome.NOT_SENT)
                .build()));
  }

  List<LeaseRequest> requestsOf(String agentId) {
    return requests.stream()
        .map(Received::value)
        .filter(request -> request.getAgentId().equals(agentId))
        .toList();
  }

  List<Settlement> settlementsOf(String agentId) {
    return settlements.stream()
        .map(Received::value)
        .filter(settlement -> settlement.getAgentId().equals(agentId))
        .toList();
  }

  List<Outcome> outcomesOf(String agentId) {
    return settlementsOf(agentId).stream().map(Settlement::getOutcome).toList();
  }

  void createTopic(String name, int partitions) {
    try {
      admin
          .createTopics(List.of(new NewTopic(name, partitions, (short) 1)))
          .all()
          .get(30, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof TopicExistsException)) {
        throw new IllegalStateException(e);
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  void deleteReplyTopic(String agentId) {
    String topic = topics.reply(agentId);
    try {
      admin.deleteTopics(List.of(topic)).all().get(30, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    known.remove(topic);
  }

  @Override
  public void close() {
    closed = true;
    consumer.wakeup();
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    producer.close(Duration.ofSeconds(5));
    admin.close(Duration.ofSeconds(5));
  }

  private void run() {
    AvroDeserializer<LeaseRequest> requestReader =
        new AvroDeserializer<>(SharedRegistrySerializer.REGISTRY, LeaseRequest.class);
    AvroDeserializer<Settlement> settlementReader =
        new AvroDeserializer<>(SharedRegistrySerializer.REGISTRY, Settlement.class);
    try (consumer) {
      while (!closed) {
        for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
          if (record.topic().equals(topics.requests())) {
            LeaseRequest request = requestReader.deserialize(record.topic(), record.value());
            requests.add(new Received<>(request, record.key(), record.partition()));
            onRequest.accept(this, request);
          } else {
            Settlement settlement = settlementReader.deserialize(record.topic(), record.value());
            settlements.add(new Received<>(settlement, record.key(), record.partition()));
          }
        }
      }
    } catch (WakeupException e) {
      // Closed.
    }
  }

  private Decision.Builder decision(LeaseRequest request, DecisionStatus status) {
    long number = sequence.incrementAndGet();
    return Decision.newBuilder()
        .setDecisionId("decision-" + number)
        .setRequestId(request.getRequestId())
        .setAgentId(request.getAgentId())
        .setQuota(request.getQuota())
        .setDecidedAtMs(System.currentTimeMillis())
        .setEpoch(1)
        .setSequence(number)
        .setStatus(status);
  }

  private void reply(Decision decision) {
    TopicPartition address = address(decision.getAgentId());
    producer.send(
        new ProducerRecord<>(
            address.topic(), address.partition(), decision.getRequestId(), decision));
  }

  private TopicPartition address(String agentId) {
    TopicPartition address =
        shared.getOrDefault(agentId, new TopicPartition(topics.reply(agentId), 0));
    if (!shared.containsKey(agentId) && known.add(address.topic())) {
      createTopic(address.topic(), 1);
    }
    return address;
  }

  /** The partition that owns a quota. */
  static int partitionOf(String quota) {
    return KeyPartitioner.partition(quota, PARTITIONS);
  }
}
