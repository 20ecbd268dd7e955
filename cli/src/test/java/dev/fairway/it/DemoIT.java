package dev.fairway.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.cli.Fairway;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo as a user runs it, over the real pipeline, shorter. */
class DemoIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;

  @Test
  void shouldRunBothFleetsAndSettleEveryLease() throws Exception {
    // given
    Path page = folder.resolve("page.html");
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();

    // when
    int code =
        Fairway.run(
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            "demo",
            "--agents",
            "8",
            "--seconds",
            "8",
            "--demand",
            "2",
            "--html",
            page.toString(),
            "--json",
            "-");

    // then
    assertThat(code).as(err.toString()).isZero();
    JsonNode json = JSON.readTree(out.toString());
    JsonNode without = json.path("without_admission");
    JsonNode with = json.path("with_admission");
    assertThat(without.path("provider_429").asLong() * 10)
        .as("the control must fail")
        .isGreaterThan(without.path("calls").asLong());
    assertThat(with.path("provider_429").asLong() * 10).isLessThan(with.path("calls").asLong());
    assertThat(with.path("grants").asLong()).isPositive().isEqualTo(with.path("settled").asLong());
    assertThat(with.path("expired").asLong()).isZero();
    assertThat(with.path("unsettled").asLong()).isZero();
    assertThat(Path.of(json.path("page").asText())).isEqualTo(page);
    assertThat(Files.readString(page)).startsWith("<!DOCTYPE html>").contains("With admission");
  }
}
