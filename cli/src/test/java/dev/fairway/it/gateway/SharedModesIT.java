package dev.fairway.it.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionClientConfig;
import dev.fairway.agent.gateway.Gateway;
import dev.fairway.cli.Fairway;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.ops.AgentStore;
import dev.fairway.cli.ops.ObservedCalls;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.up.RegistrationModes;
import dev.fairway.schemas.Topics;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Two gateways beside each other, and one that comes later: they share what Kafka has. */
class SharedModesIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration SECONDS = Duration.ofSeconds(5);
  private static final String QUOTA = "ant/sonnet";
  private static final String YAML =
      """
      quotas:
        - id: ant/sonnet
          provider: anthropic
          models: ["claude-*"]
          limits: {requests_per_minute: 600, input_tokens_per_minute: 600}
          level: {input_tokens: 0}
      gateway:
        upstreams: {anthropic: {provider: anthropic, url: "%s"}}
      """;

  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void shouldFollowASwitchAtAnyGatewayAndAfterARestart() throws Exception {
    // The provider's bucket is empty as well, and never holds a call, however slowly this starts:
    // what admission would not have granted gets a 429.
    try (EmulatedApis apis = new EmulatedApis(60, 0);
        GatewayUp up = GatewayUp.start(YAML.formatted(apis.url()))) {
      try (Second second = new Second(up, apis)) {
        // given: both enforce
        assertThat(mode(up.url())).isEqualTo("ENFORCE");
        assertThat(mode(second.gateway.url())).isEqualTo("ENFORCE");

        // when: it is switched at one of them
        assertThat(put(second.gateway.url(), "OBSERVE")).isEqualTo(200);

        // then: the other follows, and passes a call at once that admission would keep back
        await().atMost(SECONDS).until(() -> mode(up.url()).equals("OBSERVE"));
        assertThat(call(up.url())).isEqualTo(429);
        List<String> notes = new ArrayList<>();
        await()
            .atMost(SECONDS)
            .until(() -> ObservedCalls.of(URI.create(up.url()), notes::add).size() == 1);
        ObservedCalls observed = ObservedCalls.of(URI.create(up.url()), notes::add).get(QUOTA);
        assertThat(notes).isEmpty();
        assertThat(observed.calls()).isEqualTo(1);
        assertThat(observed.rateLimited()).isEqualTo(1);
        assertThat(observed.rateLimitedAdmitted()).isZero();
        assertThat(observed.rateLimitedTokens()).isPositive();
        assertThat(observed.sentence()).contains("1 got a 429", "with Fairway 0-0");
      }

      // and: so does one that starts now, from its first call on
      try (Second third = new Second(up, apis)) {
        assertThat(mode(third.gateway.url())).isEqualTo("OBSERVE");

        // when: it is switched back as 'fairway agent mode' does
        try (Pipeline pipeline = pipeline(up)) {
          new AgentStore(pipeline).switchMode("gateway", QUOTA, "ENFORCE");
        }

        // then
        await()
            .atMost(SECONDS)
            .until(
                () ->
                    mode(up.url()).equals("ENFORCE")
                        && mode(third.gateway.url()).equals("ENFORCE"));
        assertThat(switched(up)).containsExactly(QUOTA);

        // when: nobody wants it switched any more
        assertThat(
                send(
                    HttpRequest.newBuilder(
                            URI.create(third.gateway.url() + "/fairway/modes/" + QUOTA))
                        .DELETE()))
            .isEqualTo(200);

        // then
        await().atMost(SECONDS).until(() -> switched(up).isEmpty());
        assertThat(unset(up, QUOTA)).startsWith("0 ");
        assertThat(unset(up, "ant/sonet"))
            .startsWith("1 ")
            .contains("Expected a quota 'ant/sonet'");
      }
    }
  }

  /** What {@code fairway agent mode --unset} ends with, and says. */
  private static String unset(GatewayUp up, String quota) {
    StringWriter said = new StringWriter();
    PrintWriter out = new PrintWriter(said, true);
    int code =
        Fairway.run(
            out,
            out,
            "agent",
            "mode",
            "gateway",
            quota,
            "--unset",
            "--bootstrap",
            up.bootstrap(),
            "--registry",
            up.registry());
    return code + " " + said;
  }

  private static Pipeline pipeline(GatewayUp up) {
    return new Pipeline(up.bootstrap(), up.registry(), new Topics(), Map.of());
  }

  private String mode(String url) throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(URI.create(url + "/fairway/modes")).build(),
            HttpResponse.BodyHandlers.ofString());
    JsonNode modes = JSON.readTree(answer.body());
    return modes.path("quotas").path(QUOTA).asText(modes.path("mode").asText());
  }

  /** Quotas that the gateway of {@code up} says have a mode of their own. */
  private List<String> switched(GatewayUp up) throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(URI.create(up.url() + "/fairway/modes")).build(),
            HttpResponse.BodyHandlers.ofString());
    List<String> quotas = new ArrayList<>();
    JSON.readTree(answer.body()).path("quotas").fieldNames().forEachRemaining(quotas::add);
    return quotas;
  }

  private int put(String url, String mode) throws Exception {
    return send(
        HttpRequest.newBuilder(URI.create(url + "/fairway/modes/" + QUOTA))
            .PUT(HttpRequest.BodyPublishers.ofString("{\"mode\":\"" + mode + "\"}")));
  }

  private int send(HttpRequest.Builder request) throws Exception {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode();
  }

  private int call(String url) throws Exception {
    return http.send(
            HttpRequest.newBuilder(URI.create(url + "/v1/messages"))
                .header("x-api-key", "sk-own")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"model\":\"claude-sonnet-4\",\"max_tokens\":10,\"messages\":[{\"role\":\"user\",\"content\":\""
                            + "word ".repeat(100)
                            + "\"}]}"))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .statusCode();
  }

  /** Another gateway over the same Kafka, with the same id. */
  private static final class Second implements AutoCloseable {
    private final AdmissionClient client;
    private final RegistrationModes modes;
    private final Gateway gateway;

    private Second(GatewayUp up, EmulatedApis apis) {
      client =
          AdmissionClient.start(
              AdmissionClientConfig.of(up.bootstrap(), up.registry(), "gateway").build());
      modes =
          new RegistrationModes("gateway", up.bootstrap(), up.registry(), new Topics(), Map.of());
      gateway =
          Gateway.start(
              QuotaYaml.parse(YAML.formatted(apis.url()), "test").gateway().config().withPort(0),
              client,
              modes);
    }

    @Override
    public void close() {
      gateway.close();
      modes.close();
      client.close();
    }
  }
}
