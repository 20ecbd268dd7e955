package dev.fairway.agent.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a body has in base64 is counted as what it is, and never letter by letter. */
class BinaryTokensTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String NOISE = noise(150_000);

  private final TokenizerEstimator estimator = new TokenizerEstimator(new EstimateErrors());

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "OPENAI_CHAT | {'type':'input_audio','input_audio':{'format':'wav','data':'DATA'}} | 46",
        "OPENAI_CHAT | {'type':'input_audio','input_audio':{'format':'mp3','data':'DATA'}} | 187",
        "OPENAI_CHAT | {'type':'input_audio','input_audio':{'format':'pcm16','data':'DATA'}} | 31",
        "OPENAI_CHAT | {'type':'video_url','video_url':{'url':'data:video/mp4;base64,DATA'}} | 360",
        "OPENAI_CHAT | {'type':'image_url','image_url':{'url':'data:image/bmp;base64,DATA'}} | 1600",
        "OPENAI_CHAT | {'type':'image_url','image_url':{'url':'https://x/y.png'}} | 1600",
        "OPENAI_CHAT | {'type':'image_url','image_url':{'url':'https://x/y.png','detail':'low'}} | 85",
        "OPENAI_CHAT | {'type':'file','file':{'file_data':'data:application/pdf;base64,DATA'}} | 7500",
        "OPENAI_CHAT | {'type':'file','file':{'file_id':'file-1'}} | 2500",
        "OPENAI_CHAT | {'type':'unheard_of','unheard_of':'DATA'} | 37500",
        "OPENAI_RESPONSES | {'type':'input_file','file_data':'DATA'} | 7500",
        "OPENAI_RESPONSES | {'type':'input_image','file_id':'file-1'} | 1600",
        "ANTHROPIC_MESSAGES | {'type':'redacted_thinking','data':'DATA'} | 37500",
        "ANTHROPIC_MESSAGES | {'type':'image','source':{'type':'url','url':'https://x/y.png'}} | 1600",
        "ANTHROPIC_MESSAGES | {'type':'document','source':{'type':'base64','media_type':'application/pdf','data':'DATA'}} | 7500",
        "ANTHROPIC_MESSAGES | {'type':'web_search_tool_result','content':[{'type':'web_search_result','encrypted_content':'DATA'}]} | 37500"
      })
  void shouldCountBlocks(CallFormat format, String block, long expected) {
    // when
    long tokens = ofContent(format, block.replace('\'', '"').replace("DATA", NOISE));

    // then: but for a role, and names
    assertThat(tokens).isBetween(expected, expected + 20);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'type':'computer_call_output','call_id':'c','output':{'type':'computer_screenshot','image_url':'data:image/png;base64,DATA'}} | 1600",
        "{'type':'image_generation_call','id':'ig','status':'completed','result':'DATA'} | 1600",
        "{'type':'code_interpreter_call','code':'x','outputs':[{'type':'image','url':'data:image/png;base64,DATA'}]} | 1600",
        "{'type':'reasoning','summary':[],'encrypted_content':'DATA'} | 37500"
      })
  void shouldCountItems(String item, long expected) {
    // when
    long tokens = ofItem(item.replace('\'', '"').replace("DATA", NOISE));

    // then
    assertThat(tokens).isBetween(expected, expected + 20);
  }

  @Test
  void shouldCountScreenshotsByTheirSize() {
    // when / then
    String screenshot =
        "{\"type\":\"computer_call_output\",\"output\":{\"type\":\"computer_screenshot\",\"image_url\":\"data:image/png;base64,%s\"}}";
    assertThat(ofItem(screenshot.formatted(png(1_000, 500)))).isCloseTo(425L, within(10L));
    String generated = "{\"type\":\"image_generation_call\",\"result\":\"%s\"}";
    assertThat(ofItem(generated.formatted(png(1_000, 500)))).isCloseTo(425L, within(10L));
  }

  @Test
  void shouldCountAudioByTheRateInItsHead() {
    // given: three seconds of 24 kHz, 16 bit, stereo
    ByteBuffer wav = ByteBuffer.allocate(44 + 3 * 96_000).order(ByteOrder.LITTLE_ENDIAN);
    wav.put("RIFF....WAVEfmt ".getBytes(StandardCharsets.US_ASCII));
    wav.putInt(16).putShort((short) 1).putShort((short) 2).putInt(24_000).putInt(96_000);
    String base64 = Base64.getEncoder().encodeToString(wav.array());

    // when / then: also where nobody says that it is audio
    assertThat(
            ofContent(
                CallFormat.OPENAI_CHAT,
                "{\"type\":\"input_audio\",\"input_audio\":{\"format\":\"wav\",\"data\":\""
                    + base64
                    + "\"}}"))
        .isBetween(30L, 40L);
    assertThat(ofContent(CallFormat.OPENAI_CHAT, "{\"sound\":\"" + base64 + "\"}"))
        .isBetween(30L, 40L);
  }

  @Test
  void shouldCountAudioThatTheProviderKeeps() {
    // when / then
    assertThat(
            of(
                CallFormat.OPENAI_CHAT,
                "\"messages\":[{\"role\":\"assistant\",\"audio\":{\"id\":\"audio_1\"}}]"))
        .isBetween(300L, 310L);
  }

  @Test
  void shouldCountThePagesOfAPdfThatTellsThem() {
    // given
    String pdf =
        "%PDF-1.4\n1 0 obj<</Type /Pages /Count 7>>endobj\n"
            + "2 0 obj<</Type /Page /Parent 1 0 R>>endobj\n".repeat(5)
            + "3 0 obj<</Type/Page>>endobj 4 0 obj<</Type\n/Page\n>>endobj";

    // when / then
    assertThat(PdfPages.of(base64(pdf))).isEqualTo(7);
    assertThat(ofPdf(base64(pdf))).isBetween(7 * 2_500L, 7 * 2_500L + 10);
    assertThat(ofPdf("data:application/pdf;base64," + base64(pdf)))
        .isBetween(7 * 2_500L, 7 * 2_500L + 10);
  }

  @Test
  void shouldTakeTheSizeOfAPdfThatDoesNotTellItsPages() {
    // given: 300,000 characters
    String pdf = base64("%PDF-1.7\n" + "x".repeat(224_991));

    // when / then
    assertThat(PdfPages.of(pdf)).isZero();
    assertThat(ofPdf(pdf)).isBetween(5 * 2_500L, 5 * 2_500L + 10);
    assertThat(PdfPages.of("JVBERi%%%%")).isZero();
    String pages = base64("%PDF-1.4 /Type /Page /Type /Page");
    assertThat(PdfPages.of(pages)).isEqualTo(2);
    assertThat(PdfPages.of(pages + "A".repeat(PdfPages.CHARS_MAX))).isZero();
  }

  @Test
  void shouldCountNoMorePagesThanAProviderTakes() {
    // when / then
    assertThat(ofPdf(base64("%PDF-1.4" + " /Type /Page".repeat(100_000))))
        .isBetween(3_000 * 2_500L, 3_000 * 2_500L + 10);
  }

  @Test
  void shouldReadDocumentsThatAreTexts() {
    // given
    String words = "word ".repeat(200);

    // when / then
    for (String document :
        new String[] {
          "{\"type\":\"document\",\"source\":{\"type\":\"text\",\"data\":\"" + words + "\"}}",
          "{\"type\":\"document\",\"title\":\""
              + words
              + "\",\"source\":{\"type\":\"content\",\"content\":[]}}",
          "{\"type\":\"document\",\"source\":{\"type\":\"content\",\"content\":[{\"type\":\"text\",\"text\":\""
              + words
              + "\"}]}}",
          "{\"type\":\"file\",\"file\":{\"file_data\":\"data:text/plain;base64,"
              + base64(words)
              + "\"}}"
        }) {
      assertThat(ofContent(CallFormat.ANTHROPIC_MESSAGES, document))
          .as(document)
          .isBetween(200L, 210L);
    }
  }

  @Test
  void shouldReadBase64LetterByLetterWhereTheModelDoes() {
    // given: what an API defines as text is read as text, whatever it is
    String text = NOISE.substring(0, 4_000);

    // when / then
    for (String item :
        new String[] {
          "{\"role\":\"user\",\"content\":\"" + text + "\"}",
          "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"" + text + "\"}]}",
          "{\"type\":\"function_call_output\",\"output\":\"" + text + "\"}",
          "{\"type\":\"function_call\",\"arguments\":\"" + text + "\"}"
        }) {
      assertThat(ofItem(item)).as(item).isGreaterThan(2_000);
    }
  }

  @Test
  void shouldTakeWhatIsShortOrHasSpacesForText() {
    // when / then
    assertThat(BinaryTokens.of("a".repeat(BinaryTokens.CHARS_MIN - 1), "", true)).isNull();
    assertThat(BinaryTokens.of("a".repeat(BinaryTokens.CHARS_MIN), "", true)).isNotNull();
    assertThat(BinaryTokens.of("word ".repeat(100), "", true)).isNull();
    assertThat(BinaryTokens.of("data:text/plain,hello", "", true)).isNull();
    assertThat(BinaryTokens.of("data:" + "x".repeat(300) + ";base64,", "", true)).isNull();
  }

  static String png(int width, int height) {
    ByteBuffer png = ByteBuffer.allocate(30_000);
    png.put(new byte[] {(byte) 0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13});
    png.put("IHDR".getBytes(StandardCharsets.US_ASCII)).putInt(width).putInt(height);
    return Base64.getEncoder().encodeToString(png.array());
  }

  private static String noise(int length) {
    byte[] random = new byte[length];
    new Random(1).nextBytes(random);
    return Base64.getEncoder().encodeToString(random);
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private long ofPdf(String data) {
    return ofContent(
        CallFormat.ANTHROPIC_MESSAGES,
        "{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"data\":\"" + data + "\"}}");
  }

  private long ofContent(CallFormat format, String block) {
    String turns = format == CallFormat.OPENAI_RESPONSES ? "input" : "messages";
    return of(format, "\"" + turns + "\":[{\"role\":\"user\",\"content\":[" + block + "]}]");
  }

  private long ofItem(String item) {
    return of(CallFormat.OPENAI_RESPONSES, "\"input\":[" + item + "]");
  }

  private long of(CallFormat format, String fields) {
    try {
      return estimator.estimate(format, "gpt-4o", JSON.readTree("{" + fields + "}")).inputTokens();
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }
}
