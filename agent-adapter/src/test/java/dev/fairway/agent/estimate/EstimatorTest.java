package dev.fairway.agent.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.estimate.InputEstimator.Input;
import java.util.Base64;
import org.junit.jupiter.api.Test;

/** Estimates count what the model reads, and learn by how much they are off. */
class EstimatorTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final TokenizerEstimator estimator = new TokenizerEstimator(new EstimateErrors());

  @Test
  void shouldCountSystemPromptMessagesAndTools() {
    // given
    String text = "The quick brown fox jumps over the lazy dog. ".repeat(20);

    // when
    Input alone =
        estimate(
            CallFormat.ANTHROPIC_MESSAGES,
            "\"messages\":[{\"role\":\"user\",\"content\":\"" + text + "\"}]");
    Input withSystem =
        estimate(
            CallFormat.ANTHROPIC_MESSAGES,
            "\"system\":[{\"type\":\"text\",\"text\":\""
                + text
                + "\"}],\"messages\":[{\"role\":\"user\",\"content\":\""
                + text
                + "\"}]");
    Input withTools =
        estimate(
            CallFormat.ANTHROPIC_MESSAGES,
            "\"messages\":[{\"role\":\"user\",\"content\":\""
                + text
                + "\"}],\"tools\":[{\"name\":\"t\",\"description\":\""
                + text
                + "\",\"input_schema\":{\"type\":\"object\"}}]");

    // then
    assertThat(alone.inputTokens()).isBetween(195L, 215L);
    assertThat(withSystem.inputTokens() - alone.inputTokens()).isBetween(195L, 215L);
    assertThat(withTools.inputTokens() - alone.inputTokens()).isBetween(530L, 600L);
  }

  @Test
  void shouldCountToolsAndSchemasOfOpenAi() {
    // given
    String text = "The quick brown fox jumps over the lazy dog. ".repeat(20);
    String chat = "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]";
    String responses = "\"input\":\"hi\"";
    String schema = "{\"type\":\"object\",\"description\":\"" + text + "\"}";

    // when / then
    for (String more :
        new String[] {
          ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":"
              + schema
              + "}}]",
          ",\"functions\":[{\"name\":\"f\",\"parameters\":" + schema + "}]",
          ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"schema\":"
              + schema
              + "}}"
        }) {
      assertThat(more(CallFormat.OPENAI_CHAT, chat, more)).as(more).isBetween(205L, 260L);
    }
    for (String more :
        new String[] {
          ",\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"parameters\":" + schema + "}]",
          ",\"text\":{\"format\":{\"type\":\"json_schema\",\"schema\":" + schema + "}}"
        }) {
      assertThat(more(CallFormat.OPENAI_RESPONSES, responses, more)).as(more).isBetween(205L, 260L);
    }
    for (String field : new String[] {"output_format", "output_config"}) {
      assertThat(
              more(
                  CallFormat.ANTHROPIC_MESSAGES,
                  chat,
                  ",\"" + field + "\":{\"schema\":" + schema + "}"))
          .as(field)
          .isBetween(205L, 260L);
    }
  }

  @Test
  void shouldCountEachToolOfOpenAi() {
    // given
    String chat = "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]";
    String tool = "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}";

    // when
    long one = more(CallFormat.OPENAI_CHAT, chat, ",\"tools\":[" + tool + "]");
    long two = more(CallFormat.OPENAI_CHAT, chat, ",\"tools\":[" + tool + "," + tool + "]");

    // then: what is written, and what the provider writes around it
    assertThat(one).isBetween(18L, 26L);
    assertThat(two - one).isBetween(15L, 26L);
  }

  private long more(CallFormat format, String body, String more) {
    return estimate(format, body + more).inputTokens() - estimate(format, body).inputTokens();
  }

  @Test
  void shouldCountToolCallsAndTheirResults() {
    // given
    String text = "alpha beta gamma delta ".repeat(50);

    // when
    Input messages =
        estimate(
            CallFormat.ANTHROPIC_MESSAGES,
            "\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"t\",\"input\":{\"q\":\""
                + text
                + "\"}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"x\",\"content\":\""
                + text
                + "\"}]}]");
    Input responses =
        estimate(
            CallFormat.OPENAI_RESPONSES,
            "\"input\":[{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"t\",\"arguments\":\""
                + text
                + "\"},{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\""
                + text
                + "\"}]");

    // then
    assertThat(messages.inputTokens()).isBetween(400L, 440L);
    assertThat(responses.inputTokens()).isBetween(400L, 440L);
  }

  @Test
  void shouldCountImagesByTheirSizeAndNotByTheirBytes() {
    // given: 1000 x 500
    byte[] png = new byte[30_000];
    byte[] head = {
      (byte) 0x89,
      'P',
      'N',
      'G',
      13,
      10,
      26,
      10,
      0,
      0,
      0,
      13,
      'I',
      'H',
      'D',
      'R',
      0,
      0,
      3,
      (byte) 0xe8,
      0,
      0,
      1,
      (byte) 0xf4
    };
    System.arraycopy(head, 0, png, 0, head.length);
    String base64 = Base64.getEncoder().encodeToString(png);

    // when
    Input anthropic =
        estimate(
            CallFormat.ANTHROPIC_MESSAGES,
            "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\""
                + base64
                + "\"}}]}]");
    Input openai =
        estimate(
            CallFormat.OPENAI_CHAT,
            "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,"
                + base64
                + "\"}}]}]");

    // then
    assertThat(anthropic.inputTokens()).isCloseTo(667L, within(5L));
    assertThat(openai.inputTokens()).isCloseTo(85L + 2 * 170, within(5L));
  }

  @Test
  void shouldReadTheSizesOfImageFormats() {
    // when / then
    assertThat(size(bytes("GIF89a", 0x40, 0x01, 0xf0, 0x00))).isEqualTo(new ImageSize(320, 240));
    assertThat(
            size(
                bytes(
                    "\u00ff\u00d8\u00ff\u00e0",
                    0,
                    4,
                    0,
                    0,
                    0xff,
                    0xc0,
                    0,
                    17,
                    8,
                    0x01,
                    0x00,
                    0x02,
                    0x00,
                    3)))
        .isEqualTo(new ImageSize(512, 256));
    assertThat(size(bytes("RIFF....WEBPVP8X....", 0, 0, 0, 0, 0x3f, 0x01, 0, 0xef, 0, 0)))
        .isEqualTo(new ImageSize(320, 240));
    assertThat(size(bytes("RIFF....WEBPVP8L....\u002f", 0x3f, 0xc1, 0x3b, 0x00)))
        .isEqualTo(new ImageSize(320, 240));
    assertThat(
            size(bytes("RIFF....WEBPVP8 ....", 0, 0, 0, 0x9d, 0x01, 0x2a, 0x40, 0x01, 0xf0, 0x00)))
        .isEqualTo(new ImageSize(320, 240));
    assertThat(size(bytes("RIFF....WAVEfmt ....", 1, 2, 3, 4, 5, 6, 7, 8))).isNull();
    assertThat(size(bytes("nothing known here at all"))).isNull();
    assertThat(ImageSize.ofBase64("%%%%")).isNull();
  }

  @Test
  void shouldCountEmbeddingsInEachOfTheirForms() {
    // when / then
    assertThat(estimate(CallFormat.OPENAI_EMBEDDINGS, "\"input\":\"one two\"").inputTokens())
        .isEqualTo(2);
    assertThat(
            estimate(CallFormat.OPENAI_EMBEDDINGS, "\"input\":[\"one two\",\"three\"]")
                .inputTokens())
        .isEqualTo(3);
    assertThat(estimate(CallFormat.OPENAI_EMBEDDINGS, "\"input\":[[1,2,3],[4]]").inputTokens())
        .isEqualTo(4);
  }

  @Test
  void shouldCountHugeTextsBySamples() {
    // given
    TokenCounter counter = new TokenCounter();
    String unit = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. ";
    int units = TokenCounter.COUNTED_CHARS_MAX / unit.length() * 4;

    // when
    int whole = counter.count(unit.repeat(100), TokenCounter.Vocabulary.CL100K);
    int sampled = counter.count(unit.repeat(units), TokenCounter.Vocabulary.CL100K);

    // then
    assertThat((double) sampled)
        .isCloseTo(whole / 100.0 * units, within(whole / 100.0 * units * 0.02));
  }

  @Test
  void shouldChooseTheVocabularyByTheModel() {
    // when / then
    assertThat(TokenCounter.Vocabulary.of("gpt-4o-mini")).isEqualTo(TokenCounter.Vocabulary.O200K);
    assertThat(TokenCounter.Vocabulary.of("openai/o3")).isEqualTo(TokenCounter.Vocabulary.O200K);
    assertThat(TokenCounter.Vocabulary.of("gpt-4-turbo")).isEqualTo(TokenCounter.Vocabulary.CL100K);
    assertThat(TokenCounter.Vocabulary.of("claude-sonnet-4-5"))
        .isEqualTo(TokenCounter.Vocabulary.CL100K);
  }

  private Input estimate(CallFormat format, String fields) {
    try {
      return estimator.estimate(format, "model-1", JSON.readTree("{" + fields + "}"));
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  private static ImageSize size(byte[] bytes) {
    return ImageSize.ofBase64(Base64.getEncoder().encodeToString(bytes));
  }

  private static byte[] bytes(String head, int... rest) {
    byte[] bytes = new byte[head.length() + rest.length + 30];
    for (int i = 0; i < head.length(); i++) {
      bytes[i] = (byte) head.charAt(i);
    }
    for (int i = 0; i < rest.length; i++) {
      bytes[head.length() + i] = (byte) rest[i];
    }
    return bytes;
  }
}
