package dev.fairway.agent.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** When a provider is asked to count, and what is made of its answers. */
class CountedTokensTest {
  private static final String MODEL = "claude-x";

  private final EstimateErrors errors = new EstimateErrors();
  private final AtomicLong nowMs = new AtomicLong(1_000_000);
  private final AtomicInteger asked = new AtomicInteger();
  private final CountedTokens counts =
      new CountedTokens(6_000_000, Duration.ofSeconds(30), errors, nowMs::get);
  private Long answer = 777L;

  @Test
  void shouldAskNoMoreOnceTheTokenizerIsGoodEnough() {
    // given: a tokenizer that is off by 1 %
    for (int i = 0; i < CountedTokens.CALLS_TO_JUDGE - 1; i++) {
      errors.observe(MODEL, 101, 100, 1);
    }

    // when / then: one call before it is judged
    assertThat(count("one")).isEqualTo(777);
    errors.observe(MODEL, 101, 100, 1);
    assertThat(count("two")).isNull();
    assertThat(count("one")).isNull();
    assertThat(asked).hasValue(1);
  }

  @Test
  void shouldAskForAModelThatTheTokenizerIsWrongAbout() {
    // given: one call in five is off by 4 %
    for (int i = 0; i < 5 * CountedTokens.CALLS_TO_JUDGE; i++) {
      errors.observe(MODEL, i % 5 == 0 ? 104 : 100, 100, 1);
      errors.observe("claude-y", 100, 100, 1);
    }

    // when / then
    assertThat(count("one")).isEqualTo(777);
    assertThat(asked).hasValue(1);
  }

  @Test
  void shouldTakeNoCountThatIsNone() {
    // given
    answer = 0L;

    // when / then: nobody is asked for a while
    assertThat(count("one")).isNull();
    answer = 5L;
    nowMs.addAndGet(CountedTokens.PAUSE_MS - 1);
    assertThat(count("one")).isNull();
    nowMs.addAndGet(1_000);
    assertThat(count("one")).isEqualTo(5);
    assertThat(asked).hasValue(2);
  }

  @Test
  void shouldTakeAFailureForNoCount() {
    // when / then
    assertThat(
            counts
                .count(
                    MODEL,
                    message("one"),
                    body -> CompletableFuture.failedFuture(new IllegalStateException("no")))
                .join())
        .isNull();
    assertThat(count("one")).isNull();
    assertThat(asked).hasValue(0);
  }

  @Test
  void shouldForgetTheCountThatIsUnusedLongest() {
    // given: as many as are remembered, the first of which was used again
    for (int i = 0; i < CountedTokens.COUNTS_MAX; i++) {
      assertThat(count("text " + i)).isEqualTo(777);
      nowMs.addAndGet(1);
    }
    assertThat(count("text 0")).isEqualTo(777);
    assertThat(asked).hasValue(CountedTokens.COUNTS_MAX);

    // when
    count("one more");

    // then
    assertThat(asked).hasValue(CountedTokens.COUNTS_MAX + 1);
    count("text 0");
    assertThat(asked).hasValue(CountedTokens.COUNTS_MAX + 1);
    count("text 1");
    assertThat(asked).hasValue(CountedTokens.COUNTS_MAX + 2);
  }

  @Test
  void shouldKnowTheErrorOfNineCallsInTen() {
    // given
    for (int i = 0; i < 18; i++) {
      errors.observe(MODEL, 100, 101, 1);
    }
    assertThat(errors.of(MODEL).bias()).isCloseTo(-1 / 101.0, within(1e-9));

    // when / then
    errors.observe(MODEL, 200, 100, 1);
    assertThat(errors.of(MODEL).errorP90()).isLessThan(CountedTokens.GOOD_ENOUGH);
    errors.observe(MODEL, 200, 100, 1);
    errors.observe(MODEL, 200, 100, 1);
    assertThat(errors.of(MODEL).errorP90()).isEqualTo(1);
    assertThat(errors.of(MODEL).errorP50()).isLessThan(CountedTokens.GOOD_ENOUGH);
  }

  private Long count(String text) {
    return counts
        .count(
            MODEL,
            message(text),
            body -> {
              asked.incrementAndGet();
              return CompletableFuture.completedFuture(answer);
            })
        .join();
  }

  private static JsonNode message(String text) {
    ObjectNode message = new ObjectMapper().createObjectNode();
    message.put("model", MODEL).putArray("messages").addObject().put("content", text);
    return message;
  }
}
