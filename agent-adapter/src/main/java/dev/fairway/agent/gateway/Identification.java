package dev.fairway.agent.gateway;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.gateway.ApiInput.BadInputException;
import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.schemas.Ids;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpFields;

/**
 * Tells who asks, from what known harnesses send without being told to: a session id, in a header
 * or in the body; else it is the caller's token; else the client's address, and its connection
 * where there is no conversation (connections are pooled, so they tell agents apart badly).
 * Conversations under one identity are flows of their own: sub-agents share their session's id.
 *
 * <p>None of it is trusted for more than the caller's token allows: ids stay within the caller's
 * own, and a role or class that the caller may not claim is not taken.
 */
final class Identification {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern CLAUDE_CODE_USER =
      Pattern.compile("user_.{1,200}_session_([A-Za-z0-9-]{8,64})");
  private static final int ID_MAX = 40;
  private static final int HASH_LENGTH = 16;
  private static final int CONVERSATION_LENGTH = 8;
  private static final int REPEAT_FAILURES_MAX = 1_000;
  private static final long CACHE_TTL_S_MAX = 24 * 60 * 60;

  private Identification() {}

  /** An identity that a client sent: {@code task} if several flows may share it. */
  private record Session(String agent, String task, boolean oneConversation) {}

  /**
   * Who asks.
   *
   * @param conversation tells the call's conversation from others, or null if it is part of none
   * @param host the client's address, for who sends nothing else
   * @param port the connection's, for who does not even have a conversation
   */
  static Asker of(
      Caller caller,
      HttpFields headers,
      CallBody body,
      String conversation,
      String host,
      int port) {
    Session session = session(headers, body);
    String client = "host-" + id(host);
    boolean connection = session == null && caller.isAnybody() && conversation == null;
    if (session == null && !caller.isAnybody()) {
      session = new Session("caller", null, false);
    } else if (session == null) {
      session = new Session(connection ? client + ":" + port : client, null, false);
    }
    String agent =
        conversation == null || session.oneConversation()
            ? session.agent()
            : session.agent() + ":" + conversation.substring(0, CONVERSATION_LENGTH);
    String told = claimed(headers, "x-fairway-agent");
    String task = claimed(headers, "x-fairway-task");
    String tenant =
        caller.tenant() == null ? claimed(headers, "x-fairway-tenant") : caller.tenant();
    String member = within(caller, told == null ? agent : told);
    return new Asker(
        member,
        connection && told == null ? client : member,
        task != null ? within(caller, task) : taskOf(caller, session),
        allowed(claimed(headers, "x-fairway-role"), caller.roles(), caller.role()),
        allowed(claimed(headers, "x-fairway-class"), caller.classes(), caller.leaseClass()),
        tenant,
        repeatFailures(headers),
        cacheTtlMs(headers));
  }

  /**
   * Who asks over our own API: the fields of a body, or the headers that stand for them.
   *
   * @throws BadInputException if the agent is not named, or a field is out of its range
   */
  static Asker claimed(Caller caller, HttpFields headers, ApiInput in) throws BadInputException {
    String agent = claim(headers, in, "agent");
    if (agent == null) {
      throw new BadInputException(
          "Expected an agent's id in \"agent\", 1 to 100 characters A-Z a-z 0-9 . _ : -, but found"
              + " none.");
    }
    String task = claim(headers, in, "task");
    String tenant = claim(headers, in, "tenant");
    Long failures = in.longOrNull("repeat_failures", 0, REPEAT_FAILURES_MAX);
    return new Asker(
        within(caller, agent),
        within(caller, agent),
        task == null ? null : within(caller, task),
        allowed(claim(headers, in, "role"), caller.roles(), caller.role()),
        allowed(claim(headers, in, "class"), caller.classes(), caller.leaseClass()),
        caller.tenant() == null ? tenant : caller.tenant(),
        failures == null ? repeatFailures(headers) : failures.intValue(),
        null);
  }

  private static String claim(HttpFields headers, ApiInput in, String name)
      throws BadInputException {
    String said = in.idOrNull(name);
    return said == null ? claimed(headers, "x-fairway-" + name) : said;
  }

  /** The role of a task as far as its caller may claim it; null: it is not known. */
  static String role(Caller caller, String claim) {
    return claim == null ? null : allowed(claim, caller.roles(), caller.role());
  }

