package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.provider.ProviderProfiles;
import dev.fairway.agent.provider.ResponseBody;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.io.Content;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A client that has its answer whole may go at once, and is none that hung up. */
class WholeAnswersTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final int CALLS = 60;

  @Test
  void shouldNotCountClientsThatGoWithTheLastByte() throws Exception {
    try (GatewayFixture fixture = new GatewayFixture()) {
      // given
      fixture.upstream.otherwise(
          exchange -> FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER));

      // when
      for (int i = 0; i < CALLS; i++) {
        assertThat(answerAndGo(fixture, "call " + i)).endsWith(GatewayFixture.ANSWER);
      }

      // then
      await().atMost(LONG).until(() -> fixture.gateway().stats().open() == 0);
      assertThat(fixture.gateway().stats().clientsGone()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // Told length | what is heard while the body of 5 and 4 bytes, and then its end, comes
        "9  | 5, ending, 4, ending, 0, delivered",
        "-1 | 5, 4, ending, 0, delivered",
        "20 | 5, 4, ending, 0, delivered",
      })
  void shouldSayThatTheAnswerEndsBeforeItsLastByteIsWritten(long lengthBytes, String heard) {
    // given
    List<String> log = new ArrayList<>();
    Queue<Content.Chunk> chunks = new ArrayDeque<>();
    chunks.add(chunk("{\"a\":", false));
    chunks.add(chunk("\"b\"}", false));
    chunks.add(chunk("", true));
    Content.Sink sink =
        (last, bytes, written) -> {
          log.add(Integer.toString(bytes.remaining()));
          written.succeeded();
        };
    var head = Readings.response(200, HttpFields.build(), ResponseBody.none(), Instant.EPOCH);
    AnswerTap tap = new AnswerTap(ProviderProfiles.of("anthropic"), head, false);

    // when
    new AnswerRelay(new Chunks(chunks), sink, tap, null, lengthBytes, waiting -> {}, new Heard(log))
        .iterate();

    // then
    assertThat(log).containsExactly(heard.split(", ", -1));
  }

  /** One call on a connection of its own, which is closed with the last byte that was announced. */
  private static String answerAndGo(GatewayFixture fixture, String text) throws IOException {
    byte[] body = GatewayFixture.message(text).getBytes(StandardCharsets.UTF_8);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), fixture.uri("/").getPort())) {
      socket.setSoTimeout((int) LONG.toMillis());
      String head =
          "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
              + "content-type: application/json\r\ncontent-length: "
              + body.length
              + "\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().write(body);
      StringBuilder answer = new StringBuilder();
      while (answer.indexOf(GatewayFixture.ANSWER) < 0) {
        int read = socket.getInputStream().read();
        if (read < 0) {
          return answer.toString();
        }
        answer.append((char) read);
      }
      return answer.toString();
    }
  }

  private static Content.Chunk chunk(String text, boolean last) {
    return Content.Chunk.from(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), last);
  }

  private record Chunks(Queue<Content.Chunk> chunks) implements Content.Source {
    @Override
    public Content.Chunk read() {
      return chunks.poll();
    }

    @Override
    public void demand(Runnable demandCallback) {
      throw new AssertionError("nothing is left to wait for");
    }

    @Override
    public void fail(Throwable failure) {
      throw new AssertionError(failure);
    }
  }

  private record Heard(List<String> log) implements AnswerRelay.Listener {
    @Override
    public void progressed() {
      // Told of each chunk; not what is asked here.
    }

    @Override
    public void ending() {
      log.add("ending");
    }

    @Override
    public void complete() {
      // After the last write; not what is asked here.
    }

    @Override
    public void delivered() {
      log.add("delivered");
    }

    @Override
    public void upstreamFailed(Throwable cause) {
      throw new AssertionError(cause);
    }

    @Override
    public void clientFailed(Throwable cause) {
      throw new AssertionError(cause);
    }
  }
}
