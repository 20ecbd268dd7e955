package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A chat stream is made to tell its usage, and a client that did not ask does not see it. */
class StreamUsageTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"a\":1}|{\"stream_options\":{\"include_usage\":true},\"a\":1}",
        " { \"\u00e4\":{\"stream_options\":{}} }| {\"stream_options\":{\"include_usage\":true}, \"\u00e4\":{\"stream_options\":{}} }",
        "{\"a\":1,\"stream_options\":{}}|{\"a\":1,\"stream_options\":{\"include_usage\":true}}",
        "{\"stream_options\": { \"x\": [1] } }|{\"stream_options\": {\"include_usage\":true, \"x\": [1] } }",
        "{\"stream_options\":{\"include_usage\" : false}}|{\"stream_options\":{\"include_usage\" : true}}",
        "{\"stream_options\":{\"include_usage\":null,\"y\":2}}|{\"stream_options\":{\"include_usage\":true,\"y\":2}}",
        // Twice the same name: whichever a provider goes by, it asks.
        "{\"stream_options\":{\"include_usage\":true},\"stream_options\":{\"include_usage\":false}}|{\"stream_options\":{\"include_usage\":true},\"stream_options\":{\"include_usage\":true}}",
        "{\"stream_options\":{},\"a\":[{\"stream_options\":0}],\"stream\\u005foptions\":null}|{\"stream_options\":{\"include_usage\":true},\"a\":[{\"stream_options\":0}],\"stream\\u005foptions\":{\"include_usage\":true}}",
        "{\"stream_options\":{\"include_usage\":false,\"x\":{\"include_usage\":false},\"include_usage\":null}}|{\"stream_options\":{\"include_usage\":true,\"x\":{\"include_usage\":false},\"include_usage\":true}}",
        "{\"stream_options\":[{\"a\":{}}],\"b\":1,\"stream_options\":{\"y\":2}}|{\"stream_options\":[{\"a\":{}}],\"b\":1,\"stream_options\":{\"include_usage\":true,\"y\":2}}",
        "\ufeff{\"a\":1}|\ufeff{\"stream_options\":{\"include_usage\":true},\"a\":1}",
        "{\"stream_options\":null,\"\u00fc\":\"z\"}|{\"stream_options\":{\"include_usage\":true},\"\u00fc\":\"z\"}",
      })
  void shouldAskForUsageAndChangeNothingElse(String body, String asked) {
    // when / then
    assertThat(new String(StreamUsage.asked(utf8(body)), StandardCharsets.UTF_8)).isEqualTo(asked);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"{\"stream_options\":{\"include_usage\":true}}", "{\"stream_options\":\"odd\"}"})
  void shouldLeaveABodyAloneThatAsksAlreadyOrIsOdd(String body) {
    // given
    byte[] bytes = utf8(body);

    // when / then
    assertThat(StreamUsage.asked(bytes)).isSameAs(bytes);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 1000})
  void shouldHideTheUsageChunkHoweverTheBytesCome(int size) {
    // given
    String before =
        ": hello\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\" \u00e4\"}}],\"usage\":null}\r\n\r\n";
    String filters = "data: {\"choices\":[],\"prompt_filter_results\":[],\"usage\":null}\n\n";
    String usage = "data: {\"choices\": [],\"usage\":{\"total_tokens\":3}}\n\n";
    String after = "data: [DONE]\n\n";
    byte[] all = utf8(before + filters + usage + after + "data: cut off");
    UsageChunkFilter filter = new UsageChunkFilter();

    // when
    StringBuilder passed = new StringBuilder();
    java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
    for (int from = 0; from < all.length; from += size) {
      int length = Math.min(size, all.length - from);
      ByteBuffer next =
          filter.filter(ByteBuffer.wrap(all, from, length), from + length == all.length);
      out.write(next.array(), 0, next.remaining());
    }
    passed.append(out.toString(StandardCharsets.UTF_8));

    // then
    assertThat(passed.toString())
        .isEqualTo((before + filters).replace(",\"usage\":null", "") + after + "data: cut off");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'usage':null,'a':1}|{'a':1}",
        "{ 'usage' : null , 'a':1 }|{ 'a':1 }",
        "{'usage':null}|{}",
        "{'a':[1,{'usage':null}], 'usage': null}|{'a':[1,{'usage':null}]}",
        "{'a':{'usage':null}}|{'a':{'usage':null}}",
        "{'a':'\u00e4','usage':null,'b':2}|{'a':'\u00e4','b':2}",
        "{'a':1,'usage':{'x':1}}|{'a':1,'usage':{'x':1}}",
        "{'a':1,'usage':null|{'a':1,'usage':null",
        "[DONE]|[DONE]"
      })
  void shouldTakeANullUsageOutAndNothingElse(String chunk, String expected) {
    // given
    String event = "event: x\r\ndata: %s\r\n\r\n";

    // when
    byte[] out = NullUsage.without(utf8(event.formatted(chunk.replace('\'', '"'))));

    // then
    assertThat(new String(out, StandardCharsets.UTF_8))
        .isEqualTo(event.formatted(expected.replace('\'', '"')));
  }

  @Test
  void shouldPassEventsThatAreTooLargeToBeHeld() {
    // given
    String large = "data: {\"choices\":[],\"usage\":{\"x\":\"" + "y".repeat(100_000) + "\"}}\n\n";
    UsageChunkFilter filter = new UsageChunkFilter();

    // when
    ByteBuffer out = filter.filter(ByteBuffer.wrap(utf8(large)), false);

    // then
    assertThat(out.remaining()).isEqualTo(large.length());
  }

  @Test
  void shouldLeaveABodyAloneThatIsNotUtf8() {
    // given
    byte[] bytes = "{\"a\":1}".getBytes(StandardCharsets.UTF_16BE);

    // when / then
    assertThat(StreamUsage.asked(bytes)).isSameAs(bytes);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
