package dev.fairway.agent.estimate;

import com.fasterxml.jackson.databind.JsonNode;

/** Says how many input tokens a call will use, before it is made. Thread-safe. */
public interface InputEstimator {

  /**
   * What of a call's input is in its body, before any correction.
   *
   * @param textTokens texts, by a tokenizer; 0 or more
   * @param otherTokens images, documents, audio and the like, by rules; 0 or more
   * @param whole false where the model reads what is not in the body, or where a rule is a guess:
   *     what such a call uses says nothing about the tokenizer
   */
  record Seen(long textTokens, long otherTokens, boolean whole) {}

  /**
   * An estimate.
   *
   * @param inputTokens all input, cached or not, 1 or more; null: too little of it is known to say,
   *     so name none, and the coordinator charges what the role's calls usually take
   * @param seen what it was made of, for {@link #learn}; null where too little of it is known
   * @param method how it was made, for reports
   */
  record Input(Long inputTokens, Seen seen, String method) {}

  /**
   * The input of a call. Takes milliseconds; up to a second where a vocabulary has to be loaded.
   *
   * @param format what the body is written for
   * @param model the model's name, as the call has it
   * @param body the call; only read
   */
  Input estimate(CallFormat format, String model, JsonNode body);

  /**
   * What a call really used. Of a call that was not wholly seen nothing is learned.
   *
   * @param model as at {@link #estimate}
   * @param estimate of this call
   * @param actualTokens all input as the provider counted it, cached or not
   */
  void learn(String model, Input estimate, long actualTokens);
}
