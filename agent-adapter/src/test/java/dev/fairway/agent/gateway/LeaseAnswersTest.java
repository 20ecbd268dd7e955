package dev.fairway.agent.gateway;

import static dev.fairway.agent.gateway.GatewayFixture.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Answers of the lease API that do not reach their agent, and what it does then. */
class LeaseAnswersTest {
  private static final String ASK =
      "{\"quota\":\"ant/sonnet\",\"agent\":\"a1\",\"input_tokens\":80,\"max_output_tokens\":10,\"wait_ms\":%d}";
  private static final Duration LONG = Duration.ofSeconds(20);

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldGiveBackAGrantThatAnAgentWasGoneFor() throws Exception {
    // given: an agent that waits is killed
    fixture.admission.holds = true;
    fixture.admission.ttl = Duration.ofMillis(300);
    JsonNode queued = json(fixture.post("/v1/leases", ASK.formatted(0)));
    leaveWhileWaiting("GET /v1/leases/" + queued.path("id").asText() + "?wait_ms=30000", null);

    // when
    fixture.admission.asked.get(0).grant(fixture.admission);

    // then: nobody can have used it
    await().atMost(LONG).until(() -> !fixture.admission.settled.isEmpty());
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.NOT_SENT);
    assertThat(fixture.admission.expiring).isEmpty();
  }

  @Test
  void shouldNotTakeAResentReportForOneOnAGrantThatAnAgentWasGoneFor() throws Exception {
    // given: an agent that waits for its next attempt is killed
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    fixture.admission.holds = true;
    String report = "{\"outcome\":\"RATE_LIMITED\",\"requeue\":true}";
    fixture.settle(granted, report);
    leaveWhileWaiting("GET /v1/leases/" + granted.path("id").asText() + "?wait_ms=30000", null);
    fixture.admission.requeued.get(0).grant(fixture.admission);

    // when: its successor knows of the 429 alone
    HttpResponse<String> resent = fixture.settle(granted, report);

    // then
    assertThat(resent.statusCode()).isEqualTo(202);
    assertThat(fixture.admission.requeued).hasSize(1);
  }

  @Test
  void shouldWithdrawARequestWhoseAskerHungUpBeforeItHadItsId() throws Exception {
    // given
    fixture.admission.holds = true;

    // when
    leaveWhileWaiting("POST /v1/leases", ASK.formatted(30_000));

    // then
    await().atMost(LONG).until(() -> fixture.admission.asked.get(0).answer().isCancelled());
  }

  @Test
  void shouldGiveARequestThatIsAskedForAgainItsPlaceBack() throws Exception {
    // given: the answer to one with a key is lost
    fixture.admission.holds = true;
    leaveWhileWaiting(
        "POST /v1/leases", ASK.formatted(30_000), "Idempotency-Key: k1", "x-fairway-task: T");

    // when
    JsonNode back = ask("k1", 0);
    fixture.admission.asked.get(0).grant(fixture.admission);
    JsonNode granted = ask("k1", 1_000);
    JsonNode another = ask("k2", 0);

    // then
    assertThat(back.path("status").asText()).isEqualTo("QUEUED");
    assertThat(granted.path("status").asText()).isEqualTo("GRANTED");
    assertThat(granted.path("id").asText()).isEqualTo(back.path("id").asText());
    assertThat(another.path("id").asText()).isNotEqualTo(back.path("id").asText());
    assertThat(fixture.admission.asked).hasSize(2);
  }

  @Test
  void shouldTellWhatBecameOfARequestThatIsAskedForAgainOnceItIsOver() {
    // given
    JsonNode granted = ask("k1", 1_000);
    fixture.settle(granted, "{\"outcome\":\"SUCCEEDED\"}");

    // when
    JsonNode again = ask("k1", 1_000);

    // then
    assertThat(again.path("status").asText()).isEqualTo("SETTLED");
    assertThat(again.path("id").asText()).isEqualTo(granted.path("id").asText());
    assertThat(fixture.admission.asked).hasSize(1);
  }

  @Test
  void shouldAskAnewWhereTheRequestWithThatKeyTookNothing() {
    // given
    fixture.admission.holds = true;
    ask("k1", 0);
    fixture.admission.asked.get(0).refuse(RejectReason.QUEUE_FULL, Duration.ofMillis(100));
    JsonNode second = ask("k1", 0);
    fixture.delete(second);

    // when
    JsonNode third = ask("k1", 0);

    // then
    assertThat(third.path("status").asText()).isEqualTo("QUEUED");
    assertThat(fixture.admission.asked).hasSize(3);
  }

  @Test
  void shouldRefuseAKeyOfAnotherRequest() {
    // given
    ask("k1", 0);

    // when
    HttpResponse<String> other =
        fixture.post("/v1/leases", ASK.formatted(0).replace("80", "81"), "idempotency-key", "k1");
    HttpResponse<String> tooLong =
        fixture.post("/v1/leases", ASK.formatted(0), "idempotency-key", "k".repeat(256));

    // then
    assertThat(other.statusCode()).isEqualTo(409);
    assertThat(other.body()).contains("idempotency key");
    assertThat(tooLong.statusCode()).isEqualTo(400);
    assertThat(tooLong.body()).contains("255");
    assertThat(fixture.admission.asked).hasSize(1);
  }

  @Test
  void shouldTellAllThatPoll() {
    // given
    fixture.admission.holds = true;
    JsonNode queued = json(fixture.post("/v1/leases", ASK.formatted(0)));
    HttpRequest poll = HttpRequest.newBuilder(fixture.leaseUri(queued, "?wait_ms=20000")).build();
    CompletableFuture<HttpResponse<String>> one = async(poll);
    CompletableFuture<HttpResponse<String>> two = async(poll);

    // when
    fixture.admission.asked.get(0).grant(fixture.admission);

    // then
    assertThat(json(one.join()).path("status").asText()).isEqualTo("GRANTED");
    assertThat(json(two.join()).path("status").asText()).isEqualTo("GRANTED");
  }

  private CompletableFuture<HttpResponse<String>> async(HttpRequest request) {
    return fixture.http.sendAsync(request, HttpResponse.BodyHandlers.ofString());
  }

  private JsonNode ask(String key, int waitMs) {
    return json(
        fixture.post(
            "/v1/leases", ASK.formatted(waitMs), "idempotency-key", key, "x-fairway-task", "T"));
  }

  /** Sends a request, and closes the connection once the gateway has it and lets it wait. */
  private void leaveWhileWaiting(String line, String body, String... headers) throws Exception {
    int asked = fixture.admission.asked.size();
    await().atMost(LONG).until(() -> open() == 0);
    try (Socket socket = new Socket("127.0.0.1", fixture.uri("/").getPort())) {
      StringBuilder request = new StringBuilder(line + " HTTP/1.1\r\nhost: gateway\r\n");
      for (String header : headers) {
        request.append(header).append("\r\n");
      }
      request
          .append("content-length: ")
          .append(body == null ? 0 : body.length())
          .append("\r\n\r\n");
      request.append(body == null ? "" : body);
      socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.US_ASCII));
      await()
          .atMost(LONG)
          .until(() -> open() > 0 && (body == null || fixture.admission.asked.size() > asked));
    }
    await().atMost(LONG).until(() -> open() == 0);
  }

  private int open() {
    return fixture.gateway().stats().open();
  }
}
