package dev.fairway.replay.world;

/**
 * What a task's turns have left in the provider's prompt cache: read free of the limit while its
 * last use is recent, counted in full after that.
 */
final class PromptPrefix {
  private final long ttlMs;
  private final long tokensMax;
  private long tokens;
  private long usedAtMs;
  private long sentAtMs;

  PromptPrefix(WorldOptions.ProviderModel model) {
    this.ttlMs = model.cacheTtlMs();
    this.tokensMax = model.cacheTokensMax();
  }

  /** A task begins with none. */
  void clear() {
    tokens = 0;
  }

  /** A call that was sent then reached the provider. */
  void use(long sentMs, long arrivedMs) {
    sentAtMs = sentMs;
    usedAtMs = arrivedMs;
  }

  void grow(long newTokens) {
    tokens = Math.min(tokensMax, tokens + newTokens);
  }

  long tokens() {
    return tokens;
  }

  boolean isWarm(long atMs) {
    return atMs - usedAtMs <= ttlMs;
  }

  /** When it ends as far as its agent knows, which never learns when a call arrived. */
  long endsAtMs() {
    return sentAtMs + ttlMs;
  }
}
