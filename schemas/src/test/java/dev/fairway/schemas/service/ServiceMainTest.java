package dev.fairway.schemas.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;

class ServiceMainTest {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void shouldRunWithTheFileThatIsNamedOrWithNone() {
    assertThat(run(file -> file == null ? 7 : 8)).isEqualTo(7);
    assertThat(run(file -> file.equals(Path.of("f")) ? 7 : 8, "--config", "f")).isEqualTo(7);
  }

  @Test
  void shouldHelpWithEverySetting() {
    assertThat(run(file -> 7, "--help")).isEqualTo(ServiceMain.OK);
    assertThat(out.toString(StandardCharsets.UTF_8)).contains("Usage: x", "the settings");
  }

  @Test
  void shouldSayWhatIsWrongWithTheCommandLine() {
    assertThat(run(file -> 7, "--config")).isEqualTo(ServiceMain.WRONG_USAGE);
    assertThat(run(file -> 7, "serve")).isEqualTo(ServiceMain.WRONG_USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("found '--config'", "found 'serve'", "Usage: x");
  }

  @Test
  void shouldTellAWrongSettingFromWorkThatFailed() {
    assertThat(
            run(
                file -> {
                  throw new IOException("no port");
                }))
        .isEqualTo(ServiceMain.FAILED);
    assertThat(
            run(
                file -> {
                  throw new ConfigException("Expected a number");
                }))
        .isEqualTo(ServiceMain.WRONG_USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("fairway: no port", "fairway: Expected a number")
        .doesNotContain("\tat ");
  }

  private int run(ServiceMain.Program program, String... args) {
    return ServiceMain.run(
        args,
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        "Usage: x\n",
        "the settings",
        program);
  }
}
