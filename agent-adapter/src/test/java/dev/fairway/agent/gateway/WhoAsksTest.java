package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fairway.agent.gateway.CallBody.UnreadableBodyException;
import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.schemas.Ids;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who asks, from what known harnesses send. */
class WhoAsksTest {
  private static final String SESSION = "0f8fad5b-d9cb-469f-a165-70867728950e";
  private static final Caller TEAM =
      new Caller(
          "team",
          SecretRef.ofEnv("TEAM"),
          "payments",
          Set.of("worker", "reviewer"),
          Set.of("batch"),
          "worker",
          "batch",
          false);

  @Test
  void shouldKnowASessionOfClaudeCodeByItsHeader() {
    // when
    Asker asker = ask(anybody(), body("hi"), "X-Claude-Code-Session-Id", SESSION);

    // then
    assertThat(asker.member()).startsWith("cc-" + SESSION + ":");
    assertThat(asker.task()).isEqualTo("cc-" + SESSION);
  }

  @Test
  void shouldKnowASessionOfClaudeCodeByItsUserIdInEitherForm() {
    // when
    Asker json =
        ask(
            anybody(),
            user("{\\\"device_id\\\":\\\"d\\\",\\\"session_id\\\":\\\"" + SESSION + "\\\"}"));
    Asker word = ask(anybody(), user("user_0a1b_account__session_" + SESSION));

    // then
    assertThat(json.task()).isEqualTo("cc-" + SESSION);
    assertThat(word.task()).isEqualTo("cc-" + SESSION);
    assertThat(json.member()).isEqualTo(word.member());
  }

  @Test
  void shouldTellSubAgentsOfOneSessionApartByTheirConversations() {
    // given
    String[] session = {"X-Claude-Code-Session-Id", SESSION};

    // when
    Asker main = ask(anybody(), body("build it"), session);
    Asker later =
        ask(
            anybody(),
            body(
                "build it\"},{\"role\":\"assistant\",\"content\":\"ok\"},{\"role\":\"user\",\"content\":\"go on"),
            session);
    Asker sub = ask(anybody(), body("find the bug"), session);

    // then
    assertThat(later.member()).isEqualTo(main.member());
    assertThat(sub.member()).isNotEqualTo(main.member());
    assertThat(sub.task()).isEqualTo(main.task());
  }

