package dev.fairway.cli.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.fairway.cli.CliException;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.schemas.ProtocolData;
import dev.fairway.schemas.Quota;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.io.JsonEncoder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InForceTest {

  private static final Quota BEFORE = quota(10);
  private static final Quota WRITTEN = quota(20);

  private final AtomicInteger asked = new AtomicInteger();
  private HttpServer coordinator;
  private volatile int takesAfter = Integer.MAX_VALUE;
  private volatile int silentFor;

  @BeforeEach
  void start() throws IOException {
    coordinator = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    coordinator.createContext(
        "/definitions",
        exchange -> {
          int count = asked.incrementAndGet();
          if (count <= silentFor) {
            byte[] text = "Expected an answer within 5 s.\n".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(503, text.length);
            exchange.getResponseBody().write(text);
            exchange.close();
            return;
          }
          Quota decidedBy = count > takesAfter ? WRITTEN : BEFORE;
          byte[] body =
              ("{\"definitions\":[" + json(decidedBy) + "]}").getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    coordinator.start();
  }

  @AfterEach
  void stop() {
    coordinator.stop(0);
  }

  @Test
  void shouldWaitUntilTheCoordinatorDecidesByWhatWasWritten() {
    // given: an earlier definition is in force for two answers
    takesAfter = 2;

    // when / then
    assertThat(InForce.await(status(), List.of(WRITTEN), 10_000)).isTrue();
    assertThat(asked.get()).isEqualTo(3);
  }

  @Test
  void shouldGiveUpWhenTheTimeIsOver() {
    assertThat(InForce.await(status(), List.of(WRITTEN), 120)).isFalse();
    assertThat(asked.get()).isBetween(1, 4);
  }

  @Test
  void shouldAskAgainWhereTheCoordinatorCannotAnswerYet() {
    // given: one that starts
    silentFor = 2;
    takesAfter = 0;

    // when / then
    assertThat(InForce.await(status(), List.of(WRITTEN), 10_000)).isTrue();
    assertThat(asked.get()).isEqualTo(3);
  }

  @Test
  void shouldSayWhatTheCoordinatorSaysWhenItNeverAnswers() {
    // given
    silentFor = Integer.MAX_VALUE;

    // when / then: its text, as text
    assertThatThrownBy(() -> InForce.await(status(), List.of(WRITTEN), 120))
        .isInstanceOf(CliException.class)
        .hasMessageEndingWith("but it said 503: Expected an answer within 5 s.");
  }

  @Test
  void shouldNotTakeOneOfSeveralForAll() {
    // given
    takesAfter = 0;
    Quota other = QuotaYaml.parse(yaml("k/other", 1), "other").quotas().get(0);

    // when / then
    assertThat(InForce.await(status(), List.of(WRITTEN, other), 0)).isFalse();
  }

  private StatusClient status() {
    return new StatusClient(
        List.of(URI.create("http://127.0.0.1:" + coordinator.getAddress().getPort())));
  }

  private static Quota quota(int requestsPerMinute) {
    return QuotaYaml.parse(yaml("k/q", requestsPerMinute), "quota").quotas().get(0);
  }

  private static String yaml(String id, int requestsPerMinute) {
    return "quotas: [{id: %s, limits: {requests_per_minute: %d}}]".formatted(id, requestsPerMinute);
  }

  private static String json(Quota quota) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    try {
      JsonEncoder encoder = EncoderFactory.get().jsonEncoder(Quota.getClassSchema(), text);
      ProtocolData.writer(Quota.class).write(quota, encoder);
      encoder.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString(StandardCharsets.UTF_8);
  }
}
