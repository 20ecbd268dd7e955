package dev.fairway.cli.ops;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ObservedCallsTest {
  private final List<String> notes = new ArrayList<>();

  @ParameterizedTest
  @ValueSource(ints = {401, 403})
  void shouldSayThatTheGatewayWantsAToken(int status) throws IOException {
    assertThat(asked(status)).isEmpty();
    assertThat(notes).singleElement().asString().contains("FAIRWAY_TOKEN");
  }

  @Test
  void shouldKeepOtherTroubleToItself() throws IOException {
    assertThat(asked(500)).isEmpty();
    assertThat(notes).isEmpty();
  }

  private Map<String, ObservedCalls> asked(int status) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    server.createContext(
        "/fairway/modes",
        exchange -> {
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    server.start();
    try {
      URI gateway = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
      return ObservedCalls.of(gateway, notes::add);
    } finally {
      server.stop(0);
    }
  }
}
