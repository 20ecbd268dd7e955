package dev.fairway.agent.estimate;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Estimates texts by a tokenizer, times a correction for each model that is learned from what its
 * calls really used: tokenizers of other providers than the tokenizer's own, and what providers add
 * by themselves (prompts for tools, say), are off by a factor that hardly changes. Images and the
 * like are added as they are.
 *
 * <p>The corrections of {@value #MODELS_MAX} models are kept; beyond, the one unused longest is
 * forgotten, and learned anew.
 */
public final class TokenizerEstimator implements InputEstimator {
  /** Models whose corrections are kept at a time. */
  public static final int MODELS_MAX = 1_000;

  /** Share of a new observation; the first one counts more, as there is nothing yet to average. */
  private static final double LEARNING_RATE = 0.1;

  private static final double FIRST_LEARNING_RATE = 0.5;
  private static final double RATIO_MIN = 0.2;
  private static final double RATIO_MAX = 5;

  /** Calls smaller than this say more about fixed overheads than about the tokenizer. */
  private static final long LEARN_TOKENS_MIN = 32;

  private final EstimateErrors errors;
  private final ContentTokens content = new ContentTokens(new TokenCounter());
  private final Map<String, Double> corrections =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Double> eldest) {
          return size() > MODELS_MAX;
        }
      };

  /** With a book that it writes its errors to. */
  public TokenizerEstimator(EstimateErrors errors) {
    this.errors = errors;
  }

  @Override
  public Input estimate(CallFormat format, String model, JsonNode body) {
    TokenCounter.Vocabulary vocabulary = TokenCounter.Vocabulary.of(model);
    Seen seen = content.of(format, body, vocabulary);
    if (seen == null) {
      return new Input(null, null, "unknown");
    }
    double correction = correction(model);
    EstimateQuality quality = errors.of(model);
    String method =
        "tokenizer "
            + vocabulary
            + String.format(Locale.ROOT, " x %.3f", correction)
            + (quality == null
                ? ""
                : String.format(Locale.ROOT, " +-%.1f%%", 100 * quality.errorP90()));
    return new Input(tokens(seen, correction), seen, method);
  }

  @Override
  public synchronized void learn(String model, Input estimate, long actualTokens) {
    Seen seen = estimate.seen();
    if (seen == null
        || seen.textTokens() + seen.otherTokens() < LEARN_TOKENS_MIN
        || actualTokens < LEARN_TOKENS_MIN) {
      return;
    }
    double before = correction(model);
    // What a few words beside a large image used says nothing about words.
    boolean tells =
        seen.whole() && seen.textTokens() >= Math.max(LEARN_TOKENS_MIN, seen.otherTokens());
    double after = tells ? learned(model, seen, actualTokens) : before;
    errors.observe(model, tokens(seen, before), actualTokens, after);
  }

  private double learned(String model, Seen seen, long actualTokens) {
    double ratio = ((double) actualTokens - seen.otherTokens()) / seen.textTokens();
    double bounded = Math.min(RATIO_MAX, Math.max(RATIO_MIN, ratio));
    Double known = corrections.get(model);
    double before = known == null ? 1 : known;
    double rate = known == null ? FIRST_LEARNING_RATE : LEARNING_RATE;
    double after = before + rate * (bounded - before);
    corrections.put(model, after);
    return after;
  }

  private static long tokens(Seen seen, double correction) {
    return (long) Math.ceil(seen.textTokens() * correction) + seen.otherTokens();
  }

  private synchronized double correction(String model) {
    return corrections.getOrDefault(model, 1.0);
  }
}
