package dev.fairway.agent.gateway;

import static dev.fairway.agent.gateway.GatewayFixture.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.agent.gateway.GatewayConfig.Waits;
import dev.fairway.schemas.Outcome;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Leases over HTTP while the gateway waits for what is under way before it stops. */
class LeasesOfAStoppingGatewayTest {
  private static final String ASK =
      "{\"quota\":\"ant/sonnet\",\"agent\":\"a1\",\"input_tokens\":5000,\"max_output_tokens\":400,\"wait_ms\":%d}";
  private static final String SUCCEEDED =
      "{\"outcome\":\"SUCCEEDED\",\"usage\":{\"input_tokens\":100,\"output_tokens\":10}}";
  private static final Duration LONG = Duration.ofSeconds(20);

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldTakeReportsOnLeasesThatAreHeld() {
    // given
    drainFor(Duration.ofSeconds(20));
    JsonNode held = ask(1_000);
    JsonNode unused = ask(1_000);
    final CompletableFuture<Void> stopped = stop();

    // when
    HttpResponse<String> found = fixture.get(held, 0);
    HttpResponse<String> runs = fixture.settle(held, "{\"outcome\":\"IN_PROGRESS\"}");
    HttpResponse<String> settled = fixture.settle(held, SUCCEEDED);
    assertThat(stopped).as("one is held still").isNotDone();
    HttpResponse<String> givenBack = fixture.delete(unused);

    // then: with the last report there is nothing more to wait for
    assertThat(json(found).path("status").asText()).isEqualTo("GRANTED");
    assertThat(runs.statusCode()).isEqualTo(200);
    assertThat(json(settled).path("outcome").asText()).isEqualTo("SUCCEEDED");
    assertThat(json(givenBack).path("outcome").asText()).isEqualTo("NOT_SENT");
    assertThat(stopped).succeedsWithin(Duration.ofSeconds(10));
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.SUCCEEDED, Outcome.NOT_SENT);
    assertThat(fixture.admission.settled.get(0).usage().inputTokens()).isEqualTo(100);
  }

  @Test
  void shouldSendThoseAwayThatWait() {
    // given: one that waits for its answer, and one that asks now and then
    drainFor(Duration.ofSeconds(20));
    fixture.admission.holds = true;
    final CompletableFuture<HttpResponse<String>> poll =
        fixture.postAsync("/v1/leases", ASK.formatted(60_000));
    await().atMost(LONG).until(() -> fixture.admission.asked.size() == 1);
    ask(0);

    // when
    CompletableFuture<Void> stopped = stop();

    // then: nothing of it is left in line, nor holds the gateway up
    HttpResponse<String> away = poll.join();
    assertThat(away.statusCode()).isEqualTo(503);
    assertThat(away.headers().firstValue("retry-after")).hasValue("1");
    assertThat(away.body()).contains("stopping", "withdrawn", "another gateway");
    assertThat(stopped).succeedsWithin(Duration.ofSeconds(10));
    assertThat(fixture.admission.asked).allMatch(asked -> asked.answer().isCancelled());
    assertThat(fixture.admission.settled).isEmpty();
  }

  @Test
  void shouldGiveNoLeaseAnyMore() {
    // given: one is held, one was granted and its asker does not know, one is asked for again
    drainFor(Duration.ofSeconds(20));
    JsonNode held = json(fixture.post("/v1/leases", ASK.formatted(1_000), "idempotency-key", "k"));
    fixture.admission.holds = true;
    JsonNode inLine = ask(0);
    fixture.admission.asked.get(1).grant(fixture.admission);
    final CompletableFuture<Void> stopped = stop();

    // when
    HttpResponse<String> granted = fixture.get(inLine, 0);
    HttpResponse<String> asked = fixture.post("/v1/leases", ASK.formatted(1_000));
    HttpResponse<String> asPromised =
        fixture.post("/v1/leases", ASK.formatted(1_000), "idempotency-key", "k");

    // then
    assertThat(granted.statusCode()).isEqualTo(503);
    assertThat(asked.statusCode()).isEqualTo(503);
    assertThat(asked.body()).contains("stopping");
    assertThat(fixture.admission.asked).hasSize(2);
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.NOT_SENT);
    assertThat(json(asPromised).path("id")).isEqualTo(held.path("id"));
    assertThat(json(asPromised).path("status").asText()).isEqualTo("GRANTED");
    assertThat(fixture.settle(held, SUCCEEDED).statusCode()).isEqualTo(200);
    assertThat(stopped).succeedsWithin(Duration.ofSeconds(10));
  }

  @Test
  void shouldEndACallThatGoesBackInLineAndSendAwayOneThatIs() {
    // given
    drainFor(Duration.ofSeconds(20));
    JsonNode held = ask(1_000);
    JsonNode inLine = ask(1_000);
    fixture.admission.holds = true;
    String refused = "{\"outcome\":\"RATE_LIMITED\",\"requeue\":true,\"attempt\":1}";
    fixture.settle(inLine, refused);
    final CompletableFuture<Void> stopped = stop();

    // when
    HttpResponse<String> away = fixture.get(inLine, 0);
    HttpResponse<String> ended = fixture.settle(held, refused);

    // then
    assertThat(away.statusCode()).isEqualTo(503);
    assertThat(json(ended).path("status").asText()).isEqualTo("SETTLED");
    assertThat(json(ended).path("outcome").asText()).isEqualTo("RATE_LIMITED");
    assertThat(stopped).succeedsWithin(Duration.ofSeconds(10));
    assertThat(fixture.admission.requeued).hasSize(1);
    assertThat(fixture.admission.requeued.get(0).answer()).isCancelled();
    assertThat(fixture.admission.outcomes())
        .containsExactly(Outcome.RATE_LIMITED, Outcome.RATE_LIMITED);
  }

  @Test
  void shouldTakeALeaseThatNobodyReportsForUsedAtTheEnd() {
    // given
    drainFor(Duration.ofMillis(300));
    ask(1_000);

    // when
    CompletableFuture<Void> stopped = stop();

    // then
    assertThat(stopped).succeedsWithin(Duration.ofSeconds(10));
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.FAILED_AFTER_SEND);
  }

  private JsonNode ask(int waitMs) {
    return json(fixture.post("/v1/leases", ASK.formatted(waitMs)));
  }

  private CompletableFuture<Void> stop() {
    Gateway gateway = fixture.gateway();
    HttpRequest health = HttpRequest.newBuilder(fixture.uri("/healthz")).build();
    CompletableFuture<Void> stopped = CompletableFuture.runAsync(gateway::close);
    await().atMost(LONG).until(() -> stopped.isDone() || fixture.send(health).statusCode() == 503);
    return stopped;
  }

  private void drainFor(Duration drain) {
    Waits waits = fixture.waits;
    fixture.waits =
        new Waits(
            waits.patience(),
            waits.patienceMargin(),
            waits.holdMax(),
            waits.keepAlive(),
            waits.upstreamIdle(),
            drain);
  }
}
