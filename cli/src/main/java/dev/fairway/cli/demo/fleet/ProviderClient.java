package dev.fairway.cli.demo.fleet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Calls the provider, one answer a call and no retries: those are the harness's. Thread-safe. */
final class ProviderClient {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();
  private final URI messages;

  ProviderClient(URI provider) {
    this.messages = provider.resolve("/v1/messages");
  }

  /** Connects once, without a call, so that the first call is no slower than the others. */
  void warmUp() {
    try {
      http.send(
          HttpRequest.newBuilder(messages.resolve("/")).timeout(TIMEOUT).build(),
          HttpResponse.BodyHandlers.discarding());
    } catch (IOException e) {
      // The first call will tell.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Sends a call and waits for its answer.
   *
   * @param id under which the provider's ledger keeps it
   */
  ProviderAnswer send(ModelCall call, String id) throws InterruptedException {
    long sent = System.nanoTime();
    try {
      HttpResponse<byte[]> response =
          http.send(request(call, id), HttpResponse.BodyHandlers.ofByteArray());
      long inputTokens = 0;
      long outputTokens = 0;
      if (response.statusCode() == 200) {
        JsonNode usage = JSON.readTree(response.body()).path("usage");
        inputTokens = usage.path("input_tokens").asLong();
        outputTokens = usage.path("output_tokens").asLong();
      }
      return new ProviderAnswer(
          response.statusCode(),
          firstValues(response.headers().map()),
          inputTokens,
          outputTokens,
          sinceMs(sent));
    } catch (IOException e) {
      return ProviderAnswer.lost(sinceMs(sent));
    }
  }

  private HttpRequest request(ModelCall call, String id) {
    ObjectNode body = JSON.createObjectNode();
    body.put("model", "claude-sonnet-4-5");
    body.put("max_tokens", call.turn().maxTokens());
    // The sizes go in headers: the emulator needs no megabytes of text to count.
    body.putArray("messages").addObject().put("role", "user").put("content", id);
    return HttpRequest.newBuilder(messages)
        .timeout(TIMEOUT)
        .header("content-type", "application/json")
        .header("anthropic-version", "2023-06-01")
        .header("x-api-key", "demo")
        .header("x-demo-call", id)
        .header("x-demo-turn", call.turn().id())
        .header("x-demo-agent", call.turn().agent())
        .header("x-demo-input-tokens", Long.toString(call.inputTokens()))
        .header("x-demo-output-tokens", Long.toString(call.outputTokens()))
        .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
        .build();
  }

  private static Map<String, String> firstValues(Map<String, List<String>> headers) {
    Map<String, String> first = new HashMap<>();
    headers.forEach((name, values) -> first.put(name.toLowerCase(Locale.ROOT), values.get(0)));
    return first;
  }

  private static long sinceMs(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }
}
