package dev.fairway.agent.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.estimate.InputEstimator.Input;
import org.junit.jupiter.api.Test;

/** By how much estimates are off is learned for each model, from calls that were wholly seen. */
class EstimateLearningTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String WORDS = "word ".repeat(200);

  private final EstimateErrors errors = new EstimateErrors();
  private final TokenizerEstimator estimator = new TokenizerEstimator(errors);

  @Test
  void shouldLearnHowFarOffItIsForEachModel() {
    // given
    long raw = said("model-1").inputTokens();

    // when: this model's tokenizer makes a fifth more of it
    for (int i = 0; i < 30; i++) {
      estimator.learn("model-1", said("model-1"), Math.round(raw * 1.2));
    }

    // then
    assertThat(said("model-1").inputTokens()).isCloseTo(Math.round(raw * 1.2), within(raw / 50));
    assertThat(said("model-1").seen().textTokens()).isEqualTo(raw);
    assertThat(said("model-2").inputTokens()).isEqualTo(raw);
  }

  @Test
  void shouldReportTheErrorThatIsLeft() {
    // given: a model whose tokens are 1.3 times the tokenizer's, with 4 % of noise
    long raw = said("model-1").inputTokens();

    // when
    for (int i = 0; i < 200; i++) {
      estimator.learn("model-1", said("model-1"), Math.round(raw * (1.3 + (i % 3 - 1) * 0.052)));
    }

    // then
    EstimateQuality quality = errors.of("model-1");
    assertThat(quality.calls()).isEqualTo(200);
    assertThat(quality.correction()).isBetween(1.25, 1.35);
    assertThat(quality.errorP90()).isBetween(0.01, 0.08);
    assertThat(Math.abs(quality.bias())).isLessThan(0.02);
    assertThat(said("model-1").method()).contains(" x 1.").contains("+-");
  }

  @Test
  void shouldNotBeLedAstrayByAbsurdUsage() {
    // when
    estimator.learn("model-1", said("model-1"), Long.MAX_VALUE);
    estimator.learn("model-2", said("model-2"), 32);

    // then
    assertThat(ratio("model-1")).isCloseTo(3, within(0.01));
    assertThat(ratio("model-2")).isCloseTo(0.6, within(0.01));
  }

  @Test
  void shouldLearnNothingFromSmallCalls() {
    // when
    Input small = estimate("model-1", "\"input\":\"only a few words\"");
    estimator.learn("model-1", small, 5_000);

    // then
    assertThat(ratio("model-1")).isEqualTo(1);
    assertThat(errors.of("model-1")).isNull();
  }

  @Test
  void shouldLearnNothingWhereTheProviderKeepsPartOfTheInput() {
    // given
    Input unknown =
        estimate("model-1", "\"previous_response_id\":\"r\",\"input\":\"" + WORDS + "\"");

    // when
    estimator.learn("model-1", unknown, 30_000);

    // then
    assertThat(unknown.inputTokens()).isNull();
    assertThat(ratio("model-1")).isEqualTo(1);
    assertThat(errors.of("model-1")).isNull();
  }

  @Test
  void shouldReportAGuessThatIsWrongAndLearnNothingFromIt() {
    // given: a document that is read elsewhere
    Input guess =
        estimate(
            "model-1",
            "\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\""
                + WORDS.repeat(20)
                + "\"},{\"type\":\"input_file\",\"file_url\":\"https://x/y.pdf\"}]}]");

    // when
    estimator.learn("model-1", guess, 60_000);

    // then
    assertThat(guess.inputTokens()).isBetween(6_490L, 6_520L);
    assertThat(ratio("model-1")).isEqualTo(1);
    assertThat(errors.of("model-1").bias()).isLessThan(-0.8);
  }

  @Test
  void shouldNotCorrectImagesByWhatWordsUse() {
    // given: 1,000 x 500 pixels, 425 tokens
    String image =
        "{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,"
            + BinaryTokensTest.png(1_000, 500)
            + "\"}";
    String call = "\"input\":[{\"role\":\"user\",\"content\":[%s]}]";
    for (int i = 0; i < 60; i++) {
      estimator.learn("model-1", said("model-1"), 2 * said("model-2").inputTokens());
    }

    // when
    Input two = estimate("model-1", call.formatted(image + "," + image));

    // then
    assertThat(ratio("model-1")).isCloseTo(2, within(0.02));
    assertThat(two.inputTokens()).isCloseTo(2 * 425L + 8, within(2L));
    estimator.learn("model-1", two, 100_000);
    assertThat(ratio("model-1")).as("more image than words").isCloseTo(2, within(0.02));
  }

  private Input said(String model) {
    return estimate(model, "\"input\":\"" + WORDS + "\"");
  }

  private double ratio(String model) {
    Input said = said(model);
    return (double) said.inputTokens() / said.seen().textTokens();
  }

  private Input estimate(String model, String fields) {
    try {
      return estimator.estimate(
          CallFormat.OPENAI_RESPONSES, model, JSON.readTree("{" + fields + "}"));
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }
}
