package dev.fairway.agent.estimate;

import com.fasterxml.jackson.databind.JsonNode;

/** Says how many input tokens a call will use, before it is made. Thread-safe. */
public interface InputEstimator {

  /**
   * An estimate.
   *
   * @param inputTokens all input, cached or not, 1 or more; null: too little of it is known to say,
   *     and the coordinator charges what the role's calls usually take
   * @param rawTokens the same before the model's learned correction, for {@link #learn}
   * @param method how it was made, for reports
   */
  record Input(Long inputTokens, long rawTokens, String method) {}

  /**
   * The input of a call. Takes milliseconds; up to a second where a vocabulary has to be loaded.
   *
   * @param format what the body is written for
   * @param model the model's name, as the call has it
   * @param body the call; only read
   */
  Input estimate(CallFormat format, String model, JsonNode body);

  /**
   * What a call really used. Numbers that say nothing are ignored.
   *
   * @param model as at {@link #estimate}
   * @param estimate of this call
   * @param actualTokens all input as the provider counted it, cached or not
   */
  void learn(String model, Input estimate, long actualTokens);
}
