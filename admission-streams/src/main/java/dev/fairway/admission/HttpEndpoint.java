package dev.fairway.admission;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers GET and HEAD over HTTP; what a path answers is the caller's. */
final class HttpEndpoint implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);
  private static final int BACKLOG = 64;
  private static final int THREADS = 4;
  private static final int WAITING_MAX = 64;
  private static final int PARAMETERS_MAX = 16;

  private final HttpServer server;
  private final ThreadPoolExecutor threads;

  /** An answer: status, media type and text. */
  record Answer(int status, String type, String text) {
    static Answer json(int status, Object json) {
      return new Answer(status, "application/json", json + "\n");
    }
  }

  /** What a path answers to its query. */
  interface Page {
    Answer answer(Map<String, String> query);
  }

  private HttpEndpoint(HttpServer server, ThreadPoolExecutor threads) {
    this.server = server;
    this.threads = threads;
  }

  /**
   * Serves pages by exact path.
   *
   * @param port 0 for any free one
   * @throws IOException if the address cannot be bound
   */
  static HttpEndpoint start(String host, int port, Map<String, Page> pages) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(host, port), BACKLOG);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(WAITING_MAX),
            task -> {
              Thread thread = new Thread(task, "fairway-admission-http");
              thread.setDaemon(true);
              return thread;
            },
            // The server's own thread answers then, and accepts nobody meanwhile.
            new ThreadPoolExecutor.CallerRunsPolicy());
    threads.allowCoreThreadTimeOut(true);
    server.setExecutor(threads);
    server.createContext("/", exchange -> handle(exchange, pages));
    server.start();
    return new HttpEndpoint(server, threads);
  }

  /** The port it listens on. */
  int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private static void handle(HttpExchange exchange, Map<String, Page> pages) throws IOException {
    try (exchange) {
      String method = exchange.getRequestMethod();
      if (!method.equals("GET") && !method.equals("HEAD")) {
        send(exchange, new Answer(405, "text/plain", "Expected GET or HEAD.\n"));
        return;
      }
      Page page = pages.get(exchange.getRequestURI().getPath());
      Answer answer;
      try {
        answer =
            page == null
                ? new Answer(404, "text/plain", "Not found; there are " + pages.keySet() + ".\n")
                : page.answer(query(exchange.getRequestURI().getRawQuery()));
      } catch (IllegalArgumentException e) {
        answer = new Answer(400, "text/plain", e.getMessage() + "\n");
      } catch (RuntimeException e) {
        LOG.error("Could not answer {}", exchange.getRequestURI(), e);
        answer = new Answer(500, "text/plain", "Failed; the coordinator's log says why.\n");
      }
      send(exchange, answer);
    }
  }

  private static void send(HttpExchange exchange, Answer answer) throws IOException {
    byte[] body = answer.text().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", answer.type() + "; charset=utf-8");
    boolean head = exchange.getRequestMethod().equals("HEAD");
    exchange.sendResponseHeaders(answer.status(), head ? -1 : body.length);
    if (!head) {
      exchange.getResponseBody().write(body);
    }
  }

  private static Map<String, String> query(String raw) {
    Map<String, String> query = new HashMap<>();
    if (raw != null) {
      for (String pair : raw.split("&", PARAMETERS_MAX)) {
        int equals = pair.indexOf('=');
        if (equals > 0) {
          query.put(decode(pair.substring(0, equals)), decode(pair.substring(equals + 1)));
        }
      }
    }
    return query;
  }

  private static String decode(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
