package dev.fairway.cli.ops;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PrintableTest {

  @Test
  void shouldShowTextAsItIs() {
    assertThat(Printable.text("key-ä".getBytes(StandardCharsets.UTF_8))).isEqualTo("key-ä");
    assertThat(Printable.text(null)).isNull();
    assertThat(Printable.text(new byte[0])).isEmpty();
  }

  @Test
  void shouldShowBytesThatATerminalMustNotGetAsHexadecimal() {
    assertThat(Printable.text(new byte[] {0x1b, '[', '2', 'J'})).isEqualTo("0x1b5b324a");
    assertThat(Printable.text(new byte[] {(byte) 0xff, 0})).isEqualTo("0xff00");
  }

  @Test
  void shouldShortenWhatIsLong() {
    assertThat(Printable.text("x".repeat(5_000).getBytes(StandardCharsets.UTF_8)))
        .hasSize(123)
        .endsWith("...");
    assertThat(Printable.text(new byte[5_000])).hasSize(125).startsWith("0x00").endsWith("...");
  }

  @Test
  void shouldShowWhatAnotherProcessSaysAsOneLine() {
    assertThat(
            Printable.message("Expected a,\n\tbut found b.\r\n".getBytes(StandardCharsets.UTF_8)))
        .isEqualTo("Expected a, but found b.");
    assertThat(Printable.message(new byte[] {0x1b, '[', '2', 'J', '\n'})).isEqualTo("0x1b5b324a0a");
    assertThat(Printable.message("x".repeat(5_000).getBytes(StandardCharsets.UTF_8)))
        .hasSize(1_003);
  }
}
