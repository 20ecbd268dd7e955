package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.AgentRegistration;
import dev.fairway.schemas.serde.AvroDeserializer;
import dev.fairway.schemas.serde.AvroSerializer;
import dev.fairway.schemas.serde.InMemorySchemaRegistry;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class RegistrationPublisherTest {

  private final Inbox inbox = new Inbox();
  private final InMemorySchemaRegistry schemas = new InMemorySchemaRegistry();
  private final MockProducer<byte[], byte[]> kafka =
      new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer());
  private final RegistrationPublisher publisher =
      new RegistrationPublisher(
          "fairway.agents", new NonBlockingProducer(kafka, inbox), new AvroSerializer<>(schemas));

  @Test
  void shouldWriteTheLastOfAnAgentsRegistrationsOnce() {
    // given
    publisher.publish("a1", registration(1));
    publisher.publish("a1", registration(2));

    // when
    publisher.flush(0);
    kafka.completeNext();
    inbox.drain();
    publisher.flush(10_000);

    // then
    assertThat(kafka.history()).hasSize(1);
    ProducerRecord<byte[], byte[]> record = kafka.history().get(0);
    assertThat(record.topic()).isEqualTo("fairway.agents");
    assertThat(new String(record.key(), StandardCharsets.UTF_8)).isEqualTo("a1");
    AgentRegistration written =
        new AvroDeserializer<>(schemas, AgentRegistration.class)
            .deserialize("fairway.agents", record.value());
    assertThat(written.getRegisteredAtMs()).isEqualTo(2);
  }

  @Test
  void shouldWriteATombstoneForARetiredAgent() {
    // given
    publisher.publish("a1", null);

    // when
    publisher.flush(0);

    // then
    assertThat(kafka.history().get(0).value()).isNull();
  }

  @Test
  void shouldWriteAgainAfterAFailureAndAPause() {
    // given
    publisher.publish("a1", registration(1));
    publisher.flush(0);
    kafka.errorNext(new NotLeaderOrFollowerException());
    inbox.drain();

    // when
    publisher.flush(100);
    publisher.flush(1_000);

    // then: not within the pause
    assertThat(kafka.history()).hasSize(1);
    publisher.flush(1_100);
    assertThat(kafka.history()).hasSize(2);
  }

  @Test
  void shouldNotPutAnOldRegistrationOverANewer() {
    // given
    publisher.publish("a1", registration(1));
    publisher.flush(0);
    publisher.publish("a1", null);

    // when
    kafka.errorNext(new NotLeaderOrFollowerException());
    inbox.drain();
    publisher.flush(0);
    publisher.flush(1_000);

    // then
    assertThat(kafka.history()).hasSize(2);
    assertThat(kafka.history().get(1).value()).isNull();
  }

  private static AgentRegistration registration(long atMs) {
    return new AgentRegistration("a1", null, null, "dispatcher", atMs, false, Map.of());
  }
}
