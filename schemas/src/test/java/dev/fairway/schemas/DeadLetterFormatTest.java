package dev.fairway.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.schemas.serde.UndecodableRecordException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DeadLetterFormatTest {

  private static final byte[] KEY = {1};

  @Test
  void shouldKeepTheRecordAsItWasReadAndSayWhereFromAndWhy() {
    // given
    Headers headers = new RecordHeaders().add("trace", new byte[] {7}).add("fairway.hops", KEY);
    byte[] value = {4, 5};

    // when
    DeadLetterFormat.Letter letter = letter(value, headers);

    // then
    assertThat(letter.key()).isEqualTo(KEY);
    assertThat(letter.value()).isEqualTo(value);
    assertThat(letter.headers().lastHeader("trace").value()).containsExactly(7);
    assertThat(letter.headers().lastHeader("fairway.hops")).isNull();
    assertThat(text(letter, DeadLetterFormat.REASON)).isEqualTo("INVALID");
    assertThat(text(letter, DeadLetterFormat.DETAIL)).isEqualTo("why");
    assertThat(text(letter, DeadLetterFormat.TOPIC)).isEqualTo("t");
    assertThat(text(letter, DeadLetterFormat.PARTITION)).isEqualTo("2");
    assertThat(text(letter, DeadLetterFormat.OFFSET)).isEqualTo("3");
    assertThat(text(letter, DeadLetterFormat.AT_MS)).isEqualTo("1000");
    assertThat(letter.headers().lastHeader(DeadLetterFormat.TRUNCATED_FROM)).isNull();
  }

  @Test
  void shouldCutWhatIsTooLongAndSaySo() {
    // given
    byte[] value = new byte[11];
    Arrays.fill(value, (byte) 5);
    Headers headers = new RecordHeaders().add("large", new byte[40_000]).add("small", KEY);

    // when
    DeadLetterFormat.Letter letter = letter(value, headers);

    // then
    assertThat(letter.value()).hasSize(10);
    assertThat(text(letter, DeadLetterFormat.TRUNCATED_FROM)).isEqualTo("11");
    assertThat(letter.headers().lastHeader("large")).isNull();
    assertThat(letter.headers().lastHeader("small")).isNotNull();
    assertThat(text(letter, DeadLetterFormat.HEADERS_DROPPED)).isEqualTo("1");
  }

  @ParameterizedTest
  @EnumSource
  void shouldHaveAReasonForEveryRecordThatCannotBeDecoded(
      UndecodableRecordException.Reason reason) {
    assertThat(new UndecodableRecordException(reason, "why", null).deadLetterReason().name())
        .isEqualTo(reason.name());
  }

  private static DeadLetterFormat.Letter letter(byte[] value, Headers headers) {
    return new DeadLetterFormat(10)
        .of(
            new DeadLetterFormat.Source("t", 2, 3, KEY, value, headers),
            DeadLetterReason.INVALID,
            "why",
            1_000);
  }

  private static String text(DeadLetterFormat.Letter letter, String header) {
    return new String(letter.headers().lastHeader(header).value(), StandardCharsets.UTF_8);
  }
}
