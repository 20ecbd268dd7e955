package dev.fairway.agent.estimate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Knows how much of an agent's next call the provider's prompt cache holds: what the last call read
 * from it and wrote to it, for as long as it is kept, and if the next call begins as that one did.
 * A conversation that was cut short or began anew finds its cache cold. {@value #AGENTS_MAX} agents
 * are known; beyond, the one unused longest is forgotten, and its cache then counts as cold.
 * Thread-safe.
 */
public final class PrefixBook {
  /** Agents that are known at a time. */
  public static final int AGENTS_MAX = 20_000;

  /** How long providers keep a cache unless asked for longer. */
  public static final long TTL_MS = 5 * 60 * 1_000;

  private static final long LONG_TTL_MS = 60 * 60 * 1_000;
  private static final String MARK = "cache_control";

  /** A change of one of these is another prompt from the start on. */
  private static final String[] BEFORE_TURNS = {"tools", "system", "instructions"};

  /**
   * A cached prefix.
   *
   * @param tokens its length
   * @param expiresAtMs when it ends, epoch milliseconds
   */
  public record Prefix(long tokens, long expiresAtMs) {}

  /**
   * What a call consists of, for the next one to be compared with.
   *
   * @param turns how many turns
   * @param hash of all of them and what is before them
   * @param ttlMs how long its cache marks ask the provider to keep it, the least of them: what is
   *     longer may be a part of it; null without marks
   */
  public record Content(int turns, long hash, Long ttlMs) {
    private boolean says(Content other) {
      return turns == other.turns && hash == other.hash;
    }
  }

  private record Key(String member, String model) {}

  private record Used(Content content, Prefix prefix) {}

  private final Map<Key, Used> calls =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Used> eldest) {
          return size() > AGENTS_MAX;
        }
      };

  /** The cached prefix of a call, or null if there is none that still lives. */
  public Prefix of(String member, String model, JsonNode body, long nowMs) {
    Used used;
    synchronized (calls) {
      used = calls.get(new Key(member, model));
    }
    if (used == null || used.prefix().expiresAtMs() <= nowMs) {
      return null;
    }
    Content begins = content(body, used.content().turns());
    return begins.says(used.content()) ? used.prefix() : null;
  }

  /**
   * A call ended that read and wrote this much; the cache lives on from its use.
   *
   * @param cachedTokens read and written together
   * @param ttlMs for how long
   */
  public void used(
      String member, String model, Content content, long cachedTokens, long ttlMs, long nowMs) {
    Key key = new Key(member, model);
    synchronized (calls) {
      if (cachedTokens > 0) {
        calls.put(key, new Used(content, new Prefix(cachedTokens, nowMs + ttlMs)));
      } else {
        calls.remove(key);
      }
    }
  }

  /** All of a call. */
  public static Content content(JsonNode body) {
    Content all = content(body, Integer.MAX_VALUE);
    return new Content(all.turns(), all.hash(), ttlMs(body));
  }

  private static Content content(JsonNode body, int turnsMax) {
    MessageDigest digest = Digests.sha256();
    for (String name : BEFORE_TURNS) {
      add(digest, body.path(name));
    }
    JsonNode turns = body.has("messages") ? body.path("messages") : body.path("input");
    int count = 0;
    if (turns.isArray()) {
      for (JsonNode turn : turns) {
        if (count >= turnsMax) {
          break;
        }
        add(digest, turn);
        count++;
      }
    } else if (turnsMax > 0 && !turns.isMissingNode()) {
      add(digest, turns);
      count = 1;
    }
    return new Content(count, ByteBuffer.wrap(digest.digest()).getLong(), null);
  }

  private static Long ttlMs(JsonNode body) {
    Long least = null;
    for (JsonNode mark : body.findValues(MARK)) {
      if (mark.isObject()) {
        long ttlMs = mark.path("ttl").asText().equals("1h") ? LONG_TTL_MS : TTL_MS;
        least = least == null ? ttlMs : Math.min(least, ttlMs);
      }
    }
    return least;
  }

  private static void add(MessageDigest digest, JsonNode node) {
    digest.update(withoutMarks(node).toString().getBytes(StandardCharsets.UTF_8));
    digest.update((byte) 0);
  }

  /** Cache marks move from turn to turn; what is said does not. */
  private static JsonNode withoutMarks(JsonNode node) {
    if (node.findValue(MARK) == null) {
      return node;
    }
    JsonNode copy = node.deepCopy();
    for (JsonNode parent : copy.findParents(MARK)) {
      ((ObjectNode) parent).remove(MARK);
    }
    return copy;
  }
}
