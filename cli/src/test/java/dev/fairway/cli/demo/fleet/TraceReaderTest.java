package dev.fairway.cli.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.fairway.cli.demo.fleet.TraceReader.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceReaderTest {
  private static final String HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";

  @TempDir private Path folder;

  private List<Row> read(String text) throws IOException {
    return TraceReader.read(Files.writeString(folder.resolve("trace"), text));
  }

  @Test
  void shouldReadAzuresTraceWithCrLfAndNoNewlineAtTheEnd() throws IOException {
    assertThat(
            read(
                HEADER
                    + "2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319600,3180,8"))
        .containsExactly(new Row(4808, 10), new Row(3180, 8));
  }

  @Test
  void shouldReadMooncakesTrace() throws IOException {
    assertThat(
            read(
                """
                {"timestamp": 0, "input_length": 40160, "output_length": 6, "hash_ids": [0]}
                {"timestamp": 27, "input_length": 6755, "output_length": 500}
                """))
        .containsExactly(new Row(40160, 6), new Row(6755, 500));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "2023,12|three fields",
        "2023,12,5,6|three fields",
        ",12,5|three fields",
        "2023,,5|whole number from 1",
        "2023,0,5|whole number from 1",
        "2023,12.5,5|whole number from 1",
        "2023, 12,5|whole number from 1",
        "2023,12,-1|whole number from 0",
        "2023,99999999999,1|ContextTokens",
      })
  void shouldNameTheLineOfABadAzureRow(String row, String expected) {
    assertThatThrownBy(() -> read(HEADER + "2023,1,1\r\n" + row + "\r\n"))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageContaining("line 3")
        .hasMessageContaining(expected);
  }

  @Test
  void shouldNameTheLineOfABadMooncakeRow() {
    String good = "{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n";
    for (String bad :
        List.of(
            "",
            "{",
            "7",
            "{\"timestamp\":0,\"input_length\":1,\"output_length\":1} x",
            "{\"input_length\":1,\"output_length\":1}",
            "{\"timestamp\":0,\"output_length\":1}",
            "{\"timestamp\":0,\"input_length\":\"1\",\"output_length\":1}",
            "{\"timestamp\":0,\"input_length\":1,\"output_length\":1.5}")) {
      assertThatThrownBy(() -> read(good + bad + "\n"))
          .as(bad)
          .isInstanceOf(TraceFormatException.class)
          .hasMessageContaining("line 2");
    }
  }

  @Test
  void shouldRefuseWhatIsNoTrace() {
    assertThatThrownBy(() -> read("")).hasMessageContaining("empty file");
    assertThatThrownBy(() -> read(HEADER)).hasMessageContaining("line 2");
    assertThatThrownBy(() -> read("a,b,c\n1,2,3\n"))
        .hasMessageContaining("line 1")
        .hasMessageContaining("TIMESTAMP");
    assertThatThrownBy(
            () ->
                TraceReader.read(
                    Files.write(folder.resolve("binary"), new byte[] {(byte) 0xff, 0, 1})))
        .hasMessageContaining("UTF-8");
  }

  @Test
  void shouldReadThePublicTraces() throws IOException {
    // given
    Path traces = Path.of(System.getProperty("fairway.shared", "absent"), "traces");
    assumeTrue(Files.isDirectory(traces), "no public traces at " + traces);

    // when
    List<Row> azure = TraceReader.read(traces.resolve("azure2023/AzureLLMInferenceTrace_code.csv"));
    List<Row> mooncake = TraceReader.read(traces.resolve("mooncake/synthetic_trace.jsonl"));

    // then
    assertThat(azure).hasSize(8819).startsWith(new Row(4808, 10), new Row(3180, 8));
    assertThat(mooncake).isNotEmpty().startsWith(new Row(40160, 6));
  }
}
