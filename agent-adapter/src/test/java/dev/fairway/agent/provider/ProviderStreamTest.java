package dev.fairway.agent.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a stream says while it passes, and in the end. */
class ProviderStreamTest {
  private static final String START =
      "event: message_start\ndata: {'type':'message_start','message':{'usage':{'input_tokens':25,"
          + "'cache_creation_input_tokens':3,'cache_read_input_tokens':4,'output_tokens':1}}}\n\n";
  private static final String DELTA =
      "event: content_block_delta\ndata: {'type':'content_block_delta','delta':{'text':'Hello'}}\n\n";
  private static final String OVERLOADED =
      "event: error\ndata: {'type':'error','error':{'type':'overloaded_error','message':'Overloaded'}}\n\n";

  private final ProviderStream anthropic =
      ProviderProfiles.of("anthropic").stream(Answers.answer(200).response());

  private static void feed(ProviderStream stream, String sse) {
    byte[] bytes = sse.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    stream.read(bytes, 0, bytes.length);
  }

  @Test
  void shouldTellTheInputAtTheStartAndTheOutputAtTheEnd() {
    // when / then
    assertThat(anthropic.usage()).isNull();
    feed(anthropic, START);
    assertThat(anthropic.usage()).isEqualTo(new ProviderUsage(25L, 4L, 3L, null, true));
    assertThat(anthropic.contentBegun()).isFalse();
    feed(anthropic, DELTA);
    assertThat(anthropic.contentBegun()).isTrue();
    feed(
        anthropic,
        "event: message_delta\ndata: {'type':'message_delta','usage':{'output_tokens':15}}\n\n");
    assertThat(anthropic.finished()).isFalse();
    feed(anthropic, "event: message_stop\ndata: {'type':'message_stop'}\n\n");

    // then
    assertThat(anthropic.finished()).isTrue();
    assertThat(anthropic.end().usage()).isEqualTo(new ProviderUsage(25L, 4L, 3L, 15L, true));
    assertThat(anthropic.end().kind()).isEqualTo(AnswerClass.OK);
  }

  @Test
  void shouldKnowToTheEndHowLongACacheIsKept() {
    // when: only the start says it
    feed(
        anthropic,
        "data: {'type':'message_start','message':{'usage':{'input_tokens':25,'cache_creation':"
            + "{'ephemeral_5m_input_tokens':0,'ephemeral_1h_input_tokens':3}}}}\n\n");
    assertThat(anthropic.usage().cacheTtlMs()).isEqualTo(3_600_000);
    feed(anthropic, "data: {'type':'message_delta','usage':{'output_tokens':15}}\n\n");
    feed(anthropic, "data: {'type':'message_stop'}\n\n");

    // then
    assertThat(anthropic.end().usage())
        .isEqualTo(new ProviderUsage(25L, null, 3L, 15L, true, 3_600_000L));
  }

  @Test
  void shouldTakeTheLastOfSeveralTotals() {
    // when
    feed(anthropic, START);
    for (int output : new int[] {10, 20, 47}) {
      feed(
          anthropic,
          "data: {'type':'message_delta','usage':{'input_tokens':25,'output_tokens':"
              + output
              + "}}\n\n");
    }

    // then
    assertThat(anthropic.end().usage()).isEqualTo(new ProviderUsage(25L, 4L, 3L, 47L, true));
  }

  @Test
  void shouldLeaveTheOutputUnknownWhereTheStreamBreaksOff() {
    // when
    feed(anthropic, START + DELTA);

    // then
    assertThat(anthropic.end().usage()).isEqualTo(new ProviderUsage(25L, 4L, 3L, null, false));
    assertThat(anthropic.finished()).isFalse();
  }

