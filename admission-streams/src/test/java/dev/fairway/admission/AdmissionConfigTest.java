package dev.fairway.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdmissionConfigTest {

  @Test
  void shouldHaveDefaultsForAllButBrokersAndRegistry() {
    // when
    AdmissionConfig config = AdmissionConfig.of(required());

    // then
    assertThat(config.topics().requests()).isEqualTo("fairway.requests");
    assertThat(config.applicationId()).isEqualTo("fairway.admission");
    assertThat(config.stateDir()).isEqualTo(Path.of("fairway-data/admission"));
    assertThat(config.streamThreads()).isEqualTo(1);
    assertThat(config.httpHost()).isEqualTo("127.0.0.1");
    assertThat(config.httpPort()).isEqualTo(8090);
    assertThat(config.topology(4).snapshotIntervalMs()).isEqualTo(600_000);
  }

  @Test
  void shouldSetWhatWasMeasuredForKafka() {
    // when
    Properties streams = StreamsProperties.of(AdmissionConfig.of(required()));

    // then
    assertThat(streams)
        .containsEntry("processing.guarantee", "exactly_once_v2")
        .containsEntry("commit.interval.ms", 100)
        .containsEntry("statestore.cache.max.bytes", 0)
        .containsEntry("producer.linger.ms", 0)
        .containsEntry("producer.retry.backoff.ms", 5)
        .containsEntry("producer.transaction.timeout.ms", 10_000)
        .containsEntry("consumer.session.timeout.ms", 6_000)
        .containsEntry("state.dir", "fairway-data/admission");
  }

  @Test
  void shouldLetKafkaSettingsOverrideItsOwn() {
    // given
    Map<String, String> settings = required();
    settings.put("kafka.commit.interval.ms", "20");
    settings.put("kafka.security.protocol", "SSL");

    // when
    Properties streams = StreamsProperties.of(AdmissionConfig.of(settings));

    // then
    assertThat(streams)
        .containsEntry("commit.interval.ms", "20")
        .containsEntry("security.protocol", "SSL");
  }

  @Test
  void shouldReadAFileAndLetTheEnvironmentWin(@TempDir Path folder) throws Exception {
    // given
    Path file = folder.resolve("admission.properties");
    Files.writeString(
        file,
        """
        bootstrap.servers=file:9092
        schema.registry.url=http://file:8081
        topic.prefix=team.
        """);

    // when
    AdmissionConfig config =
        AdmissionConfig.load(
            file,
            Map.of(
                "FAIRWAY_BOOTSTRAP_SERVERS", "env-1:9092, env-2:9092",
                "FAIRWAY_KAFKA_PRODUCER_LINGER_MS", "5",
                "FAIRWAY_OPEN_MODE", "true",
                "PATH", "/bin"));

    // then
    assertThat(config.bootstrapServers()).isEqualTo("env-1:9092,env-2:9092");
    assertThat(config.registryUrls()).isEqualTo("http://file:8081");
    assertThat(config.applicationId()).isEqualTo("team.admission");
    assertThat(config.kafka()).containsEntry("producer.linger.ms", "5");
  }

  @Test
  void shouldSayWhatIsMissing() {
    assertThatThrownBy(() -> AdmissionConfig.load(null, Map.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "Expected a value for 'bootstrap.servers', but found none. Set it in the file, or as FAIRWAY_BOOTSTRAP_SERVERS.");
  }

  @ParameterizedTest
  @CsvSource({
    "http.prot, 1, Expected settings of the coordinator but found 'http.prot'",
    "http.port, 70000, http.port",
    "http.port, many, http.port",
    "stream.threads, 0, stream.threads",
    "topic.prefix, a b, topic.prefix",
    "record.bytes.max, 10, record.bytes.max"
  })
  void shouldSayWhatIsWrong(String name, String value, String message) {
    Map<String, String> settings = required();
    settings.put(name, value);
    assertThatThrownBy(() -> AdmissionConfig.of(settings))
        .isInstanceOf(ConfigException.class)
        .satisfies(e -> assertThat(e.getMessage().replace(",", "")).contains(message));
  }

  @Test
  void shouldTakeCredentialsForTheRegistryAndNotPrintThem() {
    // given
    Map<String, String> settings = required();
    settings.put("serde.basic.auth.credentials.source", "USER_INFO");
    settings.put("serde.basic.auth.user.info", "user:secret");

    // when
    AdmissionConfig config = AdmissionConfig.of(settings);

    // then
    assertThat(config.registry().authorization())
        .isEqualTo(
            "Basic "
                + Base64.getEncoder()
                    .encodeToString("user:secret".getBytes(StandardCharsets.UTF_8)));
    assertThat(config.registry().requestTimeout()).isEqualTo(Duration.ofSeconds(1));
    assertThat(config.toString()).doesNotContain("secret");
  }

  @Test
  void shouldDocumentEverySetting() {
    assertThat(AdmissionConfig.documentation())
        .contains("bootstrap.servers", "snapshot.interval.ms", "default: 600000");
  }

  private static Map<String, String> required() {
    Map<String, String> settings = new HashMap<>();
    settings.put("bootstrap.servers", "localhost:9092");
    settings.put("schema.registry.url", "http://localhost:8081");
    return settings;
  }
}
