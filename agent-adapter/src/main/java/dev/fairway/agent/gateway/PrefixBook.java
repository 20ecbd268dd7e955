package dev.fairway.agent.gateway;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Knows how much of an agent's next call the provider's prompt cache holds: what the last call read
 * from it and wrote to it, for as long as it is kept. {@value #AGENTS_MAX} agents are known;
 * beyond, the one unused longest is forgotten, and its cache then counts as cold. Thread-safe.
 */
final class PrefixBook {
  static final int AGENTS_MAX = 20_000;

  /** How long providers keep a cache unless asked for longer. */
  static final long TTL_MS = 5 * 60 * 1_000;

  /**
   * A cached prefix.
   *
   * @param tokens its length
   * @param expiresAtMs when it ends, epoch milliseconds
   */
  record Prefix(long tokens, long expiresAtMs) {}

  private record Key(String member, String model) {}

  private final Map<Key, Prefix> prefixes =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Prefix> eldest) {
          return size() > AGENTS_MAX;
        }
      };

  /** The cached prefix, or null if there is none that still lives. */
  synchronized Prefix of(String member, String model, long nowMs) {
    Prefix prefix = prefixes.get(new Key(member, model));
    return prefix == null || prefix.expiresAtMs() <= nowMs ? null : prefix;
  }

  /** A call ended that read and wrote this much; the cache lives on from its use. */
  synchronized void used(String member, String model, long cachedTokens, long ttlMs, long nowMs) {
    Key key = new Key(member, model);
    if (cachedTokens > 0) {
      prefixes.put(key, new Prefix(cachedTokens, nowMs + ttlMs));
    } else {
      prefixes.remove(key);
    }
  }
}
