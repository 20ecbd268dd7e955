package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What agents that speak HTTP alone report of their leases. */
class LeaseReportsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String ASK =
      "{\"quota\":\"ant/sonnet\",\"agent\":\"a1\",\"task\":\"T\",\"role\":\"planner\",\"input_tokens\":80,\"max_output_tokens\":10,\"wait_ms\":%d}";
  private static final Duration LONG = Duration.ofSeconds(20);

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldPutACallBackInLineAfterA429() {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    fixture.admission.holds = true;

    // when
    HttpResponse<String> requeued =
        settle(
            granted,
            "{\"outcome\":\"RATE_LIMITED\",\"requeue\":true,\"signal\":{\"status\":429,\"class\":\"RATE_LIMITED\",\"retry_after_ms\":1000}}");
    fixture.admission.requeued.get(0).grant(fixture.admission);

    // then
    assertThat(json(requeued).path("status").asText()).isEqualTo("QUEUED");
    assertThat(json(get(granted, 1_000)).path("status").asText()).isEqualTo("GRANTED");
    assertThat(fixture.admission.settled.get(0).signal().retryAfter())
        .isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void shouldSettleOnce() {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    String succeeded =
        "{\"outcome\":\"SUCCEEDED\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}";

    // when
    HttpResponse<String> first = settle(granted, succeeded);
    HttpResponse<String> again = settle(granted, succeeded);
    HttpResponse<String> other = settle(granted, "{\"outcome\":\"NOT_SENT\"}");
    HttpResponse<String> more =
        settle(granted, succeeded.replace("\"input_tokens\":1", "\"input_tokens\":9000"));

    // then
    assertThat(first.statusCode()).isEqualTo(200);
    assertThat(again.statusCode()).isEqualTo(200);
    assertThat(other.statusCode()).isEqualTo(409);
    assertThat(more.statusCode()).isEqualTo(409);
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.SUCCEEDED);
  }

  @Test
  void shouldRefuseUsageThatNoCallHas() {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));

    // when
    HttpResponse<String> absurd =
        settle(
            granted,
            "{\"outcome\":\"SUCCEEDED\",\"usage\":{\"input_tokens\":100000001,\"output_tokens\":1}}");

    // then: and the right number may still come
    assertThat(absurd.statusCode()).isEqualTo(400);
    assertThat(absurd.body()).contains("100000000");
    assertThat(fixture.admission.settled).isEmpty();
  }

  @Test
  void shouldGiveUpALeaseThatNobodyReports() {
    // given
    fixture.admission.ttl = Duration.ofMillis(300);

    // when
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    await()
        .atMost(LONG)
        .until(() -> json(get(granted, 0)).path("status").asText().equals("SETTLED"));

    // then: the coordinator gives it up by itself, since it is renewed no more
    assertThat(fixture.admission.expiring).hasSize(1);
    JsonNode gone = json(get(granted, 0));
    assertThat(gone.path("outcome").asText()).isEqualTo("FAILED_AFTER_SEND");
    assertThat(settle(granted, "{\"outcome\":\"IN_PROGRESS\"}").statusCode()).isEqualTo(409);
    assertThat(fixture.admission.settled).isEmpty();
    fixture.gateway().close();
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.FAILED_AFTER_SEND);
  }

  @Test
  void shouldTakeOneReportOfALeaseThatWasGivenUp() {
    // given
    fixture.admission.ttl = Duration.ofMillis(300);
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    await()
        .atMost(LONG)
        .until(() -> json(get(granted, 0)).path("status").asText().equals("SETTLED"));
    String report =
        "{\"outcome\":\"SUCCEEDED\",\"usage\":{\"input_tokens\":70,\"output_tokens\":9}}";

    // when
    HttpResponse<String> late = settle(granted, report);
    HttpResponse<String> again = settle(granted, report);
    HttpResponse<String> other = settle(granted, "{\"outcome\":\"NOT_SENT\"}");

    // then
    assertThat(json(late).path("outcome").asText()).isEqualTo("SUCCEEDED");
    assertThat(again.statusCode()).isEqualTo(200);
    assertThat(other.statusCode()).isEqualTo(409);
    assertThat(fixture.admission.onlySettled().usage().inputTokens()).isEqualTo(70);
  }

  @Test
  void shouldPutEachAttemptBackInLineOnce() {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    fixture.admission.holds = true;
    String first = "{\"outcome\":\"RATE_LIMITED\",\"requeue\":true,\"attempt\":1}";

    // when: a report comes twice at once, and once more behind the next grant
    HttpResponse<String> told = settle(granted, first);
    HttpResponse<String> again = settle(granted, first);
    fixture.admission.requeued.get(0).grant(fixture.admission);
    JsonNode second = json(get(granted, 1_000));
    HttpResponse<String> late = settle(granted, first);
    HttpResponse<String> wrong = settle(granted, "{\"outcome\":\"SUCCEEDED\",\"attempt\":1}");

    // then
    assertThat(granted.path("attempt").asInt()).isEqualTo(1);
    assertThat(told.statusCode()).isEqualTo(202);
    assertThat(again.statusCode()).isEqualTo(202);
    assertThat(second.path("attempt").asInt()).isEqualTo(2);
    assertThat(late.statusCode()).isEqualTo(200);
    assertThat(json(late).path("status").asText()).isEqualTo("GRANTED");
    assertThat(wrong.statusCode()).isEqualTo(409);
    assertThat(wrong.body()).contains("attempt 2");
    assertThat(fixture.admission.requeued).hasSize(1);
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.RATE_LIMITED);
    settle(granted, first.replace(":1}", ":2}"));
    assertThat(fixture.admission.requeued).hasSize(2);
  }

  @Test
  void shouldNotTakeAReportWithoutItsAttemptForOneOnAGrantThatNobodyHasSeen() {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    fixture.admission.holds = true;
    String report = "{\"outcome\":\"RATE_LIMITED\",\"requeue\":true}";
    settle(granted, report);

    // when
    HttpResponse<String> inLine = settle(granted, report);
    fixture.admission.requeued.get(0).grant(fixture.admission);
    HttpResponse<String> behindTheGrant = settle(granted, report);

    // then: it is the same report again; the next one can be on the grant that this one told of
    assertThat(inLine.statusCode()).isEqualTo(202);
    assertThat(json(behindTheGrant).path("attempt").asInt()).isEqualTo(2);
    assertThat(fixture.admission.requeued).hasSize(1);
    settle(granted, report);
    assertThat(fixture.admission.requeued).hasSize(2);
  }

  @Test
  void shouldKeepALeaseThatIsReportedToRun() {
    // given
    fixture.admission.ttl = Duration.ofSeconds(1);
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));

    // when
    await()
        .during(Duration.ofMillis(1_500))
        .pollInterval(Duration.ofMillis(200))
        .atMost(LONG)
        .until(() -> settle(granted, "{\"outcome\":\"IN_PROGRESS\"}").statusCode() == 200);

    // then
    assertThat(fixture.admission.settled).isEmpty();
    assertThat(fixture.admission.inProgress).isNotEmpty();
  }

  private HttpResponse<String> settle(JsonNode lease, String body) {
    return fixture.post("/v1/leases/" + lease.path("id").asText() + "/settle", body);
  }

  private HttpResponse<String> get(JsonNode lease, int waitMs) {
    try {
      return fixture.http.send(
          HttpRequest.newBuilder(
                  fixture.uri("/v1/leases/" + lease.path("id").asText() + "?wait_ms=" + waitMs))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static JsonNode json(HttpResponse<String> response) {
    try {
      return JSON.readTree(response.body());
    } catch (JsonProcessingException e) {
      throw new AssertionError(response.body(), e);
    }
  }
}
