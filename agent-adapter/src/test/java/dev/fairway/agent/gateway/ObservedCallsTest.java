package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.QueueUpdate;
import dev.fairway.agent.gateway.FakeAdmission.Asked;
import dev.fairway.schemas.Outcome;
import dev.fairway.schemas.RejectReason;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a gateway that observes says admission would have done with calls that got a 429. */
class ObservedCallsTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final String ADMITTED = "\"rate_limited\":1,\"rate_limited_admitted\":1";
  private static final String KEPT_BACK = "\"rate_limited\":1,\"rate_limited_admitted\":0";

  private final GatewayFixture fixture = new GatewayFixture();

  @BeforeEach
  void observe() throws Exception {
    fixture.observe();
    fixture.admission.holds = true;
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 429, "{}"));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldNotTakeADecisionThatIsOnItsWayForAWait() {
    // given: the provider is faster than the decision
    Asked asked = refusedCall();
    assertThat(modes()).doesNotContain("\"rate_limited\":1");

    // when
    asked.grant(fixture.admission);

    // then: admission would not have kept it back, and it is settled on its lease
    await().atMost(LONG).until(() -> modes().contains(ADMITTED));
    assertThat(fixture.admission.onlySettled().requestId()).isEqualTo(asked.requestId());
    assertThat(fixture.admission.outcomes()).containsExactly(Outcome.RATE_LIMITED);
  }

  @Test
  void shouldCountAsKeptBackWhatIsToldToWait() {
    // given
    Asked asked = refusedCall();

    // when
    asked
        .call()
        .onQueued()
        .accept(new QueueUpdate(1, Duration.ofSeconds(9), Optional.empty(), Optional.empty()));

    // then
    await().atMost(LONG).until(() -> modes().contains(KEPT_BACK));
    assertThat(asked.answer()).isCancelled();
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.UNLEASED);
  }

  @Test
  void shouldCountAsKeptBackWhatIsRefused() {
    // given
    Asked asked = refusedCall();

    // when
    asked.refuse(RejectReason.QUEUE_FULL, Duration.ofSeconds(9));

    // then
    await().atMost(LONG).until(() -> modes().contains(KEPT_BACK));
  }

  @Test
  void shouldCountNothingInItsFavourThatItWouldHaveRejectedForGood() {
    // given
    Asked asked = refusedCall();

    // when
    asked.refuse(RejectReason.NEVER_FITS, null);

    // then
    await().atMost(LONG).until(() -> modes().contains(ADMITTED));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"message\":\"You exceeded your current quota\",\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\"}",
        "{\"message\":\"Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 34307. The input or output tokens must be reduced in order to run successfully.\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}"
      })
  void shouldNotCountWhatNoWaitHelpsAgainst(String error) throws Exception {
    // given
    fixture.http.send(
        HttpRequest.newBuilder(fixture.uri("/fairway/modes/oai/gpt"))
            .PUT(HttpRequest.BodyPublishers.ofString("{\"mode\":\"OBSERVE\"}"))
            .build(),
        HttpResponse.BodyHandlers.discarding());
    fixture.upstream.otherwise(
        exchange -> FakeUpstream.json(exchange, 429, "{\"error\":" + error + "}"));

    // when
    HttpResponse<String> answer =
        fixture.post(
            "/v1/chat/completions",
            "{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
    fixture.admission.asked.get(0).refuse(RejectReason.QUEUE_FULL, Duration.ofSeconds(9));

    // then
    assertThat(answer.statusCode()).isEqualTo(429);
    await()
        .atMost(LONG)
        .until(
            () -> modes().contains("\"calls\":1,\"rate_limited\":0,\"rate_limited_admitted\":0"));
    assertThat(modes()).contains("\"rate_limited_tokens\":0");
  }

  @Test
  void shouldCountNothingInItsFavourThatNobodyDecided() {
    // when
    Asked asked = refusedCall();

    // then: the end waits for a decision, but not for ever
    await().atMost(LONG).until(() -> modes().contains(ADMITTED));
    assertThat(asked.answer()).isCancelled();
    assertThat(fixture.admission.onlySettled().outcome()).isEqualTo(Outcome.UNLEASED);
  }

  @Test
  void shouldTellHowMuchHasToBeSentAgain() {
    // when
    Asked first = refusedCall("lorem ipsum dolor sit amet ".repeat(50));
    first.grant(fixture.admission);
    await().atMost(LONG).until(() -> modes().contains(ADMITTED));
    fixture.upstream.otherwise(exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));
    fixture.post("/v1/messages", GatewayFixture.message("and one that is not refused"));
    await().atMost(LONG).until(() -> fixture.admission.asked.size() == 2);
    fixture.admission.asked.get(1).grant(fixture.admission);
    await().atMost(LONG).until(() -> modes().contains("\"calls\":2"));

    // then
    long tokens = first.call().estimate().inputTokens();
    assertThat(tokens).isGreaterThan(250);
    assertThat(modes()).contains("\"rate_limited_tokens\":" + tokens + "}");
  }

  private Asked refusedCall() {
    return refusedCall("hi");
  }

  private Asked refusedCall(String text) {
    HttpResponse<String> answer = fixture.post("/v1/messages", GatewayFixture.message(text));
    assertThat(answer.statusCode()).isEqualTo(429);
    return fixture.admission.asked.get(0);
  }

  private String modes() {
    try {
      return fixture
          .http
          .send(
              HttpRequest.newBuilder(fixture.uri("/fairway/modes")).build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
