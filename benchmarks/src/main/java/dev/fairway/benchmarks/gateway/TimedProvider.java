package dev.fairway.benchmarks.gateway;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/**
 * Answers Anthropic Messages calls as a provider would, at once and always the same. The header
 * {@value #SHAPE} of a call says how: a message, a message after {@value #THOUGHT_MS} ms, a stream
 * whose events tell when they were written, or a large stream.
 */
final class TimedProvider implements AutoCloseable {
  static final String SHAPE = "x-bench-shape";
  static final String MESSAGE = "message";
  static final String THOUGHT = "thought";
  static final String PACED = "paced";
  static final String LARGE = "large";

  static final long THOUGHT_MS = 20;
  static final int PACED_EVENTS = 200;
  static final long PACED_EVERY_NANOS = 5_000_000;
  static final int LARGE_EVENTS = 16_384;
  static final int LARGE_EVENT_BYTES = 4_096;

  private static final String START =
      event(
          "message_start",
          "\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-bench\","
              + "\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":500,\"output_tokens\":1}}");
  private static final String END =
      event(
              "message_delta",
              "\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":200}")
          + event("message_stop", null);
  private static final String WHOLE =
      "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-bench\","
          + "\"content\":[{\"type\":\"text\",\"text\":\""
          + "lorem ipsum ".repeat(80)
          + "\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\":{\"input_tokens\":500,\"output_tokens\":200}}";

  private final Server server = new Server();
  private final ServerConnector connector = new ServerConnector(server);

  TimedProvider() throws Exception {
    connector.setHost(InetAddress.getLoopbackAddress().getHostAddress());
    server.addConnector(connector);
    server.setHandler(
        new Handler.Abstract() {
          @Override
          public boolean handle(Request request, Response response, Callback callback)
              throws Exception {
            answer(request, response);
            callback.succeeded();
            return true;
          }
        });
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + connector.getLocalPort();
  }

  private static void answer(Request request, Response response) throws IOException {
    Content.Source.asString(request);
    String shape = request.getHeaders().get(SHAPE);
    boolean whole = MESSAGE.equals(shape) || THOUGHT.equals(shape);
    if (THOUGHT.equals(shape)) {
      awaitNanos(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(THOUGHT_MS));
    }
    response
        .getHeaders()
        .put(HttpHeader.CONTENT_TYPE, whole ? "application/json" : "text/event-stream");
    try (OutputStream out = Content.Sink.asOutputStream(response)) {
      if (whole) {
        write(out, WHOLE);
      } else if (PACED.equals(shape)) {
        paced(out);
      } else {
        large(out);
      }
    }
  }

  private static void paced(OutputStream out) throws IOException {
    write(out, START);
    long nextNanos = System.nanoTime();
    for (int i = 0; i < PACED_EVENTS; i++) {
      nextNanos += PACED_EVERY_NANOS;
      awaitNanos(nextNanos);
      write(
          out,
          event(
              "content_block_delta",
              "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"at "
                  + System.nanoTime()
                  + " nanos\"}"));
    }
    write(out, END);
  }

  private static void awaitNanos(long atNanos) {
    for (long left = atNanos - System.nanoTime(); left > 0; left = atNanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private static void large(OutputStream out) throws IOException {
    write(out, START);
    byte[] delta =
        event(
                "content_block_delta",
                "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\""
                    + "x".repeat(LARGE_EVENT_BYTES)
                    + "\"}")
            .getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < LARGE_EVENTS; i++) {
      out.write(delta);
    }
    write(out, END);
  }

  private static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  private static String event(String type, String fields) {
    return "event: "
        + type
        + "\ndata: {\"type\":\""
        + type
        + "\""
        + (fields == null ? "" : "," + fields)
        + "}\n\n";
  }

  @Override
  public void close() throws Exception {
    server.stop();
  }
}
