package dev.fairway.dispatcher;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * Health and metrics over HTTP: {@code GET /health} answers 200, or 503 with what is wrong; {@code
 * GET /metrics} has the Prometheus text format.
 *
 * <p>The coordinator has a larger one of its own. The one module that both see is {@code schemas},
 * and agents, which have no HTTP server, see it as well.
 */
final class HttpEndpoint implements AutoCloseable {

  private static final int BACKLOG = 16;
  private static final int THREADS = 2;

  private final HttpServer server;
  private final ExecutorService threads;

  private HttpEndpoint(HttpServer server, ExecutorService threads) {
    this.server = server;
    this.threads = threads;
  }

  /**
   * Serves on an address.
   *
   * @param trouble what is wrong; null if nothing is
   * @param metrics text of the metrics
   * @throws IOException if the address cannot be bound
   */
  static HttpEndpoint start(
      String host, int port, Supplier<String> trouble, Supplier<String> metrics)
      throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(host, port), BACKLOG);
    ExecutorService threads =
        Executors.newFixedThreadPool(
            THREADS,
            task -> {
              Thread thread = new Thread(task, "fairway-dispatcher-http");
              thread.setDaemon(true);
              return thread;
            });
    server.setExecutor(threads);
    server.createContext("/", exchange -> answer(exchange, 404, "text/plain", "Not found.\n"));
    server.createContext(
        "/health",
        exchange -> {
          String wrong = trouble.get();
          answer(
              exchange,
              wrong == null ? 200 : 503,
              "text/plain",
              wrong == null ? "UP\n" : wrong + "\n");
        });
    server.createContext(
        "/metrics", exchange -> answer(exchange, 200, "text/plain; version=0.0.4", metrics.get()));
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

  private static void answer(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    try (exchange) {
      boolean head = exchange.getRequestMethod().equals("HEAD");
      if (!head && !exchange.getRequestMethod().equals("GET")) {
        exchange.sendResponseHeaders(405, -1);
        return;
      }
      byte[] body = text.getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", type + "; charset=utf-8");
      exchange.sendResponseHeaders(status, head ? -1 : body.length);
      if (!head) {
        exchange.getResponseBody().write(body);
      }
    }
  }
}
