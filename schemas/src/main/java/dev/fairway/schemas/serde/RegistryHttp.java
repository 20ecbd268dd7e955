package dev.fairway.schemas.serde;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.fairway.schemas.service.ConnectionTrouble;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One exchange with a registry that may answer at several addresses: they are tried in order, from
 * the one that answered last, and all of them together take no longer than the caller's time.
 */
final class RegistryHttp {

  /** What a registry answered: the status, and the body as JSON (missing if it was not JSON). */
  record Answer(URI uri, int status, JsonNode body) {}

  private static final String CONTENT_TYPE = "application/vnd.schemaregistry.v1+json";
  private static final int BODY_BYTES_MAX = 4 * 1024 * 1024;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<String> baseUrls;
  private final String authorization;
  private final HttpClient client;
  private volatile int preferred;

  /**
   * @param baseUrls at least one, without a slash at the end
   * @param authorization value of the Authorization header; null: none
   */
  RegistryHttp(List<String> baseUrls, String authorization, Duration connectTimeout) {
    this.baseUrls = List.copyOf(baseUrls);
    this.authorization = authorization;
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NORMAL)
            .connectTimeout(connectTimeout)
            .build();
  }

  Answer get(String path, Duration time) {
    return exchange("GET", path, null, time);
  }

  Answer post(String path, JsonNode body, Duration time) {
    return exchange("POST", path, body.toString(), time);
  }

  private Answer exchange(String method, String path, String body, Duration time) {
    long deadline = System.nanoTime() + time.toNanos();
    int first = preferred;
    StringBuilder failures = new StringBuilder();
    Exception last = null;
    for (int i = 0; i < baseUrls.size(); i++) {
      int index = (first + i) % baseUrls.size();
      URI uri = URI.create(baseUrls.get(index) + path);
      // A silent address must leave time for those after it.
      long share = Math.max(0, deadline - System.nanoTime()) / (baseUrls.size() - i);
      try {
        Answer answer = once(method, uri, body, Math.max(share, 1));
        if (answer.status() < 500 && answer.status() != 429) {
          preferred = index;
          return answer;
        }
        failures.append("; ").append(uri).append(" answered ").append(describe(answer));
      } catch (IOException | TimeoutException e) {
        last = e;
        failures.append("; ").append(uri).append(": ").append(ConnectionTrouble.of(e));
      }
    }
    throw new SchemaRegistryException(
        SchemaRegistryException.Kind.UNAVAILABLE,
        "Expected an answer from the schema registry within %d ms, but found none%s. Check that it runs, and that its address is right: registryUrl of a client, schema.registry.url of a service, --registry of a command."
            .formatted(time.toMillis(), failures),
        last);
  }

  private Answer once(String method, URI uri, String body, long nanos)
      throws IOException, TimeoutException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri)
            .header("Accept", CONTENT_TYPE + ", application/json")
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body, StandardCharsets.UTF_8));
    if (body != null) {
      request.header("Content-Type", CONTENT_TYPE);
    }
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    // The request's own timeout ends with the headers; waiting on the future bounds the body as
    // well.
    CompletableFuture<HttpResponse<byte[]>> pending =
        client.sendAsync(request.build(), info -> new BoundedBody(BODY_BYTES_MAX));
    try {
      HttpResponse<byte[]> response = pending.get(nanos, TimeUnit.NANOSECONDS);
      return new Answer(uri, response.statusCode(), parse(response.body()));
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException io) {
        throw io;
      }
      throw new IOException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      pending.cancel(true);
    }
  }

  private static JsonNode parse(byte[] body) {
    try {
      return JSON.readTree(body);
    } catch (IOException e) {
      return JSON.missingNode();
    }
  }

  /** The status, and what the registry said to explain it. */
  static String describe(Answer answer) {
    String message = answer.body().path("message").asText("");
    String code = answer.body().path("error_code").asText("");
    return "status "
        + answer.status()
        + (code.isEmpty() || code.equals(Integer.toString(answer.status()))
            ? ""
            : " (" + code + ")")
        + (message.isEmpty() ? "" : " '" + message + "'");
  }
}
