package dev.fairway.agent.gateway;

import static dev.fairway.agent.gateway.GatewayFixture.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.agent.ProviderSignal.Dimension;
import dev.fairway.agent.QueueUpdate;
import dev.fairway.agent.UsageReport;
import dev.fairway.agent.gateway.FakeAdmission.Asked;
import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import dev.fairway.schemas.WaitReason;
import dev.fairway.schemas.WaitsFor;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Leases and tasks for agents that speak HTTP alone. */
class LeaseApiTest {
  private static final String ASK =
      "{\"quota\":\"ant/sonnet\",\"agent\":\"a1\",\"task\":\"T\",\"role\":\"planner\",\"input_tokens\":80,\"max_output_tokens\":10,\"wait_ms\":%d}";
  private static final Duration LONG = Duration.ofSeconds(20);

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldGrantAndSettle() {
    // when
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    HttpResponse<String> settled =
        fixture.settle(
            granted,
            "{\"outcome\":\"SUCCEEDED\",\"usage\":{\"input_tokens\":75,\"cache_read_tokens\":0,\"cache_write_tokens\":0,\"output_tokens\":9},\"signal\":{\"status\":200,\"limits\":{\"input_tokens\":{\"limit\":30000,\"remaining\":29000,\"reset_ms\":2000}}}}");

    // then
    assertThat(granted.path("status").asText()).isEqualTo("GRANTED");
    assertThat(granted.path("expires_in_ms").asLong()).isBetween(1L, 120_000L);
    assertThat(granted.at("/charged/input_tokens").asLong()).isEqualTo(10);
    assertThat(json(settled).path("status").asText()).isEqualTo("SETTLED");
    var call = fixture.admission.asked.get(0).call();
    assertThat(call.member()).isEqualTo("a1");
    assertThat(call.taskId()).isEqualTo("T");
    assertThat(call.role()).isEqualTo("planner");
    assertThat(call.estimate().inputTokens()).isEqualTo(80);
    FakeAdmission.Settled told = fixture.admission.onlySettled();
    assertThat(told.usage()).isEqualTo(new UsageReport(75L, 0L, 0L, 9L, true));
    assertThat(told.signal().limits()).hasSize(1);
  }

  @Test
  void shouldTellTheTimesThatAnAgentHasMeasuredAndWhatRefusedIt() {
    // given
    JsonNode lease = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    String signal =
        "\"signal\":{\"status\":429,\"binding\":\"%s\",\"ms_since_send\":61000,\"age_ms\":60000}";
    String report = "{\"outcome\":\"%s\"," + signal + "}";

    // when
    int running = fixture.settle(lease, report.formatted("IN_PROGRESS", "tokens")).statusCode();
    int unknown = fixture.settle(lease, report.formatted("RATE_LIMITED", "bytes")).statusCode();
    int over = fixture.settle(lease, report.formatted("RATE_LIMITED", "tokens")).statusCode();

    // then
    assertThat(List.of(running, unknown, over)).containsExactly(200, 400, 200);
    assertThat(fixture.admission.measured).containsExactly("PT1M1S PT1M", "PT1M1S PT1M");
    assertThat(fixture.admission.onlySettled().signal().binding()).isEqualTo(Dimension.TOKENS);
  }

  @Test
  void shouldAskForADeadlineThatIsCountedFromNow() {
    // given
    Instant before = Instant.now();

    // when
    fixture.post("/v1/leases", ASK.formatted(0).replace("{", "{\"deadline_ms\":2000,"));
    fixture.post("/v1/leases", ASK.formatted(0).replace("{", "{\"deadline_ms\":3600000,"));

    // then: nobody waits for longer than the gateway holds a call
    var soon = fixture.admission.asked.get(0).call();
    assertThat(soon.deadline()).isBetween(before.plusSeconds(2), Instant.now().plusSeconds(2));
    assertThat(soon.timeout()).isEqualTo(Duration.ofSeconds(7));
    assertThat(fixture.admission.asked.get(1).call().timeout()).isEqualTo(Duration.ofSeconds(60));
  }

