package dev.fairway.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fairway.cli.embedded.EmbeddedKafka;
import dev.fairway.cli.embedded.EmbeddedKafkaException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedKafkaIT {

  @TempDir Path folder;

  @Test
  void shouldKeepRecordsAndPortOverARestartOnTheSameFolder() throws Exception {
    // given
    int port;
    try (EmbeddedKafka kafka = EmbeddedKafka.start(folder)) {
      port = kafka.port();
      createTopic(kafka, "kept");
      sendInTransaction(kafka, "kept", "one");
    }

    // when
    try (EmbeddedKafka kafka = EmbeddedKafka.start(folder)) {
      sendInTransaction(kafka, "kept", "two");

      // then
      assertThat(kafka.port()).isEqualTo(port);
      assertThat(read(kafka, "kept", 2)).containsExactly("one", "two");
    }
  }

  @Test
  void shouldChooseAnotherPortWhenTheKeptOneIsTaken() throws Exception {
    // given
    int port;
    try (EmbeddedKafka kafka = EmbeddedKafka.start(folder)) {
      port = kafka.port();
      createTopic(kafka, "moved");
      sendInTransaction(kafka, "moved", "one");
    }

    // when
    try (ServerSocket other = new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
        EmbeddedKafka kafka = EmbeddedKafka.start(folder)) {
      // then
      assertThat(kafka.port()).isNotEqualTo(other.getLocalPort());
      assertThat(read(kafka, "moved", 1)).containsExactly("one");
    }
  }

  @Test
  void shouldSayThatAnAskedPortIsTaken() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> EmbeddedKafka.start(folder, other.getLocalPort(), Map.of()))
          .isInstanceOf(EmbeddedKafkaException.class)
          .hasMessageContaining("Expected port " + other.getLocalPort())
          .hasMessageContaining("choose another port");
    }
  }

  @Test
  void shouldFailWithoutEndingTheProcessAndLeaveNothingRunning() {
    // given: a setting that the broker refuses only while it starts
    Map<String, String> wrong = Map.of("authorizer.class.name", "no.such.Authorizer");

    // when / then
    assertThatThrownBy(() -> EmbeddedKafka.start(folder, 0, wrong))
        .isInstanceOf(EmbeddedKafkaException.class);
    try (EmbeddedKafka kafka = EmbeddedKafka.start(folder)) {
      assertThat(kafka.port()).isPositive();
    }
  }

  @Test
  void shouldRefuseARecordOfTenMegabytesAndKeepServing() throws Exception {
    // given
    EmbeddedKafka kafka = TestCluster.kafka();
    String topic = TestCluster.newPrefix("large") + "records";
    createTopic(kafka, topic);
    Map<String, Object> settings =
        Map.of("bootstrap.servers", kafka.bootstrapServers(), "max.request.size", 64 * 1024 * 1024);

    // when / then
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      assertThatThrownBy(
              () ->
                  producer
                      .send(new ProducerRecord<>(topic, new byte[10 * 1024 * 1024]))
                      .get(30, TimeUnit.SECONDS))
          .hasCauseInstanceOf(RecordTooLargeException.class);
    }
    sendInTransaction(kafka, topic, "small");
    assertThat(read(kafka, topic, 1)).containsExactly("small");
  }

  private static void createTopic(EmbeddedKafka kafka, String topic) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
      admin
          .createTopics(List.of(new NewTopic(topic, 1, (short) 1)))
          .all()
          .get(30, TimeUnit.SECONDS);
    }
  }

  private static void sendInTransaction(EmbeddedKafka kafka, String topic, String value) {
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers",
            kafka.bootstrapServers(),
            "transactional.id",
            "writer-of-" + topic);
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      producer.initTransactions();
      producer.beginTransaction();
      producer.send(new ProducerRecord<>(topic, value));
      producer.commitTransaction();
    }
  }

  private static List<String> read(EmbeddedKafka kafka, String topic, int count) {
    Map<String, Object> settings =
        Map.of("bootstrap.servers", kafka.bootstrapServers(), "isolation.level", "read_committed");
    List<String> values = new ArrayList<>();
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      TopicPartition partition = new TopicPartition(topic, 0);
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      long deadline_ns = System.nanoTime() + Duration.ofSeconds(30).toNanos();
      while (values.size() < count && System.nanoTime() < deadline_ns) {
        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
          values.add(record.value());
        }
      }
    }
    return values;
  }
}