  @Test
  void shouldNotMindCacheMarksThatMoveFromTurnToTurn() {
    // when
    Asker marked =
        ask(
            anybody(),
            "{\"model\":\"m\",\"system\":[{\"type\":\"text\",\"text\":\"s\",\"cache_control\":{\"type\":\"ephemeral\"}}],\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"}]}]}");
    Asker unmarked =
        ask(
            anybody(),
            "{\"model\":\"m\",\"system\":[{\"type\":\"text\",\"text\":\"s\"}],\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\",\"cache_control\":{\"type\":\"ephemeral\"}}]}]}");

    // then
    assertThat(marked.member()).isEqualTo(unmarked.member());
  }

  @Test
  void shouldTakeThreadsOfCodexForAgentsAndItsSessionForTheTask() {
    // when
    Asker asker = ask(anybody(), body("hi"), "thread-id", "thread-2", "session-id", "session-1");
    Asker older = ask(anybody(), body("hi"), "session_id", "session-1");

    // then
    assertThat(asker.member()).isEqualTo("codex-thread-2");
    assertThat(asker.task()).isEqualTo("codex-session-1");
    assertThat(older.task()).isEqualTo("codex-session-1");
  }

  @Test
  void shouldTakeTheRequestIdOfCodexForItsThreadAndThatOfOthersForNothing() {
    // when
    Asker root =
        ask(anybody(), body("hi"), "session_id", "session-1", "x-client-request-id", "thread-1");
    Asker sub =
        ask(anybody(), body("hi"), "session-id", "session-1", "x-client-request-id", "thread-2");
    Asker named =
        ask(
            anybody(),
            body("hi"),
            "session-id",
            "session-1",
            "thread-id",
            "thread-3",
            "x-client-request-id",
            "other");
    Asker one = ask(anybody(), body("hi"), "x-client-request-id", "request-1");
    Asker next = ask(anybody(), body("hi"), "x-client-request-id", "request-2");

    // then
    assertThat(root.member()).isEqualTo("codex-thread-1");
    assertThat(sub.member()).isEqualTo("codex-thread-2");
    assertThat(named.member()).isEqualTo("codex-thread-3");
    assertThat(root.task()).isEqualTo(sub.task()).isEqualTo("codex-session-1");
    assertThat(next.member()).isEqualTo(one.member());
  }

  @Test
  void shouldTakeConversationsOfOneUserForFlowsOfOneTask() {
    // when
    Asker one = ask(anybody(), "{\"model\":\"m\",\"user\":\"u1\",\"input\":\"hi\"}");
    Asker other = ask(anybody(), "{\"model\":\"m\",\"user\":\"u1\",\"input\":\"build it\"}");
    Asker anthropic = ask(anybody(), user("u1"));

    // then
    assertThat(one.member()).isNotEqualTo(other.member());
    assertThat(one.task()).isEqualTo("u-u1");
    assertThat(other.task()).isEqualTo("u-u1");
    assertThat(anthropic.task()).isEqualTo("u-u1");
  }

  @Test
  void shouldKnowOtherHarnesses() {
    // when / then
    assertThat(ask(anybody(), body("x"), "x-opencode-session", "s1").task()).isEqualTo("oc-s1");
    assertThat(ask(anybody(), body("x"), "X-Session-Id", "s1").task()).isEqualTo("s-s1");
    assertThat(
            ask(anybody(), "{\"model\":\"m\",\"prompt_cache_key\":\"k1\",\"input\":\"hi\"}").task())
        .isEqualTo("s-k1");
    assertThat(ask(anybody(), "{\"model\":\"m\",\"user\":\"u1\",\"input\":\"hi\"}").member())
        .startsWith("u-u1:");
    assertThat(ask(anybody(), user("somebody")).member()).startsWith("u-somebody:");
  }

  @Test
  void shouldFallBackToTheCallersTokenThenToTheAddressAndLastToTheConnection() {
    // when
    Asker byToken = ask(TEAM, body("hi"));
    Asker byAddress = ask(anybody(), body("hi"));
    Asker byConnection = ask(anybody(), "{\"model\":\"m\",\"input\":[[1,2]]}");

    // then
    assertThat(byToken.member()).startsWith("team:caller:");
    assertThat(byToken.task()).isNull();
    assertThat(byAddress.member()).startsWith("host-127.0.0.1:").doesNotContain("4711");
    assertThat(byConnection.member()).isEqualTo("host-127.0.0.1:4711");
  }

  @Test
  void shouldTakeWhatACallSaysOfItselfWithinWhatItsCallerMay() {
    // when
    Asker asker =
        ask(
            TEAM,
            body("hi"),
            "x-fairway-agent",
            "agent-7",
            "x-fairway-role",
            "reviewer",
            "x-fairway-class",
            "interactive",
            "x-fairway-task",
            "T1",
            "x-fairway-tenant",
            "somebody-else",
            "x-fairway-repeat-failures",
            "2",
            "x-fairway-cache-ttl",
            "3600");

    // then
    assertThat(asker)
        .isEqualTo(
            new Asker(
                "team:agent-7",
                "team:agent-7",
                "team:T1",
                "reviewer",
                "batch",
                "payments",
                2,
                3_600_000L));
  }

  @Test
  void shouldNotTakeARoleThatTheCallerMayNotClaim() {
    // when
    Asker asker = ask(TEAM, body("hi"), "x-fairway-role", "planner");

    // then
    assertThat(asker.role()).isEqualTo("worker");
  }

  /**
   * What its configuration does not narrow, a caller may claim; the coordinator has the last word.
   */
  @Test
  void shouldTakeAnyClaimOfACallerForWhomNoneAreNamed() {
    // given
    Caller free =
        new Caller(
            "free", SecretRef.ofEnv("TEAM"), null, Set.of(), Set.of(), "worker", "batch", false);

    // when
    Asker claiming =
        ask(
            free,
            body("hi"),
            "x-fairway-role",
            "planner",
            "x-fairway-class",
            "interactive",
            "x-fairway-tenant",
            "payments");
    Asker silent = ask(free, body("hi"));

    // then: but its agents are its own, whatever it claims
    assertThat(claiming.role()).isEqualTo("planner");
    assertThat(claiming.leaseClass()).isEqualTo("interactive");
    assertThat(claiming.tenant()).isEqualTo("payments");
    assertThat(claiming.member()).startsWith("free:");
    assertThat(silent.role()).isEqualTo("worker");
    assertThat(silent.leaseClass()).isEqualTo("batch");
    assertThat(silent.tenant()).isNull();
  }

  @Test
  void shouldTakeANumberAboveTheMostForTheMostAndOtherwiseNone() {
    // when / then
    for (String[] sent :
        new String[][] {
          {"1000", "1000"}, {"1001", "1000"}, {"9999999999", "1000"}, {"-1", "0"}, {"1.5", "0"},
        }) {
      assertThat(ask(TEAM, body("hi"), "x-fairway-repeat-failures", sent[0]).repeatFailures())
          .as(sent[0])
          .isEqualTo(Integer.parseInt(sent[1]));
    }
    assertThat(ask(TEAM, body("hi"), "x-fairway-cache-ttl", "86401").cacheTtlMs())
        .isEqualTo(86_400_000);
    assertThat(ask(TEAM, body("hi"), "x-fairway-cache-ttl", "-1").cacheTtlMs()).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"conv_1\"", "{\"id\":\"conv_1\"}"})
  void shouldTellAConversationThatTheProviderKeepsByItsName(String named) {
    // given: turns, each with its own message alone
    String turn = "{\"model\":\"m\",\"conversation\":" + named + ",\"input\":\"%s\"}";

    // when
    String first = ask(anybody(), turn.formatted("hi")).member();
    String second = ask(anybody(), turn.formatted("and then?")).member();
    String other = ask(anybody(), turn.formatted("hi").replace("conv_1", "conv_2")).member();

    // then
    assertThat(second).isEqualTo(first).startsWith("host-");
    assertThat(other).isNotEqualTo(first);
  }

  @Test
  void shouldNotTakeATurnThatFollowsOnAnotherForAConversation() {
    // given
    String turn =
        "{\"model\":\"m\",\"previous_response_id\":\"%s\",\"prompt_cache_key\":\"k\",\"input\":\"%s\"}";

    // when / then
    assertThat(ask(anybody(), turn.formatted("resp_1", "hi")).member()).isEqualTo("s-k");
    assertThat(ask(anybody(), turn.formatted("resp_2", "and then?")).member()).isEqualTo("s-k");
    assertThat(ask(TEAM, turn.replace("prompt_cache_key", "x").formatted("resp_3", "so")).member())
        .isEqualTo("team:caller");
  }

  @Test
  void shouldMakeIdsOfAnything() {
    // given
    String strange = "\u00e4 b/c\"".repeat(40);

    // when
    Asker asker =
        ask(
            TEAM,
            body("hi"),
            "X-Session-Id",
            strange,
            "x-fairway-role",
            "no role",
            "x-fairway-repeat-failures",
            "-1");

    // then
    assertThat(Ids.isId("gateway-with-name:" + asker.member())).isTrue();
    assertThat(Ids.isId(asker.task())).isTrue();
    assertThat(asker.role()).isEqualTo("worker");
    assertThat(asker.repeatFailures()).isZero();
  }

  private static Caller anybody() {
    return Caller.ANYBODY;
  }

  private static Asker ask(Caller caller, String body, String... headers) {
    HttpFields.Mutable fields = HttpFields.build();
    for (int i = 0; i < headers.length; i += 2) {
      fields.add(headers[i], headers[i + 1]);
    }
    try {
      CallBody read = CallBody.parse(body.getBytes(StandardCharsets.UTF_8));
      return Identification.of(caller, fields, read, read.conversationHash(), "127.0.0.1", 4711);
    } catch (UnreadableBodyException e) {
      throw new AssertionError(e);
    }
  }

  private static String body(String first) {
    return "{\"model\":\"m\",\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":\""
        + first
        + "\"}]}";
  }

  private static String user(String userId) {
    return body("hi")
        .replaceFirst(
            "\\{",
            java.util.regex.Matcher.quoteReplacement(
                "{\"metadata\":{\"user_id\":\"" + userId + "\"},"));
  }
}