  @Test
  void shouldRetryAnOverloadBeforeTheFirstDeltaOnly() {
    // given
    ProviderReading before = Answers.stream("anthropic", START + OVERLOADED);
    ProviderReading after = Answers.stream("anthropic", START + DELTA + OVERLOADED);

    // then
    assertThat(before.kind()).isEqualTo(AnswerClass.OVERLOADED);
    assertThat(before.retry()).isTrue();
    assertThat(after.kind()).isEqualTo(AnswerClass.OVERLOADED);
    assertThat(after.retry()).isFalse();
    assertThat(after.usage().inputTokens()).isEqualTo(25);
  }

  @Test
  void shouldNotWaitForARetryAfterThatCameWithA200() {
    // given
    ProviderStream stream =
        ProviderProfiles.of("anthropic").stream(
            Answers.answer(200)
                .header("retry-after", "59")
                .header("anthropic-ratelimit-requests-limit", "50")
                .response());

    // when
    feed(stream, OVERLOADED);

    // then
    assertThat(stream.end().waitMs()).isNull();
    assertThat(stream.end().limits()).containsOnlyKeys(Dimension.REQUESTS);
  }

  @Test
  void shouldReadAnErrorInsideAStreamOfOpenRouter() {
    // when
    ProviderReading reading =
        Answers.stream(
            "openrouter",
            ": OPENROUTER PROCESSING\n\ndata: {'id':'x','error':{'code':429,'message':'slow',"
                + "'metadata':{'headers':{'Retry-After':'3'}}},"
                + "'choices':[{'delta':{'content':''},'finish_reason':'error'}]}\n\n");

    // then
    assertThat(reading.kind()).isEqualTo(AnswerClass.RATE_LIMITED);
    assertThat(reading.waitMs()).isEqualTo(3_000);
  }

  @Test
  void shouldReadTheResponsesApi() {
    // when
    ProviderReading completed =
        Answers.stream(
            "openai",
            "event: response.created\ndata: {'type':'response.created','response':{'usage':null,'error':null}}\n\n"
                + "event: response.output_text.delta\ndata: {'type':'response.output_text.delta','delta':'x'}\n\n"
                + "event: response.completed\ndata: {'type':'response.completed','response':{'error':null,"
                + "'output':[{'content':[{'usage':9}]}],'usage':{'input_tokens':72,"
                + "'input_tokens_details':{'cached_tokens':70},'output_tokens':14}}}\n\n");
    ProviderReading failed =
        Answers.stream(
            "openai",
            "data: {'type':'response.failed','response':{'status':'failed','error':"
                + "{'code':'rate_limit_exceeded','message':'Please try again in 2s.'}}}\n\n");
    ProviderReading flat =
        Answers.stream(
            "openai",
            "event: error\ndata: {'type':'error','code':'server_error','message':'m','param':null}\n\n");

    // then
    assertThat(completed.usage()).isEqualTo(new ProviderUsage(2L, 70L, null, 14L, true));
    assertThat(failed.kind()).isEqualTo(AnswerClass.RATE_LIMITED);
    assertThat(failed.waitMs()).isEqualTo(2_000);
    assertThat(failed.retry()).isTrue();
    assertThat(flat.kind()).isEqualTo(AnswerClass.ERROR);
  }

  @Test
  void shouldReadGeminisRepeatedUsage() {
    // given
    String chunk =
        "data: {'candidates':[{'content':{}%s}],'usageMetadata':{'promptTokenCount':5,"
            + "'candidatesTokenCount':%d,'thoughtsTokenCount':10}}\r\n\r\n";

    // when
    ProviderReading whole =
        Answers.stream(
            "gemini", chunk.formatted("", 3) + chunk.formatted(",'finishReason':'STOP'", 8));
    ProviderReading cut = Answers.stream("gemini", chunk.formatted("", 3));

    // then
    assertThat(whole.usage()).isEqualTo(new ProviderUsage(5L, null, null, 18L, true));
    assertThat(cut.usage()).isEqualTo(new ProviderUsage(5L, null, null, 13L, false));
  }

