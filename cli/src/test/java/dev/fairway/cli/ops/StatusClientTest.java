package dev.fairway.cli.ops;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StatusClientTest {
  private final List<HttpServer> servers = new ArrayList<>();

  @AfterEach
  void stop() {
    servers.forEach(server -> server.stop(0));
  }

  @Test
  void shouldSayThatOtherCoordinatorsDecideForTheRest() throws IOException {
    // given: two share four partitions
    URI one = coordinator("{'partitions_owned':3,'partitions':4,'quotas':[{'id':'k/a'}]}");
    URI other = coordinator("{'partitions_owned':1,'partitions':4,'quotas':[{'id':'k/b'}]}");

    // when
    StatusClient.Overview part = new StatusClient(List.of(one)).overview();
    StatusClient.Overview whole = new StatusClient(List.of(one, other)).overview();

    // then
    assertThat(part.quotas()).containsOnlyKeys("k/a");
    assertThat(part.gap())
        .hasValueSatisfying(
            gap -> assertThat(gap).contains("3 of 4 partitions", "--coordinator URL,URL"));
    assertThat(whole.quotas()).containsOnlyKeys("k/a", "k/b");
    assertThat(whole.gap()).isEmpty();
  }

  @Test
  void shouldMissNothingWhereACoordinatorDoesNotSayWhatItOwns() throws IOException {
    // given: one of a version before
    URI coordinator = coordinator("{'ready':true,'quotas':[]}");

    // when / then
    assertThat(new StatusClient(List.of(coordinator)).overview().gap()).isEmpty();
  }

  private URI coordinator(String status) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    servers.add(server);
    byte[] answer = status.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    server.createContext(
        "/status",
        exchange -> {
          try (exchange) {
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
          }
        });
    server.start();
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }
}
