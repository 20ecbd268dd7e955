package dev.fairway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AdmissionMainTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void shouldPrintItsSettings() {
    assertThat(run(Map.of(), "--help")).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8)).contains("Usage:", "schema.registry.url");
  }

  @Test
  void shouldRefuseWrongArguments() {
    assertThat(run(Map.of(), "--port", "1")).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("Expected --config FILE or --help, but found '--port'.");
  }

  @Test
  void shouldRefuseAFileThatIsNotThere() {
    assertThat(run(Map.of(), "--config", "/nothing/here")).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains(
            "fairway: Expected a properties file at /nothing/here, but: there is no such file or folder.");
  }

  @Test
  void shouldSayWhatIsMissing() {
    assertThat(run(Map.of("FAIRWAY_BOOTSTRAP_SERVERS", "localhost:9092"))).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("FAIRWAY_SCHEMA_REGISTRY_URL");
  }

  @Test
  void shouldSayThatABrokerHasNoAddress() {
    Map<String, String> environment =
        Map.of(
            "FAIRWAY_BOOTSTRAP_SERVERS", "no-such-host.invalid:9092",
            "FAIRWAY_SCHEMA_REGISTRY_URL", "http://localhost:1");
    assertThat(run(environment)).isEqualTo(1);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("Expected to connect to Kafka at no-such-host.invalid:9092");
  }

  @Test
  void shouldGiveUpWaitingForBrokers() {
    Map<String, String> environment =
        Map.of(
            "FAIRWAY_BOOTSTRAP_SERVERS", "127.0.0.1:1",
            "FAIRWAY_SCHEMA_REGISTRY_URL", "http://localhost:1",
            "FAIRWAY_START_TIMEOUT_MS", "0",
            "FAIRWAY_KAFKA_DEFAULT_API_TIMEOUT_MS", "1000",
            "FAIRWAY_KAFKA_REQUEST_TIMEOUT_MS", "500");
    assertThat(run(environment)).isEqualTo(1);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("Expected Kafka on 127.0.0.1:1 to describe topics")
        .contains("Check bootstrap.servers");
  }

  private int run(Map<String, String> environment, String... arguments) {
    return AdmissionMain.run(
        arguments,
        environment,
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }
}
