package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DispatcherConfigTest {

  @Test
  void shouldNeedNoMoreThanTwoAddresses() {
    // when
    DispatcherConfig config = config(Map.of());

    // then
    assertThat(config.topics().journal()).isEqualTo("fairway.journal");
    assertThat(config.groupId()).isEqualTo("fairway.dispatcher");
    assertThat(config.parkingBounds()).isEqualTo(new ParkingBounds(50_000, 1_000, 64L << 20));
    assertThat(config.replyRetentionMs()).isEqualTo(3_600_000);
    assertThat(config.replicationFactor()).isEqualTo((short) -1);
    assertThat(config.agentsMax()).isEqualTo(100_000);
  }

  @Test
  void shouldNameTheGroupAfterThePrefix() {
    // when
    DispatcherConfig config = config(Map.of("topic.prefix", "blue."));

    // then
    assertThat(config.groupId()).isEqualTo("blue.dispatcher");
  }

  @ParameterizedTest
  @CsvSource({
    "localhost:9092, true",
    "'127.0.0.1:9092,127.0.0.2:9092', true",
    "[::1]:9092, true",
    "'localhost:9092,kafka-1:9092', false",
    "kafka-1:9092, false",
    "127.0.0.1.example.org:9092, false"
  })
  void shouldBeOpenOnLoopbackAlone(String bootstrap, boolean open) {
    // when
    DispatcherConfig config = config(Map.of("bootstrap.servers", bootstrap));

    // then
    assertThat(config.openMode()).isEqualTo(open);
  }

  @Test
  void shouldBeOpenWhereToldSo() {
    // when
    DispatcherConfig config =
        config(Map.of("bootstrap.servers", "kafka-1:9092", "open.mode", "true"));

    // then
    assertThat(config.openMode()).isTrue();
  }

  @Test
  void shouldSayWhichAddressIsMissingAndHowToSetIt() {
    // when / then
    assertThatThrownBy(() -> DispatcherConfig.of(Map.of("bootstrap.servers", "localhost:1")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("schema.registry.url")
        .hasMessageContaining("FAIRWAY_SCHEMA_REGISTRY_URL");
  }

  @ParameterizedTest
  @CsvSource({
    "parked.replies.max, 0",
    "parked.replies.max, many",
    "reply.replication.factor, 0",
    "parking.deadline.ms, 1",
    "topic.prefix, a b",
    "http.port, 70000",
    "value.serializer, no.such.Class",
    "parked.replys.max, 5"
  })
  void shouldRefuseWhatItCannotUse(String name, String value) {
    // when / then
    assertThatThrownBy(() -> config(Map.of(name, value)))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(name);
  }

  @Test
  void shouldPassSettingsOnToKafkaClients() {
    // when
    DispatcherConfig config = config(Map.of("kafka.security.protocol", "SSL"));

    // then
    assertThat(config.clientSettings()).containsEntry("security.protocol", "SSL");
  }

  @Test
  void shouldLetTheEnvironmentWinOverTheFile(@TempDir Path folder) throws IOException {
    // given
    Path file = folder.resolve("dispatcher.properties");
    Files.writeString(
        file,
        "bootstrap.servers=file:9092\nschema.registry.url=http://file:8081\ntopic.prefix=file.\n");

    // when
    DispatcherConfig config =
        DispatcherConfig.load(
            file,
            Map.of(
                "FAIRWAY_BOOTSTRAP_SERVERS", "env:9092",
                "FAIRWAY_KAFKA_SECURITY_PROTOCOL", "SSL",
                "FAIRWAY_LEASE_TTL", "of another part",
                "PATH", "/bin"));

    // then
    assertThat(config.clientSettings())
        .containsEntry("bootstrap.servers", List.of("env:9092"))
        .containsEntry("security.protocol", "SSL");
    assertThat(config.topics().prefix()).isEqualTo("file.");
  }

  @Test
  void shouldKeepValuesOutOfItsText() {
    // when
    DispatcherConfig config = config(Map.of("kafka.sasl.jaas.config", "password=\"hush\""));

    // then
    assertThat(config.toString()).contains("kafka.sasl.jaas.config").doesNotContain("hush");
  }

  @Test
  void shouldDocumentEverySetting() {
    // when / then
    assertThat(DispatcherConfig.documentation())
        .contains("open.mode", "parked.bytes.max", "agent.retire.grace.ms")
        .contains("  bootstrap.servers (required)\n      Brokers to begin with,")
        .contains("  commit.interval.ms (default: 200, [1,...,60000])\n")
        .doesNotContain("``", "* Type:");
  }

  private static DispatcherConfig config(Map<String, String> settings) {
    Map<String, String> all = new HashMap<>();
    all.put("bootstrap.servers", "localhost:9092");
    all.put("schema.registry.url", "http://localhost:8081");
    all.putAll(settings);
    return DispatcherConfig.of(all);
  }
}
