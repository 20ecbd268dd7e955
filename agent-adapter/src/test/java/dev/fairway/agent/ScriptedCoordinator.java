package dev.fairway.agent;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.Queued;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.InMemorySchemaRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A whole client, in real time, whose coordinator is played by the test: all that is missing is the
 * network.
 */
public final class ScriptedCoordinator implements AutoCloseable {
  private static final String AGENT = "gateway";
  private static final long POLL_PAUSE_MS = 2;

  /** Answers a request. */
  public interface Script {
    /** A request came in. */
    void onRequest(ScriptedCoordinator coordinator, LeaseRequest request);
  }

  /** Every request, in order. */
  public final List<LeaseRequest> requests = new CopyOnWriteArrayList<>();

  /** Every settlement, in order. */
  public final List<Settlement> settlements = new CopyOnWriteArrayList<>();

  private final List<Decision> decisions = new CopyOnWriteArrayList<>();
  private final Script script;
  private final TopicPartition partition;
  private final MockConsumer<byte[], byte[]> consumer = new PausingConsumer();
  private final AdmissionClient client;

  /** Starts the client. */
  public ScriptedCoordinator(Script script) {
    this.script = script;
    AdmissionClientConfig config =
        AdmissionClientConfig.of("127.0.0.1:9092", "http://127.0.0.1:8081", AGENT).build();
    partition = new TopicPartition(config.replyTopic(), config.replyPartition());
    Node node = new Node(0, "127.0.0.1", 9092);
    Node[] nodes = {node};
    consumer.updatePartitions(
        partition.topic(), List.of(new PartitionInfo(partition.topic(), 0, node, nodes, nodes)));
    consumer.updateEndOffsets(Map.of(partition, 0L));
    client =
        new AdmissionClient(
            config,
            new ReadProducer(),
            consumer,
            (topic, bytes) ->
                decisions.get(Integer.parseInt(new String(bytes, StandardCharsets.US_ASCII))),
            new RequestIds(),
            Handover.none());
    client.open(Duration.ofSeconds(5));
  }

  /** The client. */
  public AdmissionClient client() {
    return client;
  }

  /** Tells a place in line. */
  public void queue(LeaseRequest request, int position, Duration eta) {
    decide(
        decision(request, DecisionStatus.QUEUED)
            .setQueued(Queued.newBuilder().setPosition(position).setEtaMs(eta.toMillis()).build()));
  }

  private Decision.Builder decision(LeaseRequest request, DecisionStatus status) {
    return Decision.newBuilder()
        .setRequestId(request.getRequestId())
        .setAgentId(request.getAgentId())
        .setQuota(request.getQuota())
        .setDecidedAtMs(System.currentTimeMillis())
        .setEpoch(1)
        .setStatus(status);
  }

  private synchronized void decide(Decision.Builder decision) {
    int index = decisions.size();
    decisions.add(decision.setDecisionId("decision-" + index).setSequence(index).build());
    consumer.addRecord(
        new ConsumerRecord<>(
            partition.topic(),
            partition.partition(),
            index,
            null,
            Integer.toString(index).getBytes(StandardCharsets.US_ASCII)));
  }

  @Override
  public void close() {
    client.close();
  }

  /** Hands what is sent to the script, once the broker has it. */
  private final class ReadProducer extends MockProducer<String, SpecificRecord> {
    ReadProducer() {
      super(
          Cluster.empty(),
          true,
          null,
          new StringSerializer(),
          new AvroSerializer<>(new InMemorySchemaRegistry()));
    }

    @Override
    public Future<RecordMetadata> send(
        ProducerRecord<String, SpecificRecord> record, Callback callback) {
      Future<RecordMetadata> sent = super.send(record, callback);
      if (record.value() instanceof LeaseRequest request) {
        requests.add(request);
        script.onRequest(ScriptedCoordinator.this, request);
      } else if (record.value() instanceof Settlement settlement) {
        settlements.add(settlement);
      }
      return sent;
    }
  }

  /** One of {@link MockConsumer}'s polls never waits. */
  private static final class PausingConsumer extends MockConsumer<byte[], byte[]> {
    PausingConsumer() {
      super("earliest");
    }

    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // It must not hold others up.
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(POLL_PAUSE_MS));
      return super.poll(timeout);
    }
  }
}
