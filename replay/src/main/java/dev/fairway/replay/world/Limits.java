package dev.fairway.replay.world;

/**
 * What the provider grants per minute, each at least 1.
 *
 * @param requests calls
 * @param inputTokens input tokens
 * @param outputTokens output tokens
 */
public record Limits(long requests, long inputTokens, long outputTokens) {

  private static final long LEAST_REQUESTS = 50;
  private static final double TOKENS_PER_REQUEST = 450;

  /** The limits that leave a fleet with that demand a share of {@code rho} taken. */
  static Limits forDemand(double inputTokensPerMinute, WorldOptions options) {
    double input = Math.max(1, inputTokensPerMinute / options.provider().rho());
    return new Limits(
        Math.max(LEAST_REQUESTS, Math.round(input / TOKENS_PER_REQUEST)),
        Math.max(1, Math.round(input)),
        Math.max(1, Math.round(input * options.provider().outputShare())));
  }

  /** One of them. */
  public long of(Dimension dimension) {
    switch (dimension) {
      case REQUESTS:
        return requests;
      case INPUT_TOKENS:
        return inputTokens;
      default:
        return outputTokens;
    }
  }
}
