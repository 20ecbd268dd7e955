package dev.fairway.benchmarks.gateway;

import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.up.UpProcess;
import dev.fairway.cli.up.UpSettings;
import dev.fairway.schemas.Topics;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Calls straight to a provider, through a gateway that only observes (what the gateway itself
 * adds), and through one that enforces (with a lease from the whole pipeline for each call). The
 * three take turns in each round, so that what the machine does besides hits all of them. Prints a
 * table; see docs/performance.md.
 */
public final class GatewayBenchmark {
  private static final int WARM_UP_ROUNDS = 5;
  private static final int ROUNDS = Integer.getInteger("fairway.bench.rounds", 20);
  private static final int CALLS_A_ROUND = 50;
  private static final String TOKENS = "lorem ipsum dolor sit amet ".repeat(80);

  private enum Way {
    DIRECT,
    OBSERVED,
    ENFORCED
  }

  private static final class Figures {
    final Histogram callNanos = new Histogram(3);
    final Histogram chunkNanos = new Histogram(3);
    final List<Double> megabytesPerS = new ArrayList<>();
  }

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Map<Way, Figures> figures = new EnumMap<>(Way.class);
  private final Map<Way, String> urls = new EnumMap<>(Way.class);

  private GatewayBenchmark(String direct, String gateway) {
    urls.put(Way.DIRECT, direct);
    urls.put(Way.OBSERVED, gateway);
    urls.put(Way.ENFORCED, gateway);
  }

  /** Runs it; takes no arguments. */
  public static void main(String[] args) throws Exception {
    Path data = Files.createTempDirectory("fairway-gateway-benchmark");
    Path key = Files.writeString(data.resolve("key"), "sk-bench\n");
    try (TimedProvider provider = new TimedProvider();
        UpProcess up =
            new UpProcess(
                new UpSettings(
                    data.resolve("up"),
                    QuotaYaml.parse(config(provider.url(), key), "benchmark"),
                    null,
                    null,
                    new Topics(),
                    0,
                    0,
                    0),
                line -> {})) {
      up.start();
      new GatewayBenchmark(provider.url(), up.addresses().gateway()).run();
    }
  }

  private static String config(String upstream, Path key) {
    return """
        quotas:
          - id: bench/observed
            provider: anthropic
            models: ["claude-observed"]
            limits: {requests_per_minute: 10000000, input_tokens_per_minute: 1000000000}
          - id: bench/enforced
            provider: anthropic
            models: ["claude-enforced"]
            limits: {requests_per_minute: 10000000, input_tokens_per_minute: 1000000000}
        gateway:
          modes: {bench/observed: OBSERVE}
          upstreams:
            anthropic: {provider: anthropic, url: "%s", key: {file: "%s"}}
        """
        .formatted(upstream, key);
  }

  private void run() throws Exception {
    for (int round = 0; round < WARM_UP_ROUNDS; round++) {
      round(round);
    }
    figures.clear();
    for (int round = 0; round < ROUNDS; round++) {
      round(round);
    }
    print();
  }

  private void round(int round) throws Exception {
    Way[] ways = Way.values();
    for (int i = 0; i < ways.length; i++) {
      Way way = ways[(i + round) % ways.length];
      Figures to = figures.computeIfAbsent(way, w -> new Figures());
      for (int call = 0; call < CALLS_A_ROUND; call++) {
        to.callNanos.recordValue(message(way, round * CALLS_A_ROUND + call));
      }
      paced(way, round, to.chunkNanos);
      to.megabytesPerS.add(large(way, round));
    }
  }

  private long message(Way way, int number) throws Exception {
    long startNanos = System.nanoTime();
    HttpResponse<byte[]> response =
        client.send(request(way, TimedProvider.MESSAGE, number), BodyHandlers.ofByteArray());
    long tookNanos = System.nanoTime() - startNanos;
    check(response);
    return tookNanos;
  }

  private void paced(Way way, int number, Histogram delays) throws Exception {
    HttpResponse<InputStream> response =
        client.send(request(way, TimedProvider.PACED, number), BodyHandlers.ofInputStream());
    check(response);
    int seen = 0;
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        long nowNanos = System.nanoTime();
        int at = line.indexOf("at ");
        int end = line.indexOf(" nanos");
        if (at >= 0 && end > at) {
          delays.recordValue(Math.max(0, nowNanos - Long.parseLong(line.substring(at + 3, end))));
          seen++;
        }
      }
    }
    if (seen != TimedProvider.PACED_EVENTS) {
      throw new IllegalStateException("Expected " + TimedProvider.PACED_EVENTS + ", saw " + seen);
    }
  }

  private double large(Way way, int number) throws Exception {
    HttpResponse<InputStream> response =
        client.send(request(way, TimedProvider.LARGE, number), BodyHandlers.ofInputStream());
    check(response);
    long startNanos = System.nanoTime();
    long bytes = 0;
    byte[] buffer = new byte[1 << 16];
    try (InputStream body = response.body()) {
      for (int read = body.read(buffer); read >= 0; read = body.read(buffer)) {
        bytes += read;
      }
    }
    long least = (long) TimedProvider.LARGE_EVENTS * TimedProvider.LARGE_EVENT_BYTES;
    if (bytes < least) {
      throw new IllegalStateException("Expected at least " + least + " bytes, got " + bytes);
    }
    return bytes * 1e3 / (System.nanoTime() - startNanos);
  }

  private HttpRequest request(Way way, String shape, int number) {
    boolean stream = !shape.equals(TimedProvider.MESSAGE);
    // A number of its own: the same body again would be a retry.
    String body =
        "{\"model\":\"claude-"
            + way.name().toLowerCase(Locale.ROOT)
            + "\",\"max_tokens\":256,\"stream\":"
            + stream
            + ",\"messages\":[{\"role\":\"user\",\"content\":\""
            + shape
            + number
            + " "
            + TOKENS
            + "\"}]}";
    return HttpRequest.newBuilder(URI.create(urls.get(way) + "/v1/messages"))
        .header("content-type", "application/json")
        .header("anthropic-version", "2023-06-01")
        .header("x-api-key", "sk-bench")
        .header(TimedProvider.SHAPE, shape)
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  private static void check(HttpResponse<?> response) throws IOException {
    if (response.statusCode() != 200) {
      throw new IOException("Expected 200, but found " + response.statusCode());
    }
  }

  private void print() {
    System.out.printf(
        "%-9s %12s %12s %13s %13s %13s %8s%n",
        "way",
        "call p50 ms",
        "call p99 ms",
        "chunk p50 ms",
        "chunk p99 ms",
        "chunk max ms",
        "MB/s");
    for (Way way : Way.values()) {
      Figures f = figures.get(way);
      System.out.printf(
          "%-9s %12.3f %12.3f %13.3f %13.3f %13.3f %8.0f%n",
          way.name().toLowerCase(Locale.ROOT),
          f.callNanos.getValueAtPercentile(50) / 1e6,
          f.callNanos.getValueAtPercentile(99) / 1e6,
          f.chunkNanos.getValueAtPercentile(50) / 1e6,
          f.chunkNanos.getValueAtPercentile(99) / 1e6,
          f.chunkNanos.getMaxValue() / 1e6,
          f.megabytesPerS.stream()
              .sorted()
              .skip(f.megabytesPerS.size() / 2)
              .findFirst()
              .orElse(0.0));
    }
    System.out.printf(
        "rounds %d, calls a way %d, chunks a way %d%n",
        ROUNDS, ROUNDS * CALLS_A_ROUND, ROUNDS * TimedProvider.PACED_EVENTS);
  }
}
