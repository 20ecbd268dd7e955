package dev.fairway.replay.script;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/** Lines that were read before their turn, in order, and which agents make the requests in them. */
final class LinesAhead {
  /** How many characters of script may be read ahead; what stands behind them is not looked at. */
  static final long CHARACTERS_MAX = 32L << 20;

  /**
   * One line, or why it is none; that is said when it is its turn.
   *
   * @param characters its length
   */
  private record Ahead(ScriptLine line, ScriptException error, int characters) {}

  private record RequestName(String quotaId, String requestId) {}

  private final Deque<Ahead> lines = new ArrayDeque<>();
  private final Map<RequestName, Deque<String>> agents = new HashMap<>();
  private long characters;

  boolean isEmpty() {
    return lines.isEmpty();
  }

  boolean isFull() {
    return characters >= CHARACTERS_MAX;
  }

  void add(ScriptLine line, int length) {
    lines.add(new Ahead(line, null, length));
    characters += length;
    if (line instanceof ScriptLine.RequestLease request) {
      agents
          .computeIfAbsent(nameOf(request), name -> new ArrayDeque<>())
          .add(request.request().getAgentId());
    }
  }

  void add(ScriptException error, int length) {
    lines.add(new Ahead(null, error, length));
    characters += length;
  }

  /**
   * The next line; there must be one.
   *
   * @throws ScriptException if it is no line of a script
   */
  ScriptLine next() {
    Ahead ahead = lines.remove();
    characters -= ahead.characters();
    if (ahead.error() != null) {
      throw ahead.error();
    }
    if (ahead.line() instanceof ScriptLine.RequestLease request) {
      agents.computeIfPresent(
          nameOf(request),
          (name, later) -> {
            later.remove();
            return later.isEmpty() ? null : later;
          });
    }
    return ahead.line();
  }

  /** The agent of the first line that makes this request, or null if none does. */
  String agentOf(String quotaId, String requestId) {
    Deque<String> later = agents.get(new RequestName(quotaId, requestId));
    return later == null ? null : later.peek();
  }

  private static RequestName nameOf(ScriptLine.RequestLease line) {
    return new RequestName(line.request().getQuota(), line.request().getRequestId());
  }
}
