package dev.fairway.it.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Anthropic's and OpenAI's APIs as far as their SDKs use them here, streaming and not. The same
 * call gets the same bytes each time. Input counts as its body's letters by ten; every answer has
 * {@value #OUTPUT_TOKENS} tokens. Token-bucket limits, if any, are refused with a 429 as the
 * provider does.
 */
final class EmulatedApis implements AutoCloseable {
  static final long OUTPUT_TOKENS = 12;
  private static final int LETTERS_PER_TOKEN = 10;
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A call as it arrived. */
  record Call(String path, Map<String, List<String>> headers, byte[] body, int status) {}

  final List<Call> calls = new CopyOnWriteArrayList<>();
  final AtomicInteger refused = new AtomicInteger();
  private final HttpServer server;
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final long inputTokensPerMinute;
  private volatile long chunkPauseMs;
  private double level;
  private long levelNanos = System.nanoTime();

  /** With a limit of input tokens per minute, in a bucket of a minute that starts full. */
  EmulatedApis(long inputTokensPerMinute) {
    this(inputTokensPerMinute, inputTokensPerMinute);
  }

  /** With a bucket that starts at a level. */
  EmulatedApis(long inputTokensPerMinute, long level) {
    this.inputTokensPerMinute = inputTokensPerMinute;
    this.level = level;
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(executor);
    server.createContext("/", this::handle);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Pause between two chunks of a stream. */
  void chunkPauseMs(long pauseMs) {
    chunkPauseMs = pauseMs;
  }

  /** What the bucket holds now. */
  synchronized void level(long tokens) {
    refill();
    level = tokens;
  }

  static long inputTokens(byte[] body) {
    return body.length / LETTERS_PER_TOKEN;
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      String path = exchange.getRequestURI().getPath();
      boolean anthropic = path.startsWith("/v1/messages");
      boolean admitted = take(inputTokens(body));
      calls.add(
          new Call(path, Map.copyOf(exchange.getRequestHeaders()), body, admitted ? 200 : 429));
      if (!admitted) {
        refused.incrementAndGet();
        exchange.getResponseHeaders().set("retry-after", "1");
        json(
            exchange,
            429,
            anthropic
                ? "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"This request would exceed the rate limit\"}}"
                : "{\"error\":{\"message\":\"Rate limit reached\",\"type\":\"tokens\",\"param\":null,\"code\":\"rate_limit_exceeded\"}}");
        return;
      }
      answer(exchange, path, JSON.readTree(body), inputTokens(body), anthropic);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void answer(
      HttpExchange exchange, String path, JsonNode body, long input, boolean anthropic)
      throws IOException, InterruptedException {
    boolean stream = body.path("stream").asBoolean();
    String model = body.path("model").asText();
    if (anthropic) {
      limits(exchange);
    }
    if (path.equals("/v1/messages/count_tokens")) {
      json(exchange, 200, "{\"input_tokens\":" + input + "}");
    } else if (anthropic && stream) {
      events(exchange, anthropicEvents(model, input));
    } else if (anthropic) {
      json(exchange, 200, message(model, input, "\"end_turn\"", TEXT, OUTPUT_TOKENS));
    } else if (path.equals("/v1/chat/completions") && stream) {
      events(
          exchange, chatEvents(model, input, body.at("/stream_options/include_usage").asBoolean()));
    } else if (path.equals("/v1/chat/completions")) {
      json(exchange, 200, chat(model, input));
    } else if (path.equals("/v1/responses") && stream) {
      events(exchange, responseEvents(model, input));
    } else if (path.equals("/v1/responses")) {
      json(exchange, 200, response(model, input, "completed", true));
    } else if (path.equals("/v1/embeddings")) {
      json(
          exchange,
          200,
          "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":[0.25,-0.5]}],\"model\":\""
              + model
              + "\",\"usage\":{\"prompt_tokens\":"
              + input
              + ",\"total_tokens\":"
              + input
              + "}}");
    } else {
      json(
          exchange,
          404,
          "{\"error\":{\"message\":\"no such path\",\"type\":\"invalid_request_error\"}}");
    }
  }

  private static final String TEXT = "{\"type\":\"text\",\"text\":\"Hello, w\u00f6rld!\"}";

  private static String message(
      String model, long input, String stop, String content, long output) {
    return "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\""
        + model
        + "\",\"content\":["
        + content
        + "],\"stop_reason\":"
        + stop
        + ",\"stop_sequence\":null,\"usage\":{\"input_tokens\":"
        + input
        + ",\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":"
        + output
        + ",\"service_tier\":\"standard\"}}";
  }

  private static List<String> anthropicEvents(String model, long input) {
    return List.of(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":"
            + message(model, input, "null", "", 1)
            + "}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello, \"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"w\u00f6rld!\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":"
            + OUTPUT_TOKENS
            + "}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
  }

  private static String usage(long input) {
    return "{\"prompt_tokens\":"
        + input
        + ",\"completion_tokens\":"
        + OUTPUT_TOKENS
        + ",\"total_tokens\":"
        + (input + OUTPUT_TOKENS)
        + "}";
  }

  private static String chat(String model, long input) {
    return "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":\""
        + model
        + "\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Hello, w\u00f6rld!\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":"
        + usage(input)
        + "}";
  }

  private static List<String> chatEvents(String model, long input, boolean withUsage) {
    String head =
        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\""
            + model
            + "\",\"choices\":[";
    String last = withUsage ? head + "],\"usage\":" + usage(input) + "}\n\n" : "";
    return List.of(
        head
            + "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
        head + "{\"index\":0,\"delta\":{\"content\":\"Hello, \"},\"finish_reason\":null}]}\n\n",
        head + "{\"index\":0,\"delta\":{\"content\":\"w\u00f6rld!\"},\"finish_reason\":null}]}\n\n",
        head + "{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        last,
        "data: [DONE]\n\n");
  }

  private static String response(String model, long input, String status, boolean done) {
    return "{\"id\":\"resp_1\",\"object\":\"response\",\"created_at\":1700000000,\"status\":\""
        + status
        + "\",\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"metadata\":{},\"model\":\""
        + model
        + "\",\"output\":["
        + (done
            ? "{\"type\":\"message\",\"id\":\"m1\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hello, w\u00f6rld!\",\"annotations\":[]}]}"
            : "")
        + "],\"parallel_tool_calls\":true,\"temperature\":1.0,\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"usage\":"
        + (done
            ? "{\"input_tokens\":"
                + input
                + ",\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":"
                + OUTPUT_TOKENS
                + ",\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":"
                + (input + OUTPUT_TOKENS)
                + "}"
            : "null")
        + "}";
  }

  private static List<String> responseEvents(String model, long input) {
    return List.of(
        "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":"
            + response(model, input, "in_progress", false)
            + "}\n\n",
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":1,\"item_id\":\"m1\",\"output_index\":0,\"content_index\":0,\"delta\":\"Hello, w\u00f6rld!\",\"logprobs\":[]}\n\n",
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":2,\"response\":"
            + response(model, input, "completed", true)
            + "}\n\n");
  }

  private synchronized boolean take(long tokens) {
    refill();
    if (level < Math.min(tokens, inputTokensPerMinute)) {
      return false;
    }
    level -= tokens;
    return true;
  }

  private void refill() {
    long now = System.nanoTime();
    level =
        Math.min(inputTokensPerMinute, level + (now - levelNanos) / 60e9 * inputTokensPerMinute);
    levelNanos = now;
  }

  private void limits(HttpExchange exchange) {
    long remaining;
    synchronized (this) {
      refill();
      remaining = Math.max(0, Math.round(level / 1_000) * 1_000);
    }
    String prefix = "anthropic-ratelimit-input-tokens-";
    exchange.getResponseHeaders().set(prefix + "limit", Long.toString(inputTokensPerMinute));
    exchange.getResponseHeaders().set(prefix + "remaining", Long.toString(remaining));
  }

  private void events(HttpExchange exchange, List<String> events)
      throws IOException, InterruptedException {
    exchange.getResponseHeaders().set("content-type", "text/event-stream; charset=utf-8");
    exchange.sendResponseHeaders(200, 0);
    OutputStream out = exchange.getResponseBody();
    for (String event : events) {
      out.write(event.getBytes(StandardCharsets.UTF_8));
      out.flush();
      if (chunkPauseMs > 0) {
        TimeUnit.MILLISECONDS.sleep(chunkPauseMs);
      }
    }
  }

  private static void json(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("content-type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
    executor.shutdownNow();
  }
}
