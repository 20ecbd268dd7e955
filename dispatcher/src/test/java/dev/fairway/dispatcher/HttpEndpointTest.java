package dev.fairway.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HttpEndpointTest {

  private final AtomicReference<String> trouble = new AtomicReference<>();
  private HttpEndpoint endpoint;

  @BeforeEach
  void start() throws IOException {
    endpoint = HttpEndpoint.start("127.0.0.1", 0, trouble::get, () -> "metric 1\n");
  }

  @AfterEach
  void stop() {
    endpoint.close();
  }

  @Test
  void shouldSayThatItIsUp() throws Exception {
    // when
    HttpResponse<String> response = send("GET", "/health");

    // then
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEqualTo("UP\n");
  }

  @Test
  void shouldSayWhatIsWrong() throws Exception {
    // given
    trouble.set("Expected topics, but found none.");

    // when
    HttpResponse<String> response = send("GET", "/health");

    // then
    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.body()).contains("Expected topics");
  }

  @Test
  void shouldServeMetrics() throws Exception {
    // when
    HttpResponse<String> response = send("GET", "/metrics");

    // then
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEqualTo("metric 1\n");
    assertThat(response.headers().firstValue("Content-Type"))
        .hasValueSatisfying(type -> assertThat(type).startsWith("text/plain"));
  }

  @Test
  void shouldServeNothingElse() throws Exception {
    // when / then
    assertThat(send("GET", "/other").statusCode()).isEqualTo(404);
    assertThat(send("POST", "/metrics").statusCode()).isEqualTo(405);
    assertThat(send("HEAD", "/health").statusCode()).isEqualTo(200);
  }

  private HttpResponse<String> send(String method, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + endpoint.port() + path))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }
}
