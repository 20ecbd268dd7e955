package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.cli.Readme.Step;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ReadmeTest {

  @Test
  void shouldPrintWhatTheReadmeShowsOfADryRun() throws IOException {
    // given
    Step step =
        Readme.steps().stream()
            .filter(s -> s.command().startsWith("./fairway dry-run - "))
            .findFirst()
            .orElseThrow();
    byte[] script = (String.join("\n", step.input()) + "\n").getBytes(StandardCharsets.UTF_8);
    StringWriter out = new StringWriter();

    // when
    int code =
        new CommandLine(new DryRunCommand(new ByteArrayInputStream(script)))
            .setOut(new PrintWriter(out, true))
            .execute("-");

    // then
    assertThat(code).isZero();
    assertThat(out.toString().lines()).containsExactlyElementsOf(step.output());
  }
}
