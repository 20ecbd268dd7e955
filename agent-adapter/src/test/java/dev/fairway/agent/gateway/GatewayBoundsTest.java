package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.fairway.agent.LeaseCall;
import dev.fairway.agent.gateway.GatewayConfig.Mode;
import dev.fairway.schemas.Outcome;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.eclipse.jetty.util.component.AbstractLifeCycle;
import org.eclipse.jetty.util.thread.Scheduler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a gateway keeps, waits for and repeats has a bound; and what happens there. */
class GatewayBoundsTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final GatewayFixture fixture = new GatewayFixture();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void shouldForgetTheOldestOfTooManyCallsThatMayComeAgain() {
    // given
    RetryBook book = new RetryBook(3);
    for (int i = 0; i <= RetryBook.CALLS_MAX; i++) {
      book.of("a", "hash-" + i, false, null, i).ended("r" + i, true, i);
    }

    // when / then
    long nowMs = RetryBook.CALLS_MAX;
    assertThat(book.of("a", "hash-0", false, null, nowMs).retryOf()).isNull();
    assertThat(book.of("a", "hash-1", false, null, nowMs).retryOf()).isEqualTo("r1");
  }

  @Test
  void shouldGiveNoMoreTicketsThanItMayUntilOneIsOver() {
    // given
    fixture.admission.holds = true;
    LeaseDesk desk = new LeaseDesk(fixture.admission, new NoTime(), () -> 0);
    LeaseTicket first = ask(desk);
    for (int i = 1; i < LeaseDesk.TICKETS_MAX; i++) {
      assertThat(ask(desk)).isNotNull();
    }

    // when / then
    assertThat(ask(desk)).isNull();
    first.report(LeaseTicket.Report.WITHDRAWN);
    assertThat(ask(desk)).isNotNull();
    assertThat(desk.find("owner", first.id)).as("the oldest that is over").isNull();
    assertThat(ask(desk)).isNull();
  }

  @Test
  void shouldForgetATicketThatIsOverAndThatNobodyAsksAbout() {
    // given
    fixture.admission.holds = true;
    AtomicLong nowMs = new AtomicLong();
    LeaseDesk desk = new LeaseDesk(fixture.admission, new NoTime(), nowMs::get);
    LeaseTicket over = ask(desk);
    over.report(LeaseTicket.Report.WITHDRAWN);

    // when
    nowMs.set(LeaseDesk.KEPT_MS);
    ask(desk);
    LeaseTicket inTime = desk.find("owner", over.id);
    nowMs.set(LeaseDesk.KEPT_MS + 1);
    ask(desk);

    // then
    assertThat(inTime).isSameAs(over);
    assertThat(desk.find("owner", over.id)).isNull();
  }

  @Test
  void shouldSwitchNoMoreQuotasThanItMay() {
    // given
    Map<String, Mode> switched = new HashMap<>();
    for (int i = 0; i < ModeStore.QUOTAS_MAX; i++) {
      switched.put("key/quota-" + i, Mode.OBSERVE);
    }

    // when
    Modes full = new Modes(fixture.config(), new FixedModes(switched));
    switched.remove("key/quota-0");
    Modes room = new Modes(fixture.config(), new FixedModes(switched));

    // then
    assertThat(full.hasRoomFor("ant/sonnet")).isFalse();
    assertThat(full.hasRoomFor("key/quota-1")).as("one that is switched already").isTrue();
    assertThat(room.hasRoomFor("ant/sonnet")).isTrue();
  }

  @Test
  void shouldNameNoMoreModelsInMetricsThanItMay() {
    // given
    fixture.upstream.otherwise(
        exchange ->
            FakeUpstream.json(exchange, 200, GatewayFixture.ANSWER.replace(":12,", ":120,")));
    String call = GatewayFixture.message("word ".repeat(100));
    int models = GatewayMetrics.MODELS_MAX + 5;

    // when
    for (int i = 0; i < models; i++) {
      String model = "claude-" + (100 + i);
      fixture.post("/v1/messages", call.replace("claude-sonnet-4-5", model));
    }
    await().atMost(LONG).until(() -> fixture.gateway().estimates().size() == models);

    // then
    HttpRequest request = HttpRequest.newBuilder(fixture.uri("/metrics")).build();
    String metrics = fixture.send(request).body();
    for (String name : new String[] {"estimate_error_p90", "estimate_correction"}) {
      assertThat(metrics.lines().filter(line -> line.startsWith("fairway_gateway_" + name + "{")))
          .hasSize(GatewayMetrics.MODELS_MAX);
    }
  }

  @Test
  void shouldForgetTheOldestOfTooManyKeysOfCallsThatWentWell() {
    // given
    PlaceBook places = new PlaceBook();
    PlaceBook.Place call = (request, response, callback, again) -> {};
    CallPlan.Asked of = new CallPlan.Asked("POST", "/v1/messages", "hash");

    // when
    for (int i = 0; i <= PlaceBook.ENDED_MAX; i++) {
      PlaceBook.Key key = key(i);
      places.findOrKeep(key, call);
      places.ended(key, call, new EndedCall(of, "r" + i, new Recording(places)));
    }

    // then
    assertThat(places.findOrKeep(key(1), call)).isInstanceOf(EndedCall.class);
    assertThat(places.findOrKeep(key(0), call)).as("a new key").isSameAs(call);
  }

  @Test
  void shouldKeepNoMoreOfAStreamThanItMayAndCountTheRestInProportion() {
    // given: text as far as it is kept, and as much of something else
    byte[] event =
        "data: {\"delta\":{\"text\":\"lorem ipsum dolor sit amet\"}}\n\n"
            .getBytes(StandardCharsets.UTF_8);
    int events = StreamedOutput.BYTES_MAX / event.length;
    StreamedOutput first = new StreamedOutput();
    StreamedOutput all = new StreamedOutput();
    for (int i = 0; i < events; i++) {
      first.read(event, event.length);
      all.read(event, event.length);
    }

    // when
    byte[] more = ":".repeat(StreamedOutput.BYTES_MAX).getBytes(StandardCharsets.UTF_8);
    all.read(more, more.length);

    // then
    long tokens = first.tokens("claude-sonnet-4-5");
    assertThat(tokens).isGreaterThan(events);
    assertThat(all.tokens("claude-sonnet-4-5")).isBetween(tokens * 199 / 100, tokens * 201 / 100);
  }

  @Test
  void shouldGiveUpACallWhoseGrantsHaveAlwaysExpired() throws Exception {
    // given
    fixture.admission.expired = true;

    // when
    HttpResponse<String> answer =
        fixture
            .postAsync("/v1/messages", GatewayFixture.message("hi"))
            .get(LONG.toSeconds(), TimeUnit.SECONDS);

    // then
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(fixture.admission.asked).hasSize(3);
    assertThat(fixture.admission.outcomes()).hasSize(3).containsOnly(Outcome.NOT_SENT);
    assertThat(fixture.upstream.received).isEmpty();
  }

  @Test
  void shouldNotWaitForABodyThatComesBitByBitForEver() throws Exception {
    // given: a client that is never silent for as long as it may be
    fixture.bounds =
        new GatewayConfig.Bounds(100_000, 100_000, 10, 10, Duration.ofMillis(400), 9, 3);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), fixture.uri("/").getPort())) {
      OutputStream out = socket.getOutputStream();
      out.write(
          "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 90000\r\n\r\n"
              .getBytes(StandardCharsets.UTF_8));

      // when
      AtomicInteger sent = new AtomicInteger();
      await()
          .atMost(LONG)
          .pollInterval(Duration.ofMillis(100))
          .until(() -> isClosed(socket) || !isSent(out, sent));

      // then: after five times as long
      assertThat(sent).hasValueGreaterThan(5);
    }
    assertThat(fixture.admission.asked).isEmpty();
  }

  @Test
  void shouldNotHoldBackAnEventThatIsLargerThanItMay() {
    // given
    UsageChunkFilter filter = new UsageChunkFilter();
    byte[] begin = "x".repeat(UsageChunkFilter.EVENT_BYTES_MAX).getBytes(StandardCharsets.UTF_8);

    // when
    ByteBuffer passed = filter.filter(ByteBuffer.wrap(begin), false);

    // then
    assertThat(passed.remaining()).isEqualTo(begin.length);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/messages", "/v1/chat/completions"})
  void shouldRefuseMoreHeadersThanItReads(String path) {
    // when
    HttpResponse<String> answer =
        fixture.post(path, GatewayFixture.message("hi"), "x-much", "x".repeat(65 * 1024));

    // then
    assertThat(answer.statusCode()).isEqualTo(431);
    assertThat(answer.body()).contains("invalid_request_error");
    assertThat(answer.headers().firstValue("x-should-retry")).contains("false");
    assertThat(fixture.admission.asked).isEmpty();
  }

  private static boolean isSent(OutputStream out, AtomicInteger sent) {
    try {
      out.write(' ');
      sent.incrementAndGet();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Whether the other side has answered or hung up; nothing else comes from it. */
  private static boolean isClosed(Socket socket) {
    try {
      socket.setSoTimeout(1);
      socket.getInputStream().read();
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  private static PlaceBook.Key key(int i) {
    return new PlaceBook.Key("caller", "key-" + i);
  }

  private static LeaseTicket ask(LeaseDesk desk) {
    return desk.ask("owner", null, LeaseCall.of("ant/sonnet").inputTokens(1).maxOutputTokens(1));
  }

  /** Modes as they were switched before. */
  private record FixedModes(Map<String, Mode> switched) implements ModeStore {
    @Override
    public void follow(Consumer<Map<String, Mode>> listener) {
      listener.accept(switched);
    }

    @Override
    public CompletableFuture<Void> put(String quota, Mode mode) {
      throw new UnsupportedOperationException();
    }
  }

  /** Nothing that is to happen later ever does. */
  private static final class NoTime extends AbstractLifeCycle implements Scheduler {
    @Override
    public Task schedule(Runnable task, long delay, TimeUnit unit) {
      return () -> true;
    }
  }
}
