package dev.fairway.agent.gateway;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.agent.gateway.GatewayConfig.Bounds;
import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.agent.gateway.GatewayConfig.Estimates;
import dev.fairway.agent.gateway.GatewayConfig.Mode;
import dev.fairway.agent.gateway.GatewayConfig.Route;
import dev.fairway.agent.gateway.GatewayConfig.Upstream;
import dev.fairway.agent.gateway.GatewayConfig.Waits;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A gateway on loopback between a scripted admission and a scripted provider. */
final class GatewayFixture implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  static final Map<String, String> ENVIRONMENT =
      Map.of("ANTHROPIC_KEY", "sk-ant-secret", "OPENAI_KEY", "sk-oai-secret", "TEAM", "team-token");

  static final String ANSWER =
      "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}],"
          + " \"usage\":{\"input_tokens\":12,\"cache_read_input_tokens\":0,\"cache_creation_input_tokens\":0,\"output_tokens\":3}}";

  final FakeUpstream upstream = new FakeUpstream();
  final FakeAdmission admission = new FakeAdmission();
  final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  Waits waits =
      new Waits(
          Duration.ofSeconds(55),
          Duration.ZERO,
          Duration.ofSeconds(60),
          Duration.ofMillis(50),
          Duration.ofSeconds(60),
          Duration.ofMillis(500));
  Estimates estimates = Estimates.DEFAULT;
  Bounds bounds = Bounds.DEFAULT;
  List<Caller> callers = List.of();
  String unknown;

  /** Another upstream than {@link #upstream}, or null. */
  String upstreamUrl;

  /** Another admission than {@link #admission}, or null. */
  Admission otherAdmission;

  private Gateway gateway;

  Gateway gateway() {
    if (gateway == null) {
      Admission asked = otherAdmission == null ? admission : otherAdmission;
      gateway = Gateway.start(config(), asked, ModeStore.inMemory(), ENVIRONMENT);
    }
    return gateway;
  }

  GatewayConfig config() {
    return new GatewayConfig(
        "127.0.0.1",
        0,
        Mode.ENFORCE,
        Map.of(),
        Map.of(
            "anthropic",
            new Upstream(
                "anthropic",
                upstreamUrl == null ? upstream.url() : upstreamUrl,
                "anthropic",
                SecretRef.ofEnv("ANTHROPIC_KEY")),
            "openai",
            new Upstream("openai", upstream.url(), "openai", SecretRef.ofEnv("OPENAI_KEY"))),
        List.of(
            new Route(List.of("claude-*"), "ant/sonnet", "anthropic"),
            new Route(List.of("gpt-*", "text-embedding-*"), "oai/gpt", "openai")),
        callers,
        unknown,
        estimates,
        waits,
        bounds);
  }

  URI uri(String path) {
    return URI.create(gateway().url() + path);
  }

  HttpResponse<String> post(String path, String body, String... headers) {
    return send(request(path, body, headers));
  }

  CompletableFuture<HttpResponse<String>> postAsync(String path, String body, String... headers) {
    return http.sendAsync(request(path, body, headers), HttpResponse.BodyHandlers.ofString());
  }

  HttpRequest request(String path, String body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(path))
            .timeout(Duration.ofSeconds(30))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body, StandardCharsets.UTF_8));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return request.build();
  }

  /** From now on calls are observed only. */
  void observe() throws IOException, InterruptedException {
    http.send(
        HttpRequest.newBuilder(uri("/fairway/modes/ant/sonnet"))
            .PUT(HttpRequest.BodyPublishers.ofString("{\"mode\":\"OBSERVE\"}"))
            .build(),
        HttpResponse.BodyHandlers.discarding());
  }

  HttpResponse<String> settle(JsonNode lease, String report) {
    return post("/v1/leases/" + lease.path("id").asText() + "/settle", report);
  }

  HttpResponse<String> get(JsonNode lease, int waitMs) {
    return send(HttpRequest.newBuilder(leaseUri(lease, "?wait_ms=" + waitMs)).build());
  }

  HttpResponse<String> delete(JsonNode lease) {
    return send(HttpRequest.newBuilder(leaseUri(lease, "")).DELETE().build());
  }

  URI leaseUri(JsonNode lease, String more) {
    return uri("/v1/leases/" + lease.path("id").asText() + more);
  }

  HttpResponse<String> send(HttpRequest request) {
    try {
      return http.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static JsonNode json(HttpResponse<String> response) {
    try {
      return JSON.readTree(response.body());
    } catch (JsonProcessingException e) {
      throw new AssertionError(response.body(), e);
    }
  }

  static String message(String text) {
    return "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":100,\"messages\":[{\"role\":\"user\",\"content\":\""
        + text
        + "\"}]}";
  }

  static String streamed(String text) {
    return message(text).replaceFirst("\\{", "{\"stream\":true,");
  }

  @Override
  public void close() {
    if (gateway != null) {
      gateway.close();
    }
    upstream.close();
  }
}
