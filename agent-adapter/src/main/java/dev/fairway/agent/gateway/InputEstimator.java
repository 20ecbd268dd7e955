package dev.fairway.agent.gateway;

/** Says how many input tokens a call will use, before it is made. Thread-safe. */
interface InputEstimator {

  /**
   * An estimate.
   *
   * @param inputTokens all input, cached or not; null: too little of it is known to say
   * @param rawTokens the same before the model's learned correction, for {@link #learn}
   * @param method how it was made, for reports
   */
  record Input(Long inputTokens, long rawTokens, String method) {}

  /** The input of a call. */
  Input estimate(Endpoint endpoint, CallBody body);

  /**
   * What a call really used.
   *
   * @param rawTokens of its estimate
   * @param actualTokens all input, cached or not
   */
  void learn(String model, long rawTokens, long actualTokens);
}
