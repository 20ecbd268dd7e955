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
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Calls straight to a provider, through a gateway that passes them uncounted (what the way through
 * it takes), that observes (with counting, and the pipeline at work besides), and that enforces
 * (with a lease from the whole pipeline before each call); and Kafka alone, on the way of a lease.
 * They take turns in each round, so that what the machine does besides hits all of them. Prints
 * tables; see docs/performance.md.
 */
public final class GatewayBenchmark {
  /** Less leaves half the way to the interpreter: a call is still getting faster then. */
  private static final int WARM_UP_ROUNDS = Integer.getInteger("fairway.bench.warmup", 60);

  private static final int ROUNDS = Integer.getInteger("fairway.bench.rounds", 20);
  private static final int CALLS_A_ROUND = 50;
  private static final int THOUGHTS_A_ROUND = 20;
  private static final String TOKENS = "lorem ipsum dolor sit amet ".repeat(80);

  private enum Way {
    DIRECT,
    PASSED,
    OBSERVED,
    ENFORCED
  }

  private static final class Figures {
    final Histogram callNanos = new Histogram(3);
    final Histogram thoughtNanos = new Histogram(3);
    final Histogram chunkNanos = new Histogram(3);
    final List<Double> megabytesPerS = new ArrayList<>();
  }

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Map<Way, Figures> figures = new EnumMap<>(Way.class);
  private final Map<Way, String> urls = new EnumMap<>(Way.class);

  private final KafkaPath kafka;
  private final Histogram kafkaNanos = new Histogram(3);
  private int calls;

  private GatewayBenchmark(String direct, String gateway, KafkaPath kafka) {
    this.kafka = kafka;
    urls.put(Way.DIRECT, direct);
    urls.put(Way.PASSED, gateway);
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
                    false,
                    null,
                    null,
                    new Topics(),
                    0,
                    0,
                    0),
                line -> {})) {
      up.start();
      try (KafkaPath kafka = new KafkaPath(up.addresses().bootstrap())) {
        new GatewayBenchmark(provider.url(), up.addresses().gateway(), kafka).run();
      }
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
          unknown: anthropic
          modes: {bench/observed: OBSERVE}
          upstreams:
            anthropic: {provider: anthropic, url: "%s", key: {file: "%s"}}
        """
        .formatted(upstream, key);
  }

  private void run() throws Exception {
    for (int round = 0; round < WARM_UP_ROUNDS; round++) {
      calls(round);
    }
    streams(0);
    figures.clear();
    kafka.clear();
    kafkaNanos.reset();
    for (int round = 0; round < ROUNDS; round++) {
      round(round);
    }
    print();
  }

  private void round(int round) throws Exception {
    calls(round);
    for (int call = 0; call < THOUGHTS_A_ROUND; call++) {
      for (Way way : Way.values()) {
        figures(way).thoughtNanos.recordValue(message(way, TimedProvider.THOUGHT));
      }
    }
    streams(round);
  }

  private void calls(int round) throws Exception {
    for (Way way : inTurn(round)) {
      for (int call = 0; call < CALLS_A_ROUND; call++) {
        figures(way).callNanos.recordValue(message(way, TimedProvider.MESSAGE));
      }
    }
    for (int call = 0; call < CALLS_A_ROUND; call++) {
      kafkaNanos.recordValue(kafka.ask());
    }
  }

  private void streams(int round) throws Exception {
    for (Way way : inTurn(round)) {
      paced(way, figures(way).chunkNanos);
      figures(way).megabytesPerS.add(large(way));
    }
  }

  /** Each is the first one, and each after each, in as many rounds as the others. */
  private static List<Way> inTurn(int round) {
    List<Way> ways = new ArrayList<>(List.of(Way.values()));
    Collections.rotate(ways, -round);
    return ways;
  }

  private Figures figures(Way way) {
    return figures.computeIfAbsent(way, w -> new Figures());
  }

  private long message(Way way, String shape) throws Exception {
    long startNanos = System.nanoTime();
    HttpResponse<byte[]> response = client.send(request(way, shape), BodyHandlers.ofByteArray());
    long tookNanos = System.nanoTime() - startNanos;
    check(response);
    return tookNanos;
  }

  private void paced(Way way, Histogram delays) throws Exception {
    HttpResponse<InputStream> response =
        client.send(request(way, TimedProvider.PACED), BodyHandlers.ofInputStream());
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

  private double large(Way way) throws Exception {
    HttpResponse<InputStream> response =
        client.send(request(way, TimedProvider.LARGE), BodyHandlers.ofInputStream());
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

  private HttpRequest request(Way way, String shape) {
    boolean stream = shape.equals(TimedProvider.PACED) || shape.equals(TimedProvider.LARGE);
    // A number of its own: the same body again would be a retry.
    String body =
        "{\"model\":\"claude-"
            + way.name().toLowerCase(Locale.ROOT)
            + "\",\"max_tokens\":256,\"stream\":"
            + stream
            + ",\"messages\":[{\"role\":\"user\",\"content\":\""
            + shape
            + calls++
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
        "%-9s %12s %12s %12s %13s %13s %13s %8s%n",
        "way",
        "call p50 ms",
        "call p99 ms",
        TimedProvider.THOUGHT_MS + " ms p50",
        "chunk p50 ms",
        "chunk p99 ms",
        "chunk max ms",
        "MB/s");
    for (Way way : Way.values()) {
      Figures f = figures(way);
      System.out.printf(
          "%-9s %12.3f %12.3f %12.3f %13.3f %13.3f %13.3f %8.0f%n",
          way.name().toLowerCase(Locale.ROOT),
          ms(f.callNanos, 50),
          ms(f.callNanos, 99),
          ms(f.thoughtNanos, 50),
          ms(f.chunkNanos, 50),
          ms(f.chunkNanos, 99),
          f.chunkNanos.getMaxValue() / 1e6,
          f.megabytesPerS.stream()
              .sorted()
              .skip(f.megabytesPerS.size() / 2)
              .findFirst()
              .orElse(0.0));
    }
    System.out.printf(
        "%nKafka alone: p50 %.3f ms, p99 %.3f ms%n", ms(kafkaNanos, 50), ms(kafkaNanos, 99));
    kafka
        .stages()
        .forEach(
            (stage, nanos) ->
                System.out.printf("  %-24s p50 %.3f ms%n", stage.words, ms(nanos, 50)));
    System.out.printf(
        "rounds %d; in each, for each way, %d calls at once, %d of %d ms, %d chunks%n",
        ROUNDS,
        CALLS_A_ROUND,
        THOUGHTS_A_ROUND,
        TimedProvider.THOUGHT_MS,
        TimedProvider.PACED_EVENTS);
  }

  private static double ms(Histogram nanos, double percentile) {
    return nanos.getValueAtPercentile(percentile) / 1e6;
  }
}
