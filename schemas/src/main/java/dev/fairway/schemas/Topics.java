package dev.fairway.schemas;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The names of the topics. Immutable.
 *
 * @param prefix what every name begins with; {@code [A-Za-z0-9._-]{1,37}}, so that the longest
 *     reply topic stays within Kafka's 249 characters
 */
public record Topics(String prefix) {

  /** The prefix used unless another is configured. */
  public static final String DEFAULT_PREFIX = "fairway.";

  private static final Pattern PREFIX_GRAMMAR = Pattern.compile("[A-Za-z0-9._-]{1,37}");

  /**
   * Names with this prefix.
   *
   * @throws IllegalArgumentException if the prefix is null or out of its grammar
   */
  public Topics {
    if (prefix == null || !PREFIX_GRAMMAR.matcher(prefix).matches()) {
      throw new IllegalArgumentException(
          "Expected a topic prefix of 1 to 37 characters out of letters, digits, '.', '_' and '-',"
              + " but found '%s'. Set one such as '%s'.".formatted(prefix, DEFAULT_PREFIX));
    }
  }

  /** Names with the default prefix. */
  public Topics() {
    this(DEFAULT_PREFIX);
  }

  /** Definitions of quotas; record key: the quota id; compacted. */
  public String quotas() {
    return prefix + "quotas";
  }

  /** Lease requests; record key: the key of the quota. */
  public String requests() {
    return prefix + "requests";
  }

  /** Settlements; record key: the key of the quota. */
  public String settlements() {
    return prefix + "settlements";
  }

  /** Task updates; record key: the key of the quota. */
  public String tasks() {
    return prefix + "tasks";
  }

  /** Keys on their way to another partition; record key: the key. */
  public String transfers() {
    return prefix + "transfers";
  }

  /** Registrations of agents; record key: the agent id; compacted. */
  public String agents() {
    return prefix + "agents";
  }

  /** The journal; record key: the key. */
  public String journal() {
    return prefix + "journal";
  }

  /** Records that could not be handled, as they were read. */
  public String deadLetters() {
    return prefix + "dead-letters";
  }

  /** What the reply topic of an agent begins with, unless its id holds a colon. */
  public String replyPrefix() {
    return prefix + "replies.";
  }

  /**
   * The agent's own reply topic: {@link #replyPrefix()} and the agent id. Kafka allows no colon in
   * the name of a topic, so an id with one gets {@code <prefix>replies-hex.} and the id's ASCII
   * bytes in lower-case hexadecimal. No two ids share a topic: who reads a reply topic knows its
   * lease ids.
   *
   * <p>Kafka refuses to create a topic whose name differs from an existing one only in {@code .}
   * and {@code _}, so of the agents {@code a.b} and {@code a_b} only one can have a topic of its
   * own.
   *
   * @throws IllegalArgumentException if the agent id is out of its grammar
   */
  public String reply(String agentId) {
    if (!Ids.isId(agentId)) {
      throw new IllegalArgumentException(
          "Expected an agent id of 1 to %d characters out of letters, digits, '.', '_', ':' and '-', but found '%s'."
              .formatted(Ids.MAX_LENGTH, agentId));
    }
    return agentId.indexOf(':') < 0
        ? replyPrefix() + agentId
        : prefix
            + "replies-hex."
            + HexFormat.of().formatHex(agentId.getBytes(StandardCharsets.US_ASCII));
  }
}