  @Test
  void shouldTellWhereARequestStandsAndWaitForItsGrant() {
    // given
    fixture.admission.holds = true;
    JsonNode queued = json(fixture.post("/v1/leases", ASK.formatted(0)));
    Asked asked = fixture.admission.asked.get(0);
    asked
        .call()
        .onQueued()
        .accept(
            new QueueUpdate(
                2,
                Duration.ofMillis(1_500),
                Optional.empty(),
                Optional.of(new WaitsFor(WaitReason.LIMIT, "k/org", "requests"))));

    // when
    HttpResponse<String> looked = fixture.get(queued, 0);
    CompletableFuture<HttpResponse<String>> polled =
        fixture.http.sendAsync(
            HttpRequest.newBuilder(
                    fixture.uri("/v1/leases/" + queued.path("id").asText() + "?wait_ms=20000"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    asked.grant(fixture.admission);

    // then
    assertThat(queued.path("status").asText()).isEqualTo("QUEUED");
    assertThat(looked.statusCode()).isEqualTo(202);
    assertThat(json(looked).path("position").asInt()).isEqualTo(2);
    assertThat(json(looked).path("eta_ms").asInt()).isEqualTo(1_500);
    assertThat(json(looked).path("waits_for").toString())
        .isEqualTo("{\"reason\":\"LIMIT\",\"quota\":\"k/org\",\"dimension\":\"requests\"}");
    HttpResponse<String> granted = polled.orTimeout(20, TimeUnit.SECONDS).join();
    assertThat(json(granted).path("status").asText()).isEqualTo("GRANTED");
  }

  @Test
  void shouldSayWhyARequestIsRejected() {
    // given
    fixture.admission.holds = true;
    JsonNode queued = json(fixture.post("/v1/leases", ASK.formatted(0)));
    fixture.admission.asked.get(0).refuse(RejectReason.QUEUE_FULL, Duration.ofMillis(2_500));

    // when
    HttpResponse<String> rejected = fixture.get(queued, 1_000);

    // then
    assertThat(json(rejected).path("status").asText()).isEqualTo("REJECTED");
    assertThat(json(rejected).path("reason").asText()).isEqualTo("QUEUE_FULL");
    assertThat(json(rejected).path("retry_after_ms").asLong()).isEqualTo(2_500);
    assertThat(rejected.headers().firstValue("retry-after")).contains("3");
  }

  @Test
  void shouldWithdrawARequest() {
    // given
    fixture.admission.holds = true;
    JsonNode queued = json(fixture.post("/v1/leases", ASK.formatted(0)));

    // when
    HttpResponse<String> withdrawn = fixture.delete(queued);

    // then
    assertThat(json(withdrawn).path("outcome").asText()).isEqualTo("CANCELLED");
    assertThat(fixture.admission.asked.get(0).answer().isCancelled()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"/v1/tasks, tell of tasks", "/v1/leases, ask for a lease"})
  void shouldSayWhichMethodAPathTakes(String path, String why) {
    // when
    HttpResponse<String> answer =
        fixture.send(HttpRequest.newBuilder(fixture.uri(path)).GET().build());

    // then
    assertThat(answer.statusCode()).isEqualTo(405);
    assertThat(answer.headers().firstValue("allow")).contains("POST");
    assertThat(json(answer).at("/error/message").asText())
        .isEqualTo("Expected POST to " + why + ", but found GET.");
  }

  @Test
  void shouldTellTasks() {
    // when
    HttpResponse<String> told =
        fixture.post(
            "/v1/tasks",
            "{\"quota\":\"ant/sonnet\",\"id\":\"T2\",\"role\":\"worker\",\"state\":\"BLOCKED\",\"blocked_on\":[\"T\"]}");

    // then
    assertThat(told.statusCode()).isEqualTo(202);
    assertThat(fixture.admission.tasks)
        .containsExactly("orchestrator ant/sonnet T2 worker BLOCKED [T]");
  }

  @Test
  void shouldTellAGraphOfTasksInOneCallOrNothingOfIt() {
    // when
    HttpResponse<String> told =
        fixture.post(
            "/v1/tasks",
            "{\"quota\":\"ant/sonnet\",\"tasks\":[{\"id\":\"T\",\"role\":\"planner\",\"state\":\"STARTED\"},"
                + "{\"id\":\"T2\",\"role\":\"worker\",\"state\":\"BLOCKED\",\"blocked_on\":[\"T\"]}]}");
    HttpResponse<String> wrong =
        fixture.post(
            "/v1/tasks",
            "{\"quota\":\"ant/sonnet\",\"tasks\":[{\"id\":\"T3\",\"state\":\"DONE\"},{\"id\":\"a b\",\"state\":\"DONE\"}]}");

    // then
    assertThat(told.statusCode()).isEqualTo(202);
    assertThat(told.body()).isEqualTo("{\"tasks\":2}");
    assertThat(wrong.statusCode()).isEqualTo(400);
    assertThat(wrong.body()).contains("Expected an id");
    assertThat(fixture.admission.tasks)
        .containsExactly(
            "orchestrator ant/sonnet T planner STARTED []",
            "orchestrator ant/sonnet T2 worker BLOCKED [T]");
  }

  @Test
  void shouldKeepTasksOfOneCallerFromAnother() {
    // given
    fixture.callers =
        List.of(
            caller("a", "TEAM", false),
            new Caller(
                "b",
                SecretRef.ofEnv("OPENAI_KEY"),
                null,
                Set.of("worker"),
                Set.of(),
                "worker",
                "batch",
                false));
    String update =
        "{\"quota\":\"ant/sonnet\",\"id\":\"%s\",\"role\":\"planner\",\"state\":\"BLOCKED\",\"blocked_on\":[\"%s\"]}";

    // when: one takes its own ids, the other one the same, and then those of the first
    fixture.post("/v1/tasks", update.formatted("T2", "T"), "x-fairway-token", "team-token");
    fixture.post("/v1/tasks", update.formatted("T2", "T"), "x-fairway-token", "sk-oai-secret");
    fixture.post("/v1/tasks", update.formatted("a:T2", "a:T"), "x-fairway-token", "sk-oai-secret");
    fixture.post("/v1/leases", ASK.formatted(0), "x-fairway-token", "sk-oai-secret");

    // then: neither reaches the other's, a role is one that the caller may claim, and the task of a
    // lease is the one that was told
    assertThat(fixture.admission.tasks)
        .containsExactly(
            "a:orchestrator ant/sonnet a:T2 planner BLOCKED [a:T]",
            "b:orchestrator ant/sonnet b:T2 worker BLOCKED [b:T]",
            "b:orchestrator ant/sonnet b:a:T2 worker BLOCKED [b:a:T]");
    assertThat(fixture.admission.asked.get(0).call().taskId()).isEqualTo("b:T");
  }

  @Test
  void shouldKeepLongTasksOfCallersApartToo() {
    // given: so long that they are told by their hashes
    fixture.callers =
        List.of(caller("a".repeat(30), "TEAM", false), caller("b", "OPENAI_KEY", false));
    String update =
        "{\"quota\":\"ant/sonnet\",\"id\":\"%s\",\"role\":\"worker\",\"state\":\"DONE\"}"
            .formatted("T".repeat(100));

    // when
    fixture.post("/v1/tasks", update, "x-fairway-token", "team-token");
    fixture.post("/v1/tasks", update, "x-fairway-token", "sk-oai-secret");

    // then
    assertThat(fixture.admission.tasks).hasSize(2).doesNotHaveDuplicates();
    assertThat(fixture.admission.tasks.get(0)).contains(" " + "a".repeat(30));
    assertThat(fixture.admission.tasks.get(1)).contains(" b:TTT");
  }

  @Test
  void shouldRefuseTasksThatWaitForThemselves() {
    // given
    String graph =
        "{\"quota\":\"ant/sonnet\",\"tasks\":[{\"id\":\"T1\",\"state\":\"BLOCKED\",\"blocked_on\":[\"T2\",\"T4\"]},"
            + "{\"id\":\"T2\",\"state\":\"BLOCKED\",\"blocked_on\":[\"T4\",\"T3\"]},"
            + "{\"id\":\"T4\",\"role\":\"worker\",\"state\":\"STARTED\"},"
            + "{\"id\":\"T3\",\"role\":\"worker\",\"state\":\"%s\",\"blocked_on\":[%s]}]}";

    // when
    HttpResponse<String> itself =
        fixture.post(
            "/v1/tasks",
            "{\"quota\":\"ant/sonnet\",\"id\":\"T\",\"state\":\"BLOCKED\",\"blocked_on\":[\"U\",\"T\"]}");
    HttpResponse<String> circle = fixture.post("/v1/tasks", graph.formatted("BLOCKED", "\"T1\""));
    HttpResponse<String> started = fixture.post("/v1/tasks", graph.formatted("STARTED", "\"T1\""));

    // then
    assertThat(itself.statusCode()).isEqualTo(400);
    assertThat(itself.body()).contains("T blocked on T.");
    assertThat(circle.statusCode()).isEqualTo(400);
    assertThat(circle.body()).contains(" blocked on T").contains("T1", "T2", "T3");
    assertThat(circle.body()).doesNotContain("T4");
    assertThat(started.statusCode()).isEqualTo(400);
    assertThat(started.body()).contains("with state BLOCKED alone");
    assertThat(fixture.admission.tasks).isEmpty();
    String sound = graph.replace("\"state\":\"BLOCKED\"", "\"role\":\"x\",\"state\":\"BLOCKED\"");
    assertThat(fixture.post("/v1/tasks", sound.formatted("DONE", "")).statusCode()).isEqualTo(202);
    assertThat(fixture.admission.tasks).hasSize(4);
  }

  @Test
  void shouldTakeAChainOfAsManyTasksAsOneCallHas() {
    // given
    StringBuilder tasks = new StringBuilder();
    for (int i = 0; i < TaskApi.TASKS_MAX; i++) {
      tasks
          .append(i == 0 ? "" : ",")
          .append("{\"role\":\"r\",\"state\":\"BLOCKED\",\"id\":\"T" + i)
          .append("\",\"blocked_on\":[\"T" + (i + 1) + "\",\"T" + (i + 2) + "\"]}");
    }

    // when
    HttpResponse<String> told =
        fixture.post("/v1/tasks", "{\"quota\":\"ant/sonnet\",\"tasks\":[" + tasks + "]}");

    // then
    assertThat(told.statusCode()).isEqualTo(202);
  }

  @Test
  void shouldSayWhatIsWrongWithACall() {
    // when / then
    assertThat(fixture.post("/v1/leases", "{").statusCode()).isEqualTo(400);
    assertThat(fixture.post("/v1/leases", "{\"quota\":\"q\"}").body()).contains("\\\"agent\\\"");
    assertThat(fixture.post("/v1/leases", "{\"quota\":\"a b\",\"agent\":\"a\"}").body())
        .contains("Expected a quota id");
    assertThat(
            fixture
                .post("/v1/leases", "{\"quota\":\"q\",\"agent\":\"a\",\"input_tokens\":-1}")
                .body())
        .contains("input_tokens");
    assertThat(fixture.post("/v1/leases", "{\"quota\":\"q\",\"agent\":\"a\",\"x\":1}").body())
        .contains("Expected fields of");
    assertThat(fixture.post("/v1/leases/unknown/settle", "{}").statusCode()).isEqualTo(404);
    assertThat(
            fixture.post("/v1/tasks", "{\"quota\":\"q\",\"id\":\"t\",\"state\":\"LATE\"}").body())
        .contains("STARTED");
    assertThat(fixture.admission.asked).isEmpty();
  }

  @Test
  void shouldKeepLeasesOfOneCallerFromAnother() {
    // given
    fixture.callers = List.of(caller("a", "TEAM", false), caller("b", "OPENAI_KEY", false));
    JsonNode granted =
        json(fixture.post("/v1/leases", ASK.formatted(1_000), "x-fairway-token", "team-token"));

    // when
    HttpResponse<String> foreign =
        fixture.post(
            "/v1/leases/" + granted.path("id").asText() + "/settle",
            "{\"outcome\":\"NOT_SENT\"}",
            "x-fairway-token",
            "sk-oai-secret");

    // then
    assertThat(foreign.statusCode()).isEqualTo(404);
    assertThat(fixture.admission.asked.get(0).call().member()).isEqualTo("a:a1");
    assertThat(fixture.admission.settled).isEmpty();
  }

  @Test
  void shouldSwitchModesAtRunTime() throws Exception {
    // given
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));
    fixture.admission.holds = true;

    // when
    HttpResponse<String> switched = put("/fairway/modes/ant/sonnet", "{\"mode\":\"OBSERVE\"}");
    HttpResponse<String> passed = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then: it is asked for and not waited for
    assertThat(switched.statusCode()).isEqualTo(200);
    assertThat(passed.statusCode()).isEqualTo(200);
    assertThat(fixture.admission.asked).hasSize(1);
    assertThat(passed.headers().firstValue("x-fairway-request-id"))
        .as("the request that is in the journal, granted or not")
        .hasValue(fixture.admission.asked.get(0).call().requestId());
    FakeAdmission.Settled settled = fixture.admission.onlySettled();
    assertThat(settled.outcome()).isEqualTo(Outcome.UNLEASED);
    assertThat(settled.usage().inputTokens()).isEqualTo(12);
    assertThat(fixture.admission.asked.get(0).answer().isCancelled()).isTrue();
    assertThat(put("/fairway/modes/ant/sonnet", "{\"mode\":\"OFF\"}").statusCode()).isEqualTo(400);
    assertThat(put("/fairway/modes/a b", "{\"mode\":\"OBSERVE\"}").statusCode()).isEqualTo(404);
  }

  @Test
  void shouldAskForAnObservedCallOnceItIsOnItsWay() throws Exception {
    // given: asking takes until the call has arrived upstream
    put("/fairway/modes/ant/sonnet", "{\"mode\":\"OBSERVE\"}");
    CountDownLatch arrived = new CountDownLatch(1);
    fixture.upstream.otherwise(
        exchange -> {
          arrived.countDown();
          FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER);
        });
    AtomicBoolean inTime = new AtomicBoolean();
    fixture.admission.asking = () -> inTime.set(arrived.await(10, TimeUnit.SECONDS));

    // when
    HttpResponse<String> passed = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then: nobody waited for it, and the call is settled on its lease
    assertThat(passed.statusCode()).isEqualTo(200);
    assertThat(inTime).isTrue();
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.SUCCEEDED);
  }

  @Test
  void shouldSettleAnObservedCallOnItsLeaseWhereItIsGranted() throws Exception {
    // given
    put("/fairway/modes/ant/sonnet", "{\"mode\":\"OBSERVE\"}");
    fixture.upstream.otherwise(
        exchange ->
            FakeUpstream.json(
                exchange,
                429,
                "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}"));

    // when
    HttpResponse<String> response = fixture.post("/v1/messages", GatewayFixture.message("hi"));

    // then: who only observes does not come between a provider's 429 and its client
    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(response.headers().firstValue("x-should-retry")).isEmpty();
    assertThat(response.headers().firstValue("x-fairway-request-id")).hasValue("r1");
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.RATE_LIMITED);
    assertThat(fixture.upstream.received).hasSize(1);
  }

  @Test
  void shouldLetOnlyOperatorsSwitchModes() throws Exception {
    // given
    fixture.callers = List.of(caller("a", "TEAM", false), caller("op", "OPENAI_KEY", true));

    // when / then
    assertThat(
            put(
                    "/fairway/modes/ant/sonnet",
                    "{\"mode\":\"OBSERVE\"}",
                    "x-fairway-token",
                    "team-token")
                .statusCode())
        .isEqualTo(403);
    assertThat(
            put(
                    "/fairway/modes/ant/sonnet",
                    "{\"mode\":\"OBSERVE\"}",
                    "x-fairway-token",
                    "sk-oai-secret")
                .statusCode())
        .isEqualTo(200);
  }

  @Test
  void shouldNotSwitchAQuotaThatNoCallGoesThrough() throws Exception {
    // when
    HttpResponse<String> typo = put("/fairway/modes/ant/sonet", "{\"mode\":\"OBSERVE\"}");

    // then
    assertThat(typo.statusCode()).isEqualTo(404);
    assertThat(typo.body()).contains("'ant/sonet'");
  }

  @Test
  void shouldLetAQuotaGoByTheConfigurationAgain() throws Exception {
    // given
    put("/fairway/modes/ant/sonnet", "{\"mode\":\"OBSERVE\"}");
    HttpRequest unset =
        HttpRequest.newBuilder(fixture.uri("/fairway/modes/ant/sonnet")).DELETE().build();
    HttpRequest modes = HttpRequest.newBuilder(fixture.uri("/fairway/modes")).build();

    // when
    HttpResponse<String> first = fixture.send(unset);
    HttpResponse<String> again = fixture.send(unset);

    // then
    assertThat(first.statusCode()).isEqualTo(200);
    assertThat(first.body()).isEqualTo("{\"quota\":\"ant/sonnet\",\"mode\":\"ENFORCE\"}");
    assertThat(again.body()).isEqualTo(first.body());
    assertThat(json(fixture.send(modes)).path("quotas")).isEmpty();
  }

  private static Caller caller(String name, String env, boolean operator) {
    return new Caller(
        name, SecretRef.ofEnv(env), null, Set.of(), Set.of(), "worker", "batch", operator);
  }

  private HttpResponse<String> put(String path, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(fixture.uri(path.replace(" ", "%20")))
            .PUT(HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return fixture.http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }
}
