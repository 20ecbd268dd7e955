package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.agent.gateway.GatewayConfig.Mode;
import dev.fairway.agent.gateway.GatewayConfig.Route;
import dev.fairway.agent.gateway.GatewayConfig.Upstream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls that come again, callers with tokens, and configurations that cannot be. */
class RetriesAndCallersTest {
  private static final String FAILURE =
      "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"no\"}}";

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldCountTheSameCallAfterAFailureAsARetry() {
    // given
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 500, FAILURE));
    fixture.post("/v1/messages", GatewayFixture.message("hi"), "x-session-id", "s");

    // when: a harness's own loop, which says nothing
    fixture.post("/v1/messages", GatewayFixture.message("hi"), "x-session-id", "s");

    // then
    assertThat(fixture.admission.asked.get(0).call().retryOf()).isNull();
    assertThat(fixture.admission.asked.get(1).call().retryOf()).isEqualTo("r1");
    assertThat(fixture.gateway().stats().retries()).isEqualTo(1);
  }

  @Test
  void shouldNotTakeARepeatedCallThatWentWellForARetryUnlessItSaysSo() {
    // given
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));
    fixture.post("/v1/messages", GatewayFixture.message("hi"), "x-session-id", "s");
    fixture.admission.onlySettled();

    // when
    fixture.post("/v1/messages", GatewayFixture.message("hi"), "x-session-id", "s");
    await().until(() -> fixture.admission.settled.size() == 2);
    fixture.post(
        "/v1/messages",
        GatewayFixture.message("hi"),
        "x-session-id",
        "s",
        "x-stainless-retry-count",
        "1");

    // then
    assertThat(fixture.admission.asked.get(1).call().retryOf()).isNull();
    assertThat(fixture.admission.asked.get(2).call().retryOf()).isNotNull();
  }

  @Test
  void shouldNotTakeAnotherAgentsCallForARetry() {
    // given
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 500, FAILURE));
    fixture.post("/v1/messages", GatewayFixture.message("hi"), "x-session-id", "s");

    // when
    fixture.post("/v1/messages", GatewayFixture.message("hi"), "x-session-id", "other");

    // then
    assertThat(fixture.admission.asked.get(1).call().retryOf()).isNull();
  }

  @Test
  void shouldForgetOldCalls() {
    // given
    RetryBook book = new RetryBook(3);
    book.of("a", "hash", false, null, 0).ended("r1", true, 0);

    // when / then
    assertThat(book.of("a", "hash", false, null, RetryBook.FOR_MS).retryOf()).isEqualTo("r1");
    assertThat(book.of("a", "hash", false, null, RetryBook.FOR_MS + 1).retryOf()).isNull();
  }

  @Test
  void shouldSendACallThatAlwaysFailsNoMoreOftenThanItsBudgetAllowsAndSayItOnce() {
    // given
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 500, FAILURE));
    String body = GatewayFixture.message("hi");

    // when: it comes 27 times, and allows two retries
    List<HttpResponse<String>> answers = new ArrayList<>();
    for (int i = 0; i < 27; i++) {
      answers.add(
          fixture.post("/v1/messages", body, "x-session-id", "s", "x-fairway-retry-budget", "2"));
    }

    // then
    assertThat(fixture.upstream.received).hasSize(3);
    assertThat(fixture.admission.asked).hasSize(3);
    assertThat(answers.get(0).headers().firstValue("x-should-retry")).isEmpty();
    assertThat(answers.get(0).headers().firstValue("x-fairway-retry-budget")).hasValue("2");
    assertThat(answers.get(2).statusCode()).isEqualTo(500);
    assertThat(answers.get(2).headers().firstValue("x-should-retry")).hasValue("false");
    assertThat(answers.get(26).statusCode()).isEqualTo(429);
    assertThat(answers.get(0).headers().firstValue("x-fairway-request-id")).hasValue("r1");
    assertThat(answers.get(26).headers().firstValue("x-fairway-request-id")).hasValue("r3");
    assertThat(answers.get(26).headers().firstValue("x-should-retry")).hasValue("false");
    assertThat(answers.get(26).headers().firstValue("x-fairway-retry-budget")).hasValue("0");
    assertThat(answers.get(26).body()).contains("3 times");
    assertThat(fixture.gateway().stats().budgetsSpent()).isEqualTo(1);
    assertThat(fixture.gateway().stats().requeues()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "'8 0 0 0 0', 2", // What was allowed once is not given back.
    "'8 - 0 0', 3", // Said late.
    "'2 1 0 0', 3", // By who counts down before each try.
    "'2 2 1 0 0', 3", // By who repeats what the error told.
    "'0 5 5', 1"
  })
  void shouldHoldAClientToTheFewestRetriesThatItEverAllowed(String allowed, int sent) {
    // given
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 500, FAILURE));

    // when
    for (String budget : allowed.split(" ", -1)) {
      String[] headers = {"x-session-id", "s", "x-fairway-retry-budget", budget};
      fixture.post("/v1/messages", GatewayFixture.message("hi"), headers);
    }

    // then
    assertThat(fixture.upstream.received).hasSize(sent);
  }

  @Test
  void shouldKnowARetryOfACallWithoutASessionOverAnotherConnection() throws Exception {
    // given
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 500, FAILURE));
    String body = "{\"model\":\"text-embedding-3-small\",\"input\":\"hi\"}";

    // when: each try over a connection of its own
    for (int i = 0; i < 9; i++) {
      HttpRequest again = fixture.request("/v1/embeddings", body, "x-fairway-retry-budget", "2");
      HttpClient.newHttpClient().send(again, HttpResponse.BodyHandlers.discarding());
    }

    // then: the same bytes after a failure are a retry, other bytes are not
    assertThat(fixture.upstream.received).hasSize(3);
    assertThat(fixture.admission.asked.get(1).call().retryOf()).isEqualTo("r1");
    assertThat(fixture.post("/v1/embeddings", body.replace("hi", "ho")).statusCode())
        .isEqualTo(500);
  }

  @Test
  void shouldNotLetAnUpstreamAskForAnotherTryWhenNoneIsLeft() {
    // given
    fixture.upstream.otherwise(
        exchange -> {
          exchange.getResponseHeaders().set("x-should-retry", "true");
          FakeUpstream.json(exchange, 500, FAILURE);
        });
    String[] headers = {"x-session-id", "s", "x-fairway-retry-budget", "1"};

    // when
    HttpResponse<String> first =
        fixture.post("/v1/messages", GatewayFixture.message("hi"), headers);
    HttpResponse<String> last = fixture.post("/v1/messages", GatewayFixture.message("hi"), headers);

    // then
    assertThat(first.headers().allValues("x-should-retry")).containsExactly("true");
    assertThat(last.headers().firstValue("x-fairway-retry-budget")).hasValue("0");
    assertThat(last.headers().allValues("x-should-retry")).containsExactly("false");
  }

  @Test
  void shouldCountRequeuesAfter429sAgainstTheBudgetToo() {
    // given
    fixture.upstream.otherwise(
        exchange ->
            FakeUpstream.json(
                exchange,
                429,
                "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"no\"}}"));

    // when
    HttpResponse<String> answer =
        fixture.post(
            "/v1/messages",
            GatewayFixture.message("hi"),
            "x-session-id",
            "s",
            "x-fairway-retry-budget",
            "4");

    // then
    assertThat(answer.statusCode()).isEqualTo(429);
    assertThat(answer.headers().firstValue("x-should-retry")).hasValue("false");
    assertThat(fixture.upstream.received).hasSize(5);
    assertThat(fixture.gateway().stats().budgetsSpent()).isEqualTo(1);
  }

  @Test
  void shouldGiveACallThatWentWellANewBudget() {
    // given
    String body = GatewayFixture.message("hi");
    for (int round = 0; round < 3; round++) {
      fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 500, FAILURE));
      fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));

      // when
      fixture.post("/v1/messages", body, "x-session-id", "s", "x-fairway-retry-budget", "1");
      HttpResponse<String> second =
          fixture.post("/v1/messages", body, "x-session-id", "s", "x-fairway-retry-budget", "1");

      // then
      assertThat(second.statusCode()).isEqualTo(200);
      int settled = 2 * (round + 1);
      await().until(() -> fixture.admission.settled.size() == settled);
    }
    assertThat(fixture.gateway().stats().budgetsSpent()).isZero();
  }

  @Test
  void shouldKnowCallersByTheirTokenInAnyOfItsPlaces() {
    // given
    fixture.callers = List.of(team());
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));
    String body = GatewayFixture.message("hi");

    // when / then
    assertThat(fixture.post("/v1/messages", body).statusCode()).isEqualTo(401);
    assertThat(fixture.post("/v1/messages", body, "x-api-key", "wrong").statusCode())
        .isEqualTo(401);
    assertThat(
            fixture.post("/v1/messages", body, "authorization", "Bearer team-token").statusCode())
        .isEqualTo(200);
    assertThat(fixture.post("/v1/messages", body, "x-api-key", "team-token").statusCode())
        .isEqualTo(200);
    assertThat(fixture.post("/v1/messages", body, "x-fairway-token", "team-token").statusCode())
        .isEqualTo(200);
    assertThat(fixture.admission.asked).hasSize(3);
    assertThat(fixture.admission.asked.get(0).call().member()).startsWith("team:");
    assertThat(fixture.upstream.received)
        .allSatisfy(
            sent -> {
              assertThat(sent.headers().toString()).doesNotContain("team-token");
              assertThat(sent.header("x-api-key")).isEqualTo("sk-ant-secret");
            });
  }

  @Test
  void shouldKnowACallerHoweverItsTokenIsWrittenAndPassNoneOfIt() {
    // given: credentials in odd case, and twice
    fixture.callers = List.of(team());
    fixture.upstream.then(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));

    // when
    HttpResponse<String> response =
        fixture.post(
            "/v1/messages?key[]=MINE&%6Bey=MINE&beta=true&+API_Key[0]=MINE",
            GatewayFixture.message("hi"),
            "X-API-KEY",
            "MINE",
            "x-Api-keY",
            "MINE too",
            "AUTHORIZATION",
            "Basic MINE",
            "authorization",
            "bEARER   team-token");

    // then
    assertThat(response.statusCode()).isEqualTo(200);
    FakeUpstream.Received sent = fixture.upstream.received.get(0);
    assertThat(sent.headers().toString()).doesNotContain("MINE", "team-token");
    assertThat(sent.path()).isEqualTo("/v1/messages?beta=true");
    assertThat(sent.header("x-api-key")).isEqualTo("sk-ant-secret");
  }

  @Test
  void shouldTellAgentsCacheApartFromTheirNewInput() {
    // given
    fixture.upstream.then(
        exchange ->
            FakeUpstream.json(
                exchange,
                200,
                GatewayFixture.ANSWER.replace(
                    "\"cache_read_input_tokens\":0", "\"cache_read_input_tokens\":50")));
    String body = GatewayFixture.message("word ".repeat(100));
    fixture.post("/v1/messages", body, "x-session-id", "s");
    fixture.admission.onlySettled();

    // when
    fixture.post("/v1/messages", body.replace("100", "101"), "x-session-id", "s");

    // then
    var estimate = fixture.admission.asked.get(1).call().estimate();
    assertThat(estimate.cachedTokens()).isEqualTo(50);
    assertThat(estimate.cacheExpiresAt()).isNotNull();
    assertThat(fixture.admission.asked.get(0).call().estimate().cachedTokens()).isZero();
  }

  @Test
  void shouldTakeTheCacheOfAConversationThatBeginsOtherwiseForCold() {
    // given
    fixture.upstream.then(
        exchange ->
            FakeUpstream.json(
                exchange,
                200,
                GatewayFixture.ANSWER.replace(
                    "\"cache_read_input_tokens\":0", "\"cache_read_input_tokens\":50")));
    String body = GatewayFixture.message("word ".repeat(100));
    fixture.post("/v1/messages", body, "x-fairway-agent", "s");
    fixture.admission.onlySettled();

    // when: it goes on, with the cache mark elsewhere; then it was cut short
    String goesOn =
        body.replace(
            "]}",
            ",{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"x\",\"cache_control\":{}}]}]}");
    fixture.post("/v1/messages", goesOn, "x-fairway-agent", "s");
    await().until(() -> fixture.admission.settled.size() == 2);
    fixture.post("/v1/messages", GatewayFixture.message("summary"), "x-fairway-agent", "s");

    // then
    assertThat(fixture.admission.asked.get(1).call().estimate().cachedTokens()).isEqualTo(50);
    assertThat(fixture.admission.asked.get(2).call().estimate().cachedTokens()).isZero();
  }

  @Test
  void shouldRefuseConfigurationsThatCannotBe() {
    // given
    Upstream upstream = new Upstream("a", "https://api.example.com/", "anthropic", null);

    // when / then
    assertThat(upstream.url()).isEqualTo("https://api.example.com");
    assertThatThrownBy(() -> config("0.0.0.0", Map.of("a", upstream), "a", List.of()))
        .hasMessageContaining("callers with tokens");
    assertThatThrownBy(() -> config("127.0.0.1", Map.of("a", upstream), "b", List.of()))
        .hasMessageContaining("one of the upstreams [a]");
    assertThatThrownBy(() -> config("127.0.0.1", Map.of("a", upstream), "a", List.of(team())))
        .hasMessageContaining("Expected a key for upstream a");
    assertThatThrownBy(
            () -> config("127.0.0.1", Map.of("a", upstream), "a", List.of(team(), team())))
        .hasMessageContaining("each caller once");
    assertThatThrownBy(() -> new Upstream("a", "ftp://x", "anthropic", null))
        .hasMessageContaining("Expected a URL");
    assertThatThrownBy(() -> new Route(List.of(), "k/q", "a")).hasMessageContaining("patterns");
    assertThatThrownBy(() -> new Route(List.of("*"), "k/q/r", "a"))
        .hasMessageContaining("quota id");
    assertThatThrownBy(() -> new SecretRef(null, null)).hasMessageContaining("env: NAME");
  }

  @Test
  void shouldNotStartWithoutItsSecrets() {
    // when / then
    assertThatThrownBy(
            () ->
                Gateway.start(fixture.config(), fixture.admission, ModeStore.inMemory(), Map.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("environment variable");
  }

  @Test
  void shouldNotBeCalledByPagesInABrowser() {
    // when / then
    assertThat(
            fixture
                .post("/v1/messages", GatewayFixture.message("hi"), "origin", "http://evil.example")
                .statusCode())
        .isEqualTo(403);
    assertThat(fixture.admission.asked).isEmpty();
  }

  @Test
  void shouldNeverShowASecret() {
    // when / then
    assertThat(fixture.config().toString()).doesNotContain("sk-ant-secret");
    assertThatThrownBy(() -> SecretRef.ofEnv("X").resolve(Map.of("X", "two words")))
        .hasMessageContaining("one word")
        .hasMessageNotContaining("two words");
  }

  @Test
  void shouldNotShowASecretThatWasWrittenWhereItsPlaceBelongs(@TempDir Path folder) {
    // when / then
    assertThatThrownBy(() -> SecretRef.ofEnv("sk-ant-SECRET"))
        .hasMessageContaining("the name of an environment variable")
        .hasMessageNotContaining("SECRET");
    assertThatThrownBy(() -> SecretRef.ofEnv("gsk_SECRETsecret").resolve(Map.of()))
        .hasMessageContaining("not shown")
        .hasMessageNotContaining("SECRET");
    assertThatThrownBy(
            () -> SecretRef.ofFile(Path.of("sk-ant-api03-SECRETSECRET")).resolve(Map.of()))
        .hasMessageContaining("not shown")
        .hasMessageNotContaining("SECRET")
        .hasNoCause();
    assertThatThrownBy(() -> SecretRef.ofEnv("ANTHROPIC_API_KEY").resolve(Map.of()))
        .hasMessageContaining("ANTHROPIC_API_KEY");
    assertThatThrownBy(() -> SecretRef.ofFile(folder).resolve(Map.of()))
        .hasMessageContaining(folder + ", but that is a folder");
  }

  @Test
  void shouldWantATokenForEachCallerThatIsItsOwn() {
    // given: two variables with the same content
    List<Caller> callers = List.of(caller("a", "ONE"), caller("b", "OTHER"));

    // when / then
    assertThatThrownBy(() -> new Callers(callers, Map.of("ONE", "t", "OTHER", "t")))
        .hasMessageContaining("b and a have the same");
    assertThat(new Callers(callers, Map.of("ONE", "t", "OTHER", "u"))).isNotNull();
  }

  @Test
  void shouldTellACallerThatItIsNoOperator() throws Exception {
    // given
    fixture.callers = List.of(team());

    // when / then
    assertThat(metrics("x-fairway-token", "team-token")).isEqualTo(403);
    assertThat(metrics("x-fairway-token", "unknown")).isEqualTo(401);
  }

  private int metrics(String... headers) throws Exception {
    return fixture
        .http
        .send(
            HttpRequest.newBuilder(fixture.uri("/metrics")).headers(headers).build(),
            HttpResponse.BodyHandlers.ofString())
        .statusCode();
  }

  private static Caller caller(String name, String env) {
    return new Caller(
        name, SecretRef.ofEnv(env), null, Set.of(), Set.of(), "worker", "batch", false);
  }

  @Test
  void shouldRouteByTheFirstPatternThatMatches() {
    // given
    Router router =
        new Router(
            new GatewayConfig(
                "127.0.0.1",
                0,
                Mode.ENFORCE,
                Map.of(),
                Map.of("a", new Upstream("a", "http://x", "openai", null)),
                List.of(
                    new Route(List.of("gpt-4o*"), "k/a", "a"),
                    new Route(List.of("gpt-*", "o?"), "k/b", "a")),
                List.of(),
                null,
                GatewayConfig.Estimates.DEFAULT,
                GatewayConfig.Waits.DEFAULT,
                GatewayConfig.Bounds.DEFAULT));

    // when / then
    assertThat(router.ofModel("gpt-4o-mini").quota()).isEqualTo("k/a");
    assertThat(router.ofModel("gpt-5").quota()).isEqualTo("k/b");
    assertThat(router.ofModel("o3")).isNull();
    assertThat(router.ofModel("my-gpt-5")).isNull();
  }

  private static GatewayConfig config(
      String host, Map<String, Upstream> upstreams, String routedTo, List<Caller> callers) {
    return new GatewayConfig(
        host,
        0,
        Mode.ENFORCE,
        Map.of(),
        upstreams,
        List.of(new Route(List.of("*"), "k", routedTo)),
        callers,
        null,
        GatewayConfig.Estimates.DEFAULT,
        GatewayConfig.Waits.DEFAULT,
        GatewayConfig.Bounds.DEFAULT);
  }

  private static Caller team() {
    return new Caller(
        "team", SecretRef.ofEnv("TEAM"), null, Set.of(), Set.of(), "worker", "batch", false);
  }
}
