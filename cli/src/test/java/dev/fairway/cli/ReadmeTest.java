package dev.fairway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** What the README shows is what comes out. */
class ReadmeTest {
  private static final Pattern DRY_RUN =
      Pattern.compile("\\$ \\./fairway dry-run - <<'END'\n(.*?)END\n(.*?)```", Pattern.DOTALL);

  @Test
  void shouldPrintWhatItsDryRunShows() throws IOException {
    // given
    Matcher session = DRY_RUN.matcher(Files.readString(Path.of("..", "README.md")));
    assertThat(session.find()).as("a dry run in the README").isTrue();
    byte[] script = session.group(1).getBytes(StandardCharsets.UTF_8);
    StringWriter out = new StringWriter();

    // when
    int code =
        new CommandLine(new DryRunCommand(new ByteArrayInputStream(script)))
            .setOut(new PrintWriter(out))
            .execute("-");

    // then
    assertThat(code).isZero();
    assertThat(out.toString()).isEqualTo(session.group(2));
  }
}
