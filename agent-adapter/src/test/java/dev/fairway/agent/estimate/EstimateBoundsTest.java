package dev.fairway.agent.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.estimate.InputEstimator.Input;
import dev.fairway.agent.estimate.TokenCounter.Vocabulary;
import org.junit.jupiter.api.Test;

/** Every book here has a bound, at which it forgets what was unused longest. */
class EstimateBoundsTest {
  @Test
  void shouldForgetTheAgentUnusedLongest() throws JsonProcessingException {
    // given: as many as are known, the first of which was looked up again
    PrefixBook book = new PrefixBook();
    JsonNode body = json("{\"input\":\"hi\"}");
    for (int i = 0; i < PrefixBook.AGENTS_MAX; i++) {
      book.used("agent-" + i, "m", PrefixBook.content(body), 100, PrefixBook.TTL_MS, 0);
    }
    assertThat(book.of("agent-0", "m", body, 1)).isNotNull();

    // when
    book.used("one-more", "m", PrefixBook.content(body), 100, PrefixBook.TTL_MS, 0);

    // then
    assertThat(book.of("one-more", "m", body, 1)).isNotNull();
    assertThat(book.of("agent-0", "m", body, 1)).isNotNull();
    assertThat(book.of("agent-1", "m", body, 1)).isNull();
    assertThat(book.of("agent-2", "m", body, 1)).isNotNull();
  }

  @Test
  void shouldForgetTheErrorsOfTheModelUnusedLongest() {
    // given
    EstimateErrors errors = new EstimateErrors();
    for (int i = 0; i < EstimateErrors.MODELS_MAX; i++) {
      errors.observe("model-" + i, 100, 100, 1);
    }
    assertThat(errors.of("model-0")).isNotNull();

    // when
    errors.observe("one-more", 100, 100, 1);

    // then
    assertThat(errors.all()).hasSize(EstimateErrors.MODELS_MAX).containsKeys("model-0", "one-more");
    assertThat(errors.of("model-1")).isNull();
  }

  @Test
  void shouldKnowTheErrorsOfTheLastCallsAlone() {
    // given
    EstimateErrors errors = new EstimateErrors();
    errors.observe("m", 1_000, 100, 1);

    // when
    for (int i = 0; i < EstimateErrors.CALLS; i++) {
      errors.observe("m", 100, 100, 1);
    }

    // then
    assertThat(errors.of("m").calls()).isEqualTo(EstimateErrors.CALLS + 1);
    assertThat(errors.of("m").bias()).isZero();
  }

  @Test
  void shouldForgetTheCorrectionOfTheModelUnusedLongest() throws JsonProcessingException {
    // given
    TokenizerEstimator estimator = new TokenizerEstimator(new EstimateErrors());
    JsonNode body = json("{\"input\":\"" + "word ".repeat(100) + "\"}");
    for (int i = 0; i < TokenizerEstimator.MODELS_MAX; i++) {
      learnDouble(estimator, "model-" + i, body);
    }
    assertThat(correctionOf(estimator, "model-0", body)).isGreaterThan(1.4);

    // when
    learnDouble(estimator, "one-more", body);

    // then
    assertThat(correctionOf(estimator, "one-more", body)).isGreaterThan(1.4);
    assertThat(correctionOf(estimator, "model-0", body)).isGreaterThan(1.4);
    assertThat(correctionOf(estimator, "model-1", body)).isEqualTo(1);
  }

  @Test
  void shouldForgetTheCountOfTheTextUnusedLongest() {
    // given
    TokenCounter counter = new TokenCounter();

    // when
    for (int i = 0; i < TokenCounter.TEXTS_MAX + 10; i++) {
      counter.count("text " + i, Vocabulary.CL100K);
    }

    // then
    assertThat(counter.remembered()).isEqualTo(TokenCounter.TEXTS_MAX);
  }

  private static void learnDouble(TokenizerEstimator estimator, String model, JsonNode body) {
    Input input = estimator.estimate(CallFormat.OPENAI_RESPONSES, model, body);
    estimator.learn(model, input, 2 * input.inputTokens());
  }

  private static double correctionOf(TokenizerEstimator estimator, String model, JsonNode body) {
    Input input = estimator.estimate(CallFormat.OPENAI_RESPONSES, model, body);
    return (double) input.inputTokens() / input.seen().textTokens();
  }

  private static JsonNode json(String text) throws JsonProcessingException {
    return new ObjectMapper().readTree(text);
  }
}
