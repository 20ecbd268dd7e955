package dev.fairway.agent.gateway;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A provider that answers as the test scripts it, one script a call, the last one again. */
final class FakeUpstream implements AutoCloseable {
  interface Script {
    void answer(HttpExchange exchange) throws IOException;
  }

  record Received(String method, String path, Map<String, List<String>> headers, byte[] body) {
    String header(String name) {
      return headers.entrySet().stream()
          .filter(entry -> entry.getKey().equalsIgnoreCase(name))
          .map(entry -> String.join(",", entry.getValue()))
          .findFirst()
          .orElse(null);
    }

    String text() {
      return new String(body, StandardCharsets.UTF_8);
    }
  }

  final List<Received> received = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<Script> scripts = new ConcurrentLinkedQueue<>();
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final HttpServer server;
  private volatile Script last = exchange -> json(exchange, 200, "{}");

  FakeUpstream() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(executor);
    server.createContext("/", this::handle);
    server.start();
  }

  /** What it answers where nothing else is scripted. */
  FakeUpstream otherwise(Script script) {
    last = script;
    return this;
  }

  FakeUpstream then(Script script) {
    scripts.add(script);
    return this;
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void handle(HttpExchange exchange) throws IOException {
    received.add(
        new Received(
            exchange.getRequestMethod(),
            exchange.getRequestURI().toString(),
            Map.copyOf(exchange.getRequestHeaders()),
            exchange.getRequestBody().readAllBytes()));
    Script next = scripts.poll();
    last = next == null ? last : next;
    try (exchange) {
      last.answer(exchange);
    }
  }

  static void json(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("content-type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  /** Begins a stream of events. */
  static OutputStream events(HttpExchange exchange) throws IOException {
    exchange.getResponseHeaders().set("content-type", "text/event-stream; charset=utf-8");
    exchange.sendResponseHeaders(200, 0);
    return exchange.getResponseBody();
  }

  static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  @Override
  public void close() {
    server.stop(0);
    executor.shutdownNow();
  }
}
