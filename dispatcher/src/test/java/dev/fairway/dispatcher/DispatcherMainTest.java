package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DispatcherMainTest {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void shouldExplainItself() {
    // when
    int status = run(Map.of(), "--help");

    // then
    assertThat(status).isZero();
    assertThat(text(out)).contains("--config FILE", "FAIRWAY_BOOTSTRAP_SERVERS", "open.mode");
  }

  @Test
  void shouldRefuseUnknownArguments() {
    // when
    int status = run(Map.of(), "--what");

    // then
    assertThat(status).isEqualTo(2);
    assertThat(text(err)).contains("--what", "Usage");
  }

  @Test
  void shouldRefuseAMissingFile() {
    // when
    int status = run(Map.of(), "--config", "/no/such/file.properties");

    // then
    assertThat(status).isEqualTo(2);
    assertThat(text(err)).contains("/no/such/file.properties");
  }

  @Test
  void shouldSayWhichSettingIsMissing() {
    // when
    int status = run(Map.of("FAIRWAY_BOOTSTRAP_SERVERS", "localhost:9092"));

    // then
    assertThat(status).isEqualTo(2);
    assertThat(text(err)).contains("FAIRWAY_SCHEMA_REGISTRY_URL");
  }

  private int run(Map<String, String> environment, String... args) {
    return DispatcherMain.run(
        args,
        environment,
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  private static String text(ByteArrayOutputStream bytes) {
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