  @Test
  void shouldKnowNothingOfAnInterruptedStreamOfOpenAi() {
    // when
    ProviderReading reading =
        Answers.stream("openai", "data: {'choices':[{'delta':{'content':'a'}}],'usage':null}\n\n");

    // then
    assertThat(reading.usage()).isNull();
    assertThat(reading.kind()).isEqualTo(AnswerClass.OK);
  }

  @Test
  void shouldReadLegacyCompletionsGroqAndCohere() {
    assertThat(
            Answers.stream(
                    "openai",
                    "data: {'object':'text_completion','choices':[{'text':'a','finish_reason':'stop'}],"
                        + "'usage':{'prompt_tokens':1,'completion_tokens':2}}\n\ndata: [DONE]\n\n")
                .usage())
        .isEqualTo(new ProviderUsage(1L, null, null, 2L, true));
    assertThat(
            Answers.stream(
                    "groq",
                    "data: {'choices':[{'delta':{},'finish_reason':'stop'}],'x_groq':{'usage':"
                        + "{'prompt_tokens':18,'completion_tokens':73}}}\n\n")
                .usage())
        .isEqualTo(new ProviderUsage(18L, null, null, 73L, true));
    assertThat(
            Answers.stream(
                    "generic",
                    "data: {'type':'message-end','delta':{'usage':{'tokens':{'input_tokens':69,'output_tokens':89}}}}\n\n")
                .usage())
        .isEqualTo(new ProviderUsage(69L, null, null, 89L, true));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\ufeffdata: {'choices':[],'usage':{'prompt_tokens':11,'completion_tokens':9}}\n\n",
        "data:{'choices':[],'usage':{'prompt_tokens':11,'completion_tokens':9}}\n\n",
        "data: {'choices':[],'usage':{'prompt_tokens':11,'completion_tokens':9}}\r\n\r\n",
        "data: {'choices':[],'usage':{'prompt_tokens':11,'completion_tokens':9}}\r\r",
        "data: {'choices':[],'usage':{'prompt_tokens':11,'completion_tokens':9}}",
        "id: 7\nretry: 3\n: comment\ndata: {'choices':[],\ndata: 'usage':{'prompt_tokens':11,'completion_tokens':9}}\n\n",
        "\n\n: keep-alive\n\ndata\n\ndata: nonsense\n\ndata: {'choices':[],'usage':{'prompt_tokens':11,'completion_tokens':9}}\n\n",
        "database: {}\ndata: {'choices':[],'usage':{'prompt_tokens':11,'completion_tokens':9}}\n\n"
      })
  void shouldReadServerSentEventsHoweverTheyAreWritten(String sse) {
    assertThat(Answers.stream("openai", sse).usage())
        .isEqualTo(new ProviderUsage(11L, null, null, 9L, true));
  }

  @Test
  void shouldIgnoreAnEventThatIsCutInTheMiddle() {
    assertThat(
            Answers.stream(
                    "openai",
                    "data: {'choices':[],'usage':{'prompt_tokens':11,'completion_tokens':9")
                .usage())
        .isNull();
  }

  @Test
  void shouldReadSeveralByteOrderMarksTheSameHoweverTheyAreCut() {
    // given
    byte[] sse =
        "data: \ufeff\ufeff{\"type\":\"message_delta\",\"usage\":{\"output_tokens\":47}}\n\n"
            .getBytes(StandardCharsets.UTF_8);
    ProviderStream whole = ProviderProfiles.of("anthropic").stream(Answers.answer(200).response());

    // when
    whole.read(sse, 0, sse.length);
    for (int i = 0; i < sse.length; i++) {
      anthropic.read(sse, i, 1);
    }

    // then
    assertThat(whole.end()).isEqualTo(anthropic.end());
  }

  @Test
  void shouldTakeNoMoreAfterItsEnd() {
    // given
    anthropic.end();

    // then
    assertThatThrownBy(() -> feed(anthropic, START)).isInstanceOf(IllegalStateException.class);
  }
}
