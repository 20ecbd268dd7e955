package dev.fairway.agent.gateway;

import static dev.fairway.agent.gateway.GatewayFixture.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What agents that speak HTTP alone report of their leases. */
class LeaseReportsTest {
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
    assertThat(json(fixture.get(granted, 1_000)).path("status").asText()).isEqualTo("GRANTED");
    assertThat(fixture.admission.settled.get(0).signal().retryAfter())
        .isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void shouldRefuseARequeueWithAnotherOutcomeThanA429() {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));

    // when
    HttpResponse<String> refused = settle(granted, "{\"outcome\":\"OVERLOADED\",\"requeue\":true}");
    HttpResponse<String> settled = settle(granted, "{\"outcome\":\"OVERLOADED\"}");

    // then: the lease is still there to be settled
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("RATE_LIMITED alone", "OVERLOADED", "retry_of");
    assertThat(json(settled).path("outcome").asText()).isEqualTo("OVERLOADED");
    assertThat(fixture.admission.settled).hasSize(1);
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
        .until(() -> json(fixture.get(granted, 0)).path("status").asText().equals("SETTLED"));

    // then: the coordinator gives it up by itself, since it is renewed no more
    assertThat(fixture.admission.expiring).hasSize(1);
    JsonNode gone = json(fixture.get(granted, 0));
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
        .until(() -> json(fixture.get(granted, 0)).path("status").asText().equals("SETTLED"));
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
    JsonNode second = json(fixture.get(granted, 1_000));
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
  void shouldNotTakeAReportWithoutItsAttemptForOneOnAGrantThatNobodyWasToldOf() {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    fixture.admission.holds = true;
    String report = "{\"outcome\":\"RATE_LIMITED\",\"requeue\":true}";
    settle(granted, report);

    // when: its answer is lost, and so is that of the next one, which finds the call granted
    HttpResponse<String> inLine = settle(granted, report);
    fixture.admission.requeued.get(0).grant(fixture.admission);
    HttpResponse<String> behindTheGrant = settle(granted, report);
    HttpResponse<String> onceMore = settle(granted, report);

    // then: all of them are the same report, answered alike; who asks is told of the next grant
    assertThat(inLine.statusCode()).isEqualTo(202);
    assertThat(behindTheGrant.statusCode()).isEqualTo(202);
    assertThat(onceMore.body()).isEqualTo(inLine.body());
    assertThat(fixture.admission.requeued).hasSize(1);
    assertThat(json(fixture.get(granted, 0)).path("attempt").asInt()).isEqualTo(2);
    settle(granted, report);
    assertThat(fixture.admission.requeued).hasSize(2);
  }

  @Test
  void shouldSayTheSameOfARepeatedReportWhereTheNextAttemptIsRejected() {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    fixture.admission.holds = true;
    String report = "{\"outcome\":\"RATE_LIMITED\",\"requeue\":true}";
    settle(granted, report);
    fixture.admission.requeued.get(0).refuse(RejectReason.BUDGET_SPENT, null);

    // when
    HttpResponse<String> again = settle(granted, report);

    // then
    assertThat(again.statusCode()).isEqualTo(200);
    assertThat(json(again).path("status").asText()).isEqualTo("REJECTED");
  }

  @Test
  void shouldCountEachAttemptOfOneThatGoesOnWithoutALease() {
    // given: where the coordinator is silent each try is a first attempt
    fixture.admission.restarts = true;
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    settle(granted, "{\"outcome\":\"RATE_LIMITED\",\"requeue\":true,\"attempt\":1}");
    JsonNode second = json(fixture.get(granted, 1_000));

    // when
    HttpResponse<String> again =
        settle(
            granted,
            "{\"outcome\":\"RATE_LIMITED\",\"requeue\":true,\"attempt\":%d}"
                .formatted(second.path("attempt").asInt()));

    // then
    assertThat(second.path("attempt").asInt()).isEqualTo(2);
    assertThat(again.statusCode()).isEqualTo(202);
    assertThat(fixture.admission.requeued).hasSize(2);
  }

  @Test
  void shouldTakeACancelForTheAttemptThatItNames() {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    settle(granted, "{\"outcome\":\"RATE_LIMITED\",\"requeue\":true,\"attempt\":1}");
    json(fixture.get(granted, 1_000));

    // when
    HttpResponse<String> late = settle(granted, "{\"outcome\":\"CANCELLED\",\"attempt\":1}");
    HttpResponse<String> never = settle(granted, "{\"outcome\":\"CANCELLED\",\"attempt\":99}");

    // then
    assertThat(late.statusCode()).isEqualTo(409);
    assertThat(late.body()).contains("GRANTED, attempt 2");
    assertThat(never.statusCode()).isEqualTo(409);
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.RATE_LIMITED);
    assertThat(
            settle(granted, "{\"outcome\":\"SUCCEEDED\",\"attempt\":2,\"usage\":{}}").statusCode())
        .isEqualTo(200);
  }

  @Test
  void shouldKeepTheNextAttemptInLineWhenTheOneBeforeIsCancelledLate() {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    fixture.admission.holds = true;
    settle(granted, "{\"outcome\":\"RATE_LIMITED\",\"requeue\":true,\"attempt\":1}");

    // when
    HttpResponse<String> late = settle(granted, "{\"outcome\":\"CANCELLED\",\"attempt\":1}");

    // then
    assertThat(late.statusCode()).isEqualTo(409);
    assertThat(json(fixture.get(granted, 0)).path("status").asText()).isEqualTo("QUEUED");
    assertThat(json(settle(granted, "{\"outcome\":\"CANCELLED\"}")).path("outcome").asText())
        .isEqualTo("CANCELLED");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"outcome\":\"CANCELLED\"}",
        "{\"outcome\":\"NOT_SENT\"}",
        "{\"outcome\":\"CANCELLED\",\"attempt\":1}",
        "DELETE"
      })
  void shouldNotGiveBackWhatWasReportedToRun(String end) {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    settle(granted, "{\"outcome\":\"IN_PROGRESS\",\"usage\":{\"input_tokens\":900}}");

    // when
    HttpResponse<String> ended = end(granted, end);
    HttpResponse<String> again = end(granted, end);

    // then: the coordinator keeps what the interim report told
    assertThat(ended.statusCode()).isEqualTo(200);
    assertThat(json(ended).path("outcome").asText()).isEqualTo("FAILED_AFTER_SEND");
    assertThat(again.body()).isEqualTo(ended.body());
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.FAILED_AFTER_SEND);
  }

  @Test
  void shouldSettleACancelledCallByWhatItUsed() {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));

    // when
    settle(
        granted, "{\"outcome\":\"CANCELLED\",\"usage\":{\"input_tokens\":70,\"output_tokens\":2}}");

    // then
    FakeAdmission.Settled settled = fixture.admission.onlySettled();
    assertThat(settled.outcome()).isEqualTo(Outcome.FAILED_AFTER_SEND);
    assertThat(settled.usage().inputTokens()).isEqualTo(70);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"outcome\":\"CANCELLED\"}", "{\"outcome\":\"NOT_SENT\"}", "DELETE"})
  void shouldGiveBackALeaseThatWasNotUsed(String end) {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));

    // when
    HttpResponse<String> ended = end(granted, end);
    HttpResponse<String> again = end(granted, end);
    HttpResponse<String> other = settle(granted, "{\"outcome\":\"SUCCEEDED\"}");

    // then
    assertThat(json(ended).path("outcome").asText()).isEqualTo("NOT_SENT");
    assertThat(again.body()).isEqualTo(ended.body());
    assertThat(other.statusCode()).isEqualTo(409);
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.NOT_SENT);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"outcome\":\"CANCELLED\"}",
        "{\"outcome\":\"CANCELLED\",\"usage\":{\"input_tokens\":999}}",
        "{\"outcome\":\"NOT_SENT\"}",
        "DELETE"
      })
  void shouldRefuseAnotherEndAfterAnEnd(String end) {
    // given
    JsonNode granted = json(fixture.post("/v1/leases", ASK.formatted(1_000)));
    settle(granted, "{\"outcome\":\"SUCCEEDED\",\"usage\":{\"input_tokens\":5}}");

    // when
    HttpResponse<String> other = end(granted, end);

    // then
    assertThat(other.statusCode()).isEqualTo(409);
    assertThat(other.body()).contains("SETTLED as SUCCEEDED");
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.SUCCEEDED);
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

  private HttpResponse<String> settle(JsonNode lease, String report) {
    return fixture.settle(lease, report);
  }

  private HttpResponse<String> end(JsonNode lease, String end) {
    return end.equals("DELETE") ? fixture.delete(lease) : settle(lease, end);
  }
}
