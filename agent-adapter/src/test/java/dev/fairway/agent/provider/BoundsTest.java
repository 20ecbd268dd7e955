package dev.fairway.agent.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What happens at each bound, and that memory does not follow what is read. */
class BoundsTest {
  private static final String USAGE = "\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":9}";
  private static final ProviderUsage READ = new ProviderUsage(11L, null, null, 9L, true);

  private static ProviderUsage usage(String body) {
    return ProviderProfiles.of("openai")
        .read(new ProviderResponse(200, ResponseHeaders.none(), ResponseBody.of(body), null))
        .usage();
  }

  @Test
  void shouldReadUsageBehindContentOfAnySize() {
    // given: 64 MiB in pieces, each text below the bound
    BodyReader reader = new BodyReader();
    byte[] piece = ("\"" + "x".repeat(1 << 20) + "\",").getBytes(StandardCharsets.UTF_8);
    write(reader, "{\"output\":[");
    for (int i = 0; i < 64; i++) {
      reader.read(piece, 0, piece.length);
    }
    write(reader, "0]," + USAGE + "}");

    // when
    ResponseBody body = reader.end();

    // then
    assertThat(body.isWhole()).isTrue();
    assertThat(body.json().toString().length()).isLessThan(200);
    assertThat(UsageShapes.find(body.json())).isEqualTo(READ);
    assertThat(body.text()).hasSize(BodyReader.TEXT_MAX);
  }

  @Test
  void shouldReadAnEventOfManyMegabytes() {
    // given
    ProviderStream stream =
        ProviderProfiles.of("openai").stream(
            new ProviderResponse(200, ResponseHeaders.none(), ResponseBody.none(), null));
    byte[] event =
        ("data: {\"type\":\"response.completed\",\"response\":{\"output\":[\""
                + "x".repeat(8 << 20)
                + "\"],"
                + USAGE
                + "}}\n\n")
            .getBytes(StandardCharsets.UTF_8);

    // when
    stream.read(event, 0, event.length);

    // then
    assertThat(stream.end().usage()).isEqualTo(READ);
  }

  @Test
  void shouldGiveUpOnATextPastTheBoundAndKnowNothing() {
    assertThat(usage("{\"a\":\"" + "x".repeat(JsonTreeReader.STRING_MAX + 1) + "\"," + USAGE + "}"))
        .isNull();
  }

  @Test
  void shouldGiveUpOnNestingPastTheBound() {
    // given
    String within = "[".repeat(500) + "]".repeat(500);
    String past = "[".repeat(100_000) + "]".repeat(100_000);

    // then
    assertThat(usage("{\"a\":" + within + "," + USAGE + "}")).isEqualTo(READ);
    assertThat(usage("{\"a\":" + past + "," + USAGE + "}")).isNull();
  }

  @Test
  void shouldPassOverDepthOfNamesThatAreKept() {
    // given
    String deep = "{\"error\":".repeat(400) + "1" + "}".repeat(400);

    // then
    assertThat(usage("{" + USAGE + ",\"error\":" + deep + "}")).isEqualTo(READ);
  }

  @Test
  void shouldKeepAtMostSoManyValues() {
    // given
    StringBuilder body = new StringBuilder("{" + USAGE);
    for (int i = 0; i < 100_000; i++) {
      body.append(",\"k").append(i).append("\":").append(i);
    }
    ResponseBody read = ResponseBody.of(body.append(",\"error\":{\"code\":\"x\"}}").toString());

    // then: what came first is kept, what came late is passed over
    assertThat(read.isWhole()).isTrue();
    assertThat(read.json().size()).isLessThanOrEqualTo(JsonTreeReader.NODES_MAX);
    assertThat(UsageShapes.find(read.json())).isEqualTo(READ);
    assertThat(read.json().has("error")).isFalse();
  }

  @Test
  void shouldKeepAtMostSoManyElementsAndTheBeginningOfATextInFull() {
    // given
    ResponseBody body =
        ResponseBody.of(
            "{\"error\":{\"message\":\""
                + "m".repeat(10_000)
                + "\",\"details\":["
                + "{},".repeat(1_000)
                + "{}]}}");

    // then
    assertThat(body.json().at("/error/message").textValue()).hasSize(JsonTreeReader.TEXT_MAX);
    assertThat(body.json().at("/error/details")).hasSize(JsonTreeReader.ELEMENTS_MAX);
  }

  @Test
  void shouldTakeNumbersPastAnyBoundAsUnknown() {
    assertThat(usage("{\"usage\":{\"prompt_tokens\":1e999999999,\"completion_tokens\":9}}"))
        .isEqualTo(new ProviderUsage(null, null, null, 9L, true));
    assertThat(
            usage("{\"usage\":{\"prompt_tokens\":99999999999999999999,\"completion_tokens\":9}}"))
        .isEqualTo(new ProviderUsage(null, null, null, 9L, true));
    assertThat(usage("{\"a\":" + "9".repeat(100_000) + "," + USAGE + "}")).isEqualTo(READ);
    assertThat(usage("{\"a\":1." + "9".repeat(100_000) + "," + USAGE + "}")).isEqualTo(READ);
  }

  @Test
  void shouldPassOverBlanksAndOneByteOrderMark() {
    assertThat(usage("\ufeff \r\n{" + USAGE + "}")).isEqualTo(READ);
    assertThat(usage("\ufeff\ufeff{" + USAGE + "}")).isNull();
    assertThat(usage(" \ufeff{" + USAGE + "}")).isNull();
  }

  @Test
  void shouldKeepAtMostSoManyHeadersOfAtMostThatLength() {
    // given
    ResponseHeaders.Builder builder = ResponseHeaders.builder();
    builder.add("retry-after", "7".repeat(ResponseHeaders.LENGTH_MAX + 1));
    builder.add("x-ratelimit-limit-tokens", "5");
    builder.add("X-RateLimit-Limit-Tokens", "6");
    for (int i = 0; i < 10_000; i++) {
      builder.add("h" + i, "v");
    }
    builder.add("retry-after-ms", "7");

    // when
    ResponseHeaders headers = builder.build();

    // then
    assertThat(headers.get("retry-after")).isNull();
    assertThat(headers.get("retry-after-ms")).as("past the count").isNull();
    assertThat(headers.get("x-ratelimit-limit-tokens")).isEqualTo("5");
  }

  private static void write(BodyReader reader, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    reader.read(bytes, 0, bytes.length);
  }
}
