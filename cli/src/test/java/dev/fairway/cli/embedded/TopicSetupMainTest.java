package dev.fairway.cli.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopicSetupMainTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --partitions 3                 | --bootstrap: expected HOST:PORT, but found nothing.
          --bootstrap h:1 --partitions x | --partitions: expected a whole number up to 2147483647, but found 'x'.
          --bootstrap h:1 --nonsense     | Expected an option that 'TopicSetupMain' has, but found '--nonsense'.
          --bootstrap h:1 more           | Expected no arguments but options, but found 'more'.
          """)
  void shouldSayWhatIsWrongWithItsUsageAsAllCommandsDo(String line, String message) {
    // given
    StringWriter err = new StringWriter();

    // when
    int code =
        TopicSetupMain.commandLine().setErr(new PrintWriter(err, true)).execute(line.split(" +"));

    // then
    assertThat(code).isEqualTo(2);
    assertThat(err.toString().lines())
        .containsExactly("fairway: " + message, "See 'TopicSetupMain --help'.");
  }
}
