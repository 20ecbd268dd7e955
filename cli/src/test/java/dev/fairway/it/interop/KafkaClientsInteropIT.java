package dev.fairway.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.Decision;
import dev.fairway.schemas.DecisionStatus;
import dev.fairway.schemas.Estimate;
import dev.fairway.schemas.LeaseGranted;
import dev.fairway.schemas.LeaseRequest;
import dev.fairway.schemas.LeaseSettled;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.Settlement;
import dev.fairway.schemas.Usage;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

/**
 * A Java agent without the {@code AdmissionClient}: Kafka's own clients, told by settings alone how
 * values are written and read.
 */
class KafkaClientsInteropIT {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String KEY = "java-plain";
  private static final String QUOTA = KEY + "/model";
  private static final String AGENT = "java-plain-agent";

  private final InteropPipeline pipeline = InteropPipeline.shared();

  private Map<String, Object> settings(Map<String, Object> more) {
    Map<String, Object> settings = new HashMap<>(more);
    settings.put("bootstrap.servers", pipeline.bootstrap());
    settings.put("schema.registry.url", pipeline.registryUrl());
    return settings;
  }

  private KafkaProducer<String, SpecificRecord> producer() {
    return new KafkaProducer<>(
        settings(
            Map.of(
                "key.serializer",
                StringSerializer.class.getName(),
                "value.serializer",
                "dev.fairway.schemas.serde.AvroSerializer",
                "linger.ms",
                0)));
  }

  private KafkaConsumer<String, Decision> consumer() {
    return new KafkaConsumer<>(
        settings(
            Map.of(
                "key.deserializer",
                StringDeserializer.class.getName(),
                "value.deserializer",
                "dev.fairway.schemas.serde.AvroDeserializer",
                "specific.avro.reader",
                true,
                "allow.auto.create.topics",
                false)));
  }

  @Test
  void shouldMakeACallUnderALease() throws Exception {
    // given
    pipeline.define(QUOTA);
    TopicPartition replies = new TopicPartition(pipeline.topics().reply(AGENT), 0);
    try (KafkaConsumer<String, Decision> consumer = consumer();
        KafkaProducer<String, SpecificRecord> producer = producer()) {
      consumer.assign(List.of(replies));
      // The topic of an agent that nobody knows does not exist yet: all that it will hold is new.
      consumer.seekToBeginning(List.of(replies));

      // when
      LeaseRequest request =
          LeaseRequest.newBuilder()
              .setRequestId("r-1")
              .setAgentId(AGENT)
              .setQuota(QUOTA)
              .setEstimate(Estimate.newBuilder().setInputTokens(400L).build())
              .build();
      producer.send(new ProducerRecord<>(pipeline.topics().requests(), KEY, request)).get();
      ConsumerRecord<String, Decision> reply = next(consumer);
      Settlement settlement =
          Settlement.newBuilder()
              .setLeaseId(reply.value().getGranted().getLeaseId())
              .setAgentId(AGENT)
              .setQuota(QUOTA)
              .setOutcome(Outcome.SUCCEEDED)
              .setUsage(Usage.newBuilder().setInputTokens(150L).setOutputTokens(20L).build())
              .build();
      producer.send(new ProducerRecord<>(pipeline.topics().settlements(), KEY, settlement)).get();

      // then
      assertThat(reply.key()).isEqualTo("r-1");
      assertThat(reply.value().getStatus()).isEqualTo(DecisionStatus.GRANTED);
      assertThat(pipeline.events(KEY, LeaseSettled.class, 1))
          .singleElement()
          .satisfies(
              e -> {
                assertThat(e.getLeaseId()).isEqualTo(settlement.getLeaseId());
                assertThat(e.getAdjusted().getInputTokens()).isEqualTo(250);
              });
      assertThat(pipeline.events(KEY, LeaseGranted.class, 1)).hasSize(1);
      assertThat(pipeline.records(pipeline.topics().requests(), KEY)).hasSize(1);
    }
  }

  private static ConsumerRecord<String, Decision> next(KafkaConsumer<String, Decision> consumer) {
    long until_ns = System.nanoTime() + PATIENCE.toNanos();
    while (System.nanoTime() < until_ns) {
      for (ConsumerRecord<String, Decision> record : consumer.poll(Duration.ofMillis(200))) {
        return record;
      }
    }
    throw new AssertionError("No decision within " + PATIENCE);
  }
}
