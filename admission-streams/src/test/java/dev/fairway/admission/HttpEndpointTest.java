package dev.fairway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HttpEndpointTest {
  private HttpEndpoint endpoint;

  @BeforeEach
  void start() throws Exception {
    endpoint =
        HttpEndpoint.start(
            "127.0.0.1",
            0,
            Map.of(
                "/echo",
                query -> HttpEndpoint.Answer.json(200, query.get("quota")),
                "/wrong",
                query -> {
                  throw new IllegalArgumentException("Expected more");
                },
                "/broken",
                query -> {
                  throw new IllegalStateException("secret");
                }));
  }

  @AfterEach
  void stop() {
    endpoint.close();
  }

  @Test
  void shouldAnswerToADecodedQuery() throws Exception {
    HttpResponse<String> answer = send("GET", "/echo?x&quota=k%2Fq+1&limit=");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo("k/q 1\n");
    assertThat(answer.headers().firstValue("content-type"))
        .hasValue("application/json; charset=utf-8");
  }

  @Test
  void shouldAnswerHeadWithoutABody() throws Exception {
    assertThat(send("HEAD", "/echo").body()).isEmpty();
  }

  @Test
  void shouldTellWhatIsWrong() throws Exception {
    assertThat(send("POST", "/echo").statusCode()).isEqualTo(405);
    assertThat(send("GET", "/none").statusCode()).isEqualTo(404);
    assertThat(send("GET", "/none").body()).contains("/echo");
    assertThat(send("GET", "/wrong").statusCode()).isEqualTo(400);
    assertThat(send("GET", "/wrong").body()).isEqualTo("Expected more\n");
  }

  @Test
  void shouldNotTellOutsidersWhatBroke() throws Exception {
    HttpResponse<String> answer = send("GET", "/broken");
    assertThat(answer.statusCode()).isEqualTo(500);
    assertThat(answer.body()).doesNotContain("secret");
  }

  private HttpResponse<String> send(String method, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + endpoint.port() + path))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }
}