  private static Session session(HttpFields headers, CallBody body) {
    String claudeCode = header(headers, "X-Claude-Code-Session-Id");
    if (claudeCode == null) {
      claudeCode = claudeCodeUser(body.json().path("metadata").path("user_id"));
    }
    if (claudeCode != null) {
      return flowsOf("cc-" + id(claudeCode));
    }
    String session = header(headers, "session-id");
    session = session == null ? header(headers, "session_id") : session;
    String thread = header(headers, "thread-id");
    if (thread == null && session != null) {
      // Codex sends its thread here too; of others it names one request, so that it is no identity.
      thread = header(headers, "x-client-request-id");
    }
    if (thread != null) {
      return new Session(
          "codex-" + id(thread), session == null ? null : "codex-" + id(session), true);
    }
    if (session != null) {
      return flowsOf("codex-" + id(session));
    }
    for (String name : new String[] {"x-opencode-session", "X-Session-Id"}) {
      String sent = header(headers, name);
      if (sent != null) {
        return flowsOf((name.startsWith("x-o") ? "oc-" : "s-") + id(sent));
      }
    }
    String key = body.text("prompt_cache_key");
    if (key != null) {
      return flowsOf("s-" + id(key));
    }
    String user = body.text("user");
    JsonNode userId = body.json().path("metadata").path("user_id");
    user = user == null && userId.isTextual() ? userId.textValue() : user;
    return user == null || user.isBlank() ? null : flowsOf("u-" + id(user));
  }

  private static Session flowsOf(String id) {
    return new Session(id, id, false);
  }

  /** The session in Claude Code's user id: JSON today, one word with underscores before. */
  private static String claudeCodeUser(JsonNode userId) {
    if (!userId.isTextual()) {
      return null;
    }
    String text = userId.textValue();
    if (text.startsWith("{")) {
      try {
        JsonNode session = JSON.readTree(text).path("session_id");
        return session.isTextual() && !session.textValue().isBlank() ? session.textValue() : null;
      } catch (JsonProcessingException e) {
        return null;
      }
    }
    Matcher matcher = CLAUDE_CODE_USER.matcher(text);
    return matcher.matches() ? matcher.group(1) : null;
  }

  /** Agents and tasks of one caller are never those of another. */
  static String within(Caller caller, String id) {
    String full = caller.isAnybody() ? id : caller.name() + ":" + id;
    return full.length() <= Ids.MAX_LENGTH - 20
        ? full
        : full.substring(0, 30) + CallBody.hash(full).substring(0, HASH_LENGTH);
  }

  private static String taskOf(Caller caller, Session session) {
    return session.task() == null ? null : within(caller, session.task());
  }

  private static String allowed(String claim, Set<String> allowed, String otherwise) {
    return claim != null && (allowed.isEmpty() || allowed.contains(claim)) ? claim : otherwise;
  }

  /** An id that a client claims, or null if it claims none, or none in the grammar. */
  private static String claimed(HttpFields headers, String name) {
    String value = header(headers, name);
    return Ids.isId(value) ? value : null;
  }

  private static String header(HttpFields headers, String name) {
    String value = headers.get(name);
    return value == null || value.isBlank() ? null : value.strip();
  }

  private static int repeatFailures(HttpFields headers) {
    return (int) number(headers, "x-fairway-repeat-failures", REPEAT_FAILURES_MAX, 0);
  }

  private static Long cacheTtlMs(HttpFields headers) {
    long seconds = number(headers, "x-fairway-cache-ttl", CACHE_TTL_S_MAX, -1);
    return seconds < 0 ? null : (Long) (seconds * 1_000);
  }

  /** A number that a client sends: what is more than the most counts as that, what is none not. */
  private static long number(HttpFields headers, String name, long max, long otherwise) {
    String value = header(headers, name);
    if (value == null || !value.matches("[0-9]{1,18}")) {
      return otherwise;
    }
    return Math.min(max, Long.parseLong(value));
  }

  /** A client's id as it is, if it is a word of decent length; else its hash. */
  private static String id(String sent) {
    return Ids.isId(sent) && sent.length() <= ID_MAX
        ? sent
        : CallBody.hash(sent).substring(0, HASH_LENGTH);
  }
}
