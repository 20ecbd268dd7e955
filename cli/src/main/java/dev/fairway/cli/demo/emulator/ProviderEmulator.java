package dev.fairway.cli.demo.emulator;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.fairway.cli.demo.emulator.MessagesRequest.InvalidRequestException;
import dev.fairway.cli.demo.emulator.RateLimiter.Verdict;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The emulated provider on a loopback port: {@code POST /v1/messages}, and {@code
 * /v1/messages/count_tokens}, which takes from no limit and is in no ledger. A stream comes all at
 * once, when the model is done.
 *
 * <p>A caller that wants a call of an exact size says so in headers: {@code x-demo-call} (its id,
 * kept in the ledger), {@code x-demo-turn}, {@code x-demo-agent}, {@code x-demo-input-tokens} and
 * {@code x-demo-output-tokens}. Without them the input is a quarter of the characters sent, and the
 * output a short one.
 *
 * <p>No call holds a thread while the model "thinks". More than {@link #OPEN_CALLS_MAX} open calls
 * are answered 529, a body above {@link #BODY_BYTES_MAX} 413, both as the provider does.
 */
public final class ProviderEmulator implements AutoCloseable {
  /** Calls that may be open at a time. */
  public static final int OPEN_CALLS_MAX = 4096;

  /** Largest request body read. */
  public static final int BODY_BYTES_MAX = 32 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(ProviderEmulator.class);
  private static final String JSON = "application/json";
  private static final String MESSAGES = "/v1/messages";
  private static final String COUNT = MESSAGES + "/count_tokens";
  private static final int THREADS = 8;
  private static final int BACKLOG = 1024;
  private static final long LEDGER_SYNC_MS = 250;
  private static final long TOKENS_MAX = 1L << 40;

  static {
    // Without it the JDK's server waits for more to send, 40 ms an answer. Read once, at class
    // loading.
    if (System.getProperty("sun.net.httpserver.nodelay") == null) {
      System.setProperty("sun.net.httpserver.nodelay", "true");
    }
  }

  private final HttpServer server;
  private final RateLimiter limiter;
  private final ModelSpeed speed;
  private final Ledger ledger;
  private final ThreadPoolExecutor readers;
  private final ScheduledExecutorService model;
  private final AtomicLong calls = new AtomicLong();
  private final AtomicInteger open = new AtomicInteger();
  private final EpochNanos clock = new EpochNanos();

  private ProviderEmulator(
      HttpServer server, ProviderLimits limits, ModelSpeed speed, Ledger ledger) {
    this.server = server;
    this.limiter = new RateLimiter(limits, clock.now());
    this.speed = speed;
    this.ledger = ledger;
    // At the bound the accepting thread reads a request itself, which slows down who calls.
    this.readers =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(BACKLOG),
            task -> daemon(task, "provider-emulator"),
            new ThreadPoolExecutor.CallerRunsPolicy());
    this.model =
        Executors.newScheduledThreadPool(2, task -> daemon(task, "provider-emulator-model"));
  }

  /**
   * Starts on loopback.
   *
   * @param port 0 for any free one
   * @param ledger closed with the emulator
   */
  public static ProviderEmulator start(
      int port, ProviderLimits limits, ModelSpeed speed, Ledger ledger) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
    ProviderEmulator emulator = new ProviderEmulator(server, limits, speed, ledger);
    server.setExecutor(emulator.readers);
    server.createContext("/", emulator::notFound);
    server.createContext(MESSAGES, emulator::messages);
    server.createContext(COUNT, emulator::count);
    server.start();
    var unused =
        emulator.model.scheduleWithFixedDelay(
            emulator::syncLedger, LEDGER_SYNC_MS, LEDGER_SYNC_MS, TimeUnit.MILLISECONDS);
    return emulator;
  }

  /** The base URL, as a client of the provider is given it. */
  public URI uri() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Every call so far. */
  public Ledger ledger() {
    return ledger;
  }

  /** Calls that are being answered now. */
  public int openCalls() {
    return open.get();
  }

  /** Input tokens left now, negative in debt: what no client can see, for displays. */
  public double inputLevel() {
    return limiter.inputLevel(clock.now());
  }

  /** Stops at once; open calls get no answer. */
  @Override
  public void close() throws IOException {
    server.stop(0);
    readers.shutdownNow();
    model.shutdownNow();
    ledger.close();
  }

  /** The body of a POST to just that path; null: it was none, and is answered. */
  private byte[] body(HttpExchange exchange, String path, String requestId) throws IOException {
    if (!exchange.getRequestURI().getPath().equals(path)) {
      notFound(exchange);
      return null;
    }
    if (!exchange.getRequestMethod().equals("POST")) {
      fail(exchange, 405, requestId, "invalid_request_error", "Method Not Allowed");
      return null;
    }
    byte[] body = exchange.getRequestBody().readNBytes(BODY_BYTES_MAX + 1);
    if (body.length > BODY_BYTES_MAX) {
      fail(exchange, 413, requestId, "request_too_large", "Request exceeds the maximum size");
      return null;
    }
    return body;
  }

  private void count(HttpExchange exchange) throws IOException {
    String requestId = "req_count";
    byte[] body = body(exchange, COUNT, requestId);
    if (body == null) {
      return;
    }
    try {
      long tokens = MessagesRequest.parseCount(body).estimatedInputTokens();
      answer(exchange, 200, JSON, Answers.count(tokens));
    } catch (InvalidRequestException e) {
      fail(exchange, 400, requestId, "invalid_request_error", e.getMessage());
    }
  }

  private void messages(HttpExchange exchange) throws IOException {
    long seq = calls.incrementAndGet();
    String requestId = String.format("req_%024d", seq);
    byte[] body = body(exchange, MESSAGES, requestId);
    if (body == null) {
      return;
    }
    MessagesRequest request;
    Long inputTokens;
    Long outputTokens;
    try {
      request = MessagesRequest.parse(body);
      inputTokens = tokensHeader(exchange, "x-demo-input-tokens");
      outputTokens = tokensHeader(exchange, "x-demo-output-tokens");
    } catch (InvalidRequestException e) {
      fail(exchange, 400, requestId, "invalid_request_error", e.getMessage());
      return;
    }
    if (open.incrementAndGet() > OPEN_CALLS_MAX) {
      open.decrementAndGet();
      fail(exchange, 529, requestId, "overloaded_error", "Overloaded");
      return;
    }
    long input = inputTokens == null ? request.estimatedInputTokens() : inputTokens;
    long output = Math.min(request.maxTokens(), outputTokens == null ? 200 : outputTokens);
    decide(new Call(exchange, seq, requestId, request, input, output));
  }

  private record Call(
      HttpExchange exchange,
      long seq,
      String requestId,
      MessagesRequest request,
      long input,
      long output) {

    String header(String name) {
      return exchange.getRequestHeaders().getFirst(name);
    }

    /** The same turn takes the same time in every run; who names none is told apart by number. */
    String speedKey() {
      String turn = header("x-demo-turn");
      return turn == null ? requestId : turn;
    }
  }

  private void decide(Call call) throws IOException {
    long arrived = clock.now();
    Verdict verdict = limiter.arrive(arrived, call.input());
    LedgerEntry entry =
        new LedgerEntry(
            call.seq(),
            call.header("x-demo-call"),
            call.header("x-demo-turn"),
            call.header("x-demo-agent"),
            arrived,
            null,
            verdict.admitted() ? 200 : 429,
            call.input(),
            null,
            verdict.admitted() ? null : verdict.refusal().name(),
            verdict.admitted() ? null : verdict.retryAfterSeconds());
    if (!verdict.admitted()) {
      open.decrementAndGet();
      ledger.write(entry.finished(arrived, 0));
      headers(call, verdict, arrived, limiter.output(arrived), arrived);
      call.exchange()
          .getResponseHeaders()
          .set("retry-after", Long.toString(verdict.retryAfterSeconds()));
      answer(
          call.exchange(),
          429,
          JSON,
          Answers.rateLimited(call.requestId(), verdict.refusal(), verdict.limitPerMinute()));
      return;
    }
    ledger.write(entry);
    long thinkNanos = (long) (speed.callMs(call.speedKey(), call.output()) * 1e6);
    try {
      var unused =
          model.schedule(() -> finish(call, verdict, entry), thinkNanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // Closing: the client sees a dropped connection, as it would from a provider that goes away.
      call.exchange().close();
    }
  }

  private void finish(Call call, Verdict verdict, LedgerEntry entry) {
    try {
      long now = clock.now();
      Reading output = limiter.finish(now, call.output());
      ledger.write(entry.finished(now, call.output()));
      headers(call, verdict, entry.arrivedNs(), output, now);
      String id = "msg_" + call.requestId().substring(4);
      boolean stream = call.request().stream();
      answer(
          call.exchange(),
          200,
          stream ? "text/event-stream; charset=utf-8" : JSON,
          stream
              ? Answers.events(id, call.request(), call.input(), call.output())
              : Answers.message(id, call.request(), call.input(), call.output()));
    } catch (IOException e) {
      LOG.debug("The caller of {} went away before its answer", call.requestId(), e);
      call.exchange().close();
    } catch (RuntimeException e) {
      LOG.error("The emulated provider could not answer {}", call.requestId(), e);
      call.exchange().close();
    } finally {
      open.decrementAndGet();
    }
  }

  private static void headers(
      Call call, Verdict verdict, long arrivedNs, Reading output, long answeredNs) {
    Map<String, String> limits =
        RateLimitHeaders.of(
            verdict.requests(), verdict.input(), instant(arrivedNs), output, instant(answeredNs));
    limits.forEach(call.exchange().getResponseHeaders()::set);
    call.exchange().getResponseHeaders().set("request-id", call.requestId());
  }

  private void notFound(HttpExchange exchange) throws IOException {
    fail(
        exchange,
        404,
        "req_none",
        "not_found_error",
        "Expected POST /v1/messages, but got "
            + exchange.getRequestMethod()
            + " "
            + exchange.getRequestURI().getPath());
  }

  private static void fail(
      HttpExchange exchange, int status, String requestId, String type, String message)
      throws IOException {
    exchange.getResponseHeaders().set("request-id", requestId);
    answer(exchange, status, JSON, Answers.error(requestId, type, message));
  }

  private static void answer(HttpExchange exchange, int status, String contentType, byte[] body)
      throws IOException {
    exchange.getResponseHeaders().set("content-type", contentType);
    exchange.sendResponseHeaders(status, body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }

  private static Long tokensHeader(HttpExchange exchange, String name)
      throws InvalidRequestException {
    String text = exchange.getRequestHeaders().getFirst(name);
    if (text == null) {
      return null;
    }
    try {
      long tokens = Long.parseLong(text.trim());
      if (tokens >= 0 && tokens <= TOKENS_MAX) {
        return tokens;
      }
    } catch (NumberFormatException e) {
      // Told below, with the bounds.
    }
    throw new InvalidRequestException(
        name + ": Expected a whole number from 0 to " + TOKENS_MAX + ", but got " + text);
  }

  private void syncLedger() {
    try {
      ledger.sync();
    } catch (IOException e) {
      LOG.warn("The ledger file could not be forced to the disk", e);
    }
  }

  private static Instant instant(long epochNanos) {
    return Instant.ofEpochSecond(0, epochNanos);
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }
}
