package dev.fairway.agent.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.api.SoftAssertions;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whatever an upstream answers, and wherever it or the client breaks off: each grant is settled
 * once, and the provider sees no more calls than one and those that the retry budget allows.
 */
class OneCallInAllTest {
  private static final Duration LONG = Duration.ofSeconds(10);
  private static final int BUDGET = 2;
  private static final Pattern CASE = Pattern.compile("case-[0-9]+-");
  private static final Pattern LENGTH = Pattern.compile("(?i)content-length: ([0-9]+)");
  private static final String RATE_LIMITED =
      "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"no\"}}";
  private static final String FAILURE =
      "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"no\"}}";
  private static final String EVENTS =
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n"
          + "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":15}}\n\n"
          + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
  private static final String EARLY = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";

  /** What the upstream sends before, and after, the client leaves in the middle; then it closes. */
  private enum Answer {
    WHOLE(json(200, GatewayFixture.ANSWER), "", true),
    IN_TWO_PARTS(json(200, GatewayFixture.ANSWER), 30, true),
    AFTER_ITS_HEAD(json(200, GatewayFixture.ANSWER), GatewayFixture.ANSWER.length(), true),
    STREAM(stream(), 80, true),
    AFTER_EARLY_HINTS(EARLY + json(200, GatewayFixture.ANSWER), "", true),
    HALF_A_BODY(half(json(200, GatewayFixture.ANSWER), 30), "", false),
    HALF_A_STREAM(half(stream(), 80), "", false),
    HALF_A_HEAD("HTTP/1.1 200 OK\r\ncontent-", "", false),
    NOTHING("", "", false),
    EARLY_HINTS_ALONE(EARLY, "", false),
    OTHER_PROTOCOL(
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n",
        "",
        false),
    NO_HTTP("hello there\r\n\r\n", "", false),
    FAILED(json(500, FAILURE), "", false),
    FAILED_SLOWLY(json(529, FAILURE), 20, false),
    HALF_A_FAILURE(half(json(503, FAILURE), 20), "", false),
    BAD_REQUEST(json(400, FAILURE), "", false),
    RATE_LIMITED_ALWAYS(json(429, RATE_LIMITED), "", false),
    HALF_RATE_LIMITED(half(json(429, RATE_LIMITED), 20), "", false),
    NO_CONTENT("HTTP/1.1 204 No Content\r\n\r\n", "", true);

    private final String first;
    private final String then;
    private final boolean whole;

    Answer(String first, String then, boolean whole) {
      this.first = first;
      this.then = then;
      this.whole = whole;
    }

    Answer(String all, int last, boolean whole) {
      this(half(all, last), all.substring(all.length() - last), whole);
    }

    private static String half(String all, int missing) {
      return all.substring(0, all.length() - missing);
    }
  }

  /** When the client leaves. */
  private enum Leaves {
    NEVER,
    IN_LINE,
    ONCE_IT_IS_SENT,
    IN_THE_MIDDLE
  }

  /** One call at its upstream: what it waits for, and what it has done. */
  private static final class Call {
    private volatile CountDownLatch sent;
    private volatile CountDownLatch middle;
    private volatile CountDownLatch wroteFirst;
    private final AtomicInteger received = new AtomicInteger();
    private volatile Answer answer;

    Call(Answer answer) {
      this.answer = answer;
      holdOn();
    }

    void holdOn() {
      sent = new CountDownLatch(1);
      middle = new CountDownLatch(1);
      wroteFirst = new CountDownLatch(1);
    }

    void goOn() {
      sent.countDown();
      middle.countDown();
    }
  }

  private final GatewayFixture fixture = new GatewayFixture();
  private final Map<String, Call> calls = new ConcurrentHashMap<>();
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private ServerSocket upstream;
  private int cases;

  @BeforeEach
  void listen() throws IOException {
    upstream = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    fixture.upstreamUrl = "http://127.0.0.1:" + upstream.getLocalPort();
    executor.execute(this::accept);
  }

  @AfterEach
  void close() throws IOException {
    calls.values().forEach(Call::goOn);
    upstream.close();
    fixture.close();
    executor.shutdownNow();
  }

  @ParameterizedTest
  @EnumSource(Answer.class)
  void shouldSettleEachGrantOnceAndCallNoMoreOftenThanItMay(Answer answer) throws IOException {
    SoftAssertions soft = new SoftAssertions();
    for (Leaves leaves : Leaves.values()) {
      for (boolean keyed : new boolean[] {false, true}) {
        for (boolean used : new boolean[] {false, true}) {
          for (boolean stream : new boolean[] {false, true}) {
            run(answer, leaves, keyed, used, stream, soft);
          }
        }
      }
    }
    soft.assertAll();
  }

  private void run(
      Answer answer,
      Leaves leaves,
      boolean keyed,
      boolean used,
      boolean stream,
      SoftAssertions soft)
      throws IOException {
    // given: perhaps a connection to the upstream over which an answer has come
    if (used) {
      once(newCase(Answer.WHOLE), Leaves.NEVER, false, false);
    }
    String id = newCase(answer);
    Call call = calls.get(id);

    // when
    once(id, leaves, keyed, stream);

    // then
    String name =
        answer
            + ", client leaves "
            + leaves
            + (keyed ? ", with a key" : "")
            + (used ? ", on a used connection" : "")
            + (stream ? ", as a stream" : "");
    boolean again =
        answer == Answer.RATE_LIMITED_ALWAYS
            || answer == Answer.HALF_RATE_LIMITED
            || answer == Answer.NOTHING; // On a connection that any case before has used.
    soft.assertThat(call.received.get()).as(name).isLessThanOrEqualTo(again ? 1 + BUDGET : 1);
    if (!keyed || leaves == Leaves.NEVER) { // Else a grant may be kept for who may come back.
      assertSettled(soft, name);
    }
    if (keyed) {
      // when: it comes back, and all is well
      int before = call.received.get();
      boolean lost = before > 0 && !answer.whole;
      call.answer = Answer.WHOLE;
      once(id, Leaves.NEVER, true, stream);

      // then
      soft.assertThat(call.received.get())
          .as(name + ", back")
          .isLessThanOrEqualTo(lost ? 1 + BUDGET : 1);
    } else {
      // when: a loop that never gets it
      for (int i = 0; i < 3; i++) {
        once(id, leaves, false, stream);
      }

      // then
      if (!answer.whole) {
        soft.assertThat(call.received.get())
            .as(name + ", in a loop")
            .isLessThanOrEqualTo(1 + BUDGET);
      }
    }
    assertSettled(soft, name + ", in the end");
  }

  private void assertSettled(SoftAssertions soft, String name) {
    try {
      await()
          .pollInterval(Duration.ofMillis(5))
          .atMost(LONG)
          .until(() -> fixture.admission.settled.size() == fixture.admission.granted.get());
    } catch (ConditionTimeoutException e) {
      soft.fail(
          "%s: %d grants, %d settlements",
          name, fixture.admission.granted.get(), fixture.admission.settled.size());
      fixture.admission.granted.set(fixture.admission.settled.size());
    }
  }

  private String newCase(Answer answer) {
    String id = "case-" + ++cases + "-";
    calls.put(id, new Call(answer));
    return id;
  }

  /** Makes a call as a client that reads to the end, or leaves before. */
  private void once(String id, Leaves leaves, boolean keyed, boolean stream) throws IOException {
    Call call = calls.get(id);
    call.holdOn();
    fixture.admission.holds = leaves == Leaves.IN_LINE;
    int asked = fixture.admission.asked.size();
    long ends = ends();
    try (Socket client = new Socket("127.0.0.1", fixture.uri("/").getPort())) {
      client.setSoTimeout((int) LONG.toMillis());
      send(client, id, keyed, stream);
      switch (leaves) {
        case NEVER -> {
          call.goOn();
          var unused = client.getInputStream().readAllBytes();
        }
        case IN_LINE -> awaitOr(() -> fixture.admission.asked.size() > asked, ends);
        case ONCE_IT_IS_SENT -> awaitOr(() -> call.received.get() > 0, ends);
        case IN_THE_MIDDLE -> {
          call.sent.countDown();
          awaitOr(() -> call.wroteFirst.getCount() == 0, ends);
        }
      }
    } catch (SocketException e) {
      // An answer that is cut.
    }
    if (leaves != Leaves.NEVER) {
      awaitOr(() -> false, ends);
    }
    fixture.admission.holds = false;
    fixture.admission.asked.forEach(question -> question.grant(fixture.admission));
    call.goOn(); // Its connection may be used again.
    if (!keyed) { // Else it may go on without its client. What is under way has not failed yet.
      await()
          .pollInterval(Duration.ofMillis(2))
          .atMost(LONG)
          .until(() -> fixture.gateway().stats().open() == 0);
    }
  }

  /** Whatever ends a call, or a client's part in it. */
  private long ends() {
    GatewayStats stats = fixture.gateway().stats();
    return stats.clientsGone() + stats.refused() + fixture.admission.settled.size();
  }

  private void awaitOr(Callable<Boolean> condition, long ends) {
    await()
        .pollInterval(Duration.ofMillis(2))
        .atMost(LONG)
        .until(() -> ends() > ends || condition.call());
  }

  private static void send(Socket client, String id, boolean keyed, boolean stream)
      throws IOException {
    String body = stream ? GatewayFixture.streamed(id) : GatewayFixture.message(id);
    String head =
        "POST /v1/messages HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\nx-fairway-agent: "
            + id
            + "\r\nx-fairway-retry-budget: "
            + BUDGET
            + (keyed ? "\r\nidempotency-key: " + id : "")
            + "\r\ncontent-length: "
            + body.length()
            + "\r\n\r\n";
    client.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
  }

  // ---- the upstream

  private void accept() {
    try {
      while (true) {
        Socket socket = upstream.accept();
        executor.execute(() -> serve(socket));
      }
    } catch (IOException e) {
      // The test is over.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = socket.getInputStream();
      OutputStream out = socket.getOutputStream();
      boolean stays = true;
      while (stays) {
        Call call = calls.get(readId(in));
        call.received.incrementAndGet();
        Answer answer = call.answer;
        CountDownLatch middle = call.middle;
        CountDownLatch wroteFirst = call.wroteFirst;
        awaitLatch(call.sent);
        out.write(answer.first.getBytes(StandardCharsets.US_ASCII));
        out.flush();
        wroteFirst.countDown();
        awaitLatch(middle);
        out.write(answer.then.getBytes(StandardCharsets.US_ASCII));
        stays = answer == Answer.WHOLE;
      }
    } catch (IOException e) {
      // The gateway has closed the connection.
    }
  }

  private static String readId(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int next = in.read();
      if (next < 0) {
        throw new EOFException();
      }
      head.append((char) next);
    }
    Matcher length = LENGTH.matcher(head);
    assertThat(length.find()).isTrue();
    String body =
        new String(in.readNBytes(Integer.parseInt(length.group(1))), StandardCharsets.US_ASCII);
    Matcher id = CASE.matcher(body);
    assertThat(id.find()).isTrue();
    return id.group();
  }

  private static void awaitLatch(CountDownLatch latch) throws IOException {
    try {
      if (!latch.await(LONG.toSeconds(), TimeUnit.SECONDS)) {
        throw new IOException("nobody goes on");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  private static String json(int status, String body) {
    return "HTTP/1.1 "
        + status
        + " x\r\ncontent-type: application/json\r\ncontent-length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  private static String stream() {
    return "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: "
        + EVENTS.length()
        + "\r\n\r\n"
        + EVENTS;
  }
}
