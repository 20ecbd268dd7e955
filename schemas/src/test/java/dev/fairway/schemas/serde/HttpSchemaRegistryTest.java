package dev.fairway.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.fairway.schemas.TaskUpdate;
import dev.fairway.schemas.serde.SchemaRegistryException.Kind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.avro.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The client against a server that behaves as badly as servers do. */
class HttpSchemaRegistryTest {

  private static final Schema SCHEMA = TaskUpdate.getClassSchema();
  private static final String NOT_FOUND =
      "{\"error_code\":40403,\"message\":\"Schema 7 not found\"}";

  private interface Behaviour {
    void answer(HttpExchange exchange) throws IOException;
  }

  private final List<String> seen = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch released = new CountDownLatch(1);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private volatile Behaviour behaviour;
  private HttpServer server;
  private String url;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            String body =
                new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            seen.add(
                "%s %s %s %s"
                    .formatted(
                        exchange.getRequestMethod(),
                        exchange.getRequestURI(),
                        exchange.getRequestHeaders().getFirst("Content-Type"),
                        body));
            behaviour.answer(exchange);
          }
        });
    server.start();
    url = "http://localhost:" + server.getAddress().getPort();
  }

  @AfterEach
  void stop() {
    released.countDown();
    server.stop(0);
    threads.shutdownNow();
  }

  private static Behaviour answers(int status, String body) {
    return exchange -> {
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    };
  }

  private static RegistrySettings quick(String urls) {
    return RegistrySettings.of(urls)
        .withTimeouts(Duration.ofMillis(400), Duration.ofMillis(400), Duration.ofMillis(400));
  }

  private static SchemaRegistryException failureOf(Runnable call) {
    SchemaRegistryException failure =
        catchThrowableOfType(SchemaRegistryException.class, call::run);
    assertThat(failure).isNotNull();
    return failure;
  }

  private static String unusedUrl() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return "http://localhost:" + socket.getLocalPort();
    }
  }

  @Test
  void shouldRegisterOnceAndThenRemember() {
    // given
    behaviour = answers(200, "{\"id\":7}");
    HttpSchemaRegistry registry = new HttpSchemaRegistry(url);

    // when
    int first = registry.register("a b/c-value", SCHEMA);
    int second = registry.register("a b/c-value", SCHEMA);

    // then
    assertThat(List.of(first, second)).containsExactly(7, 7);
    assertThat(seen).hasSize(1);
    assertThat(seen.get(0))
        .startsWith(
            "POST /subjects/a%20b%2Fc-value/versions application/vnd.schemaregistry.v1+json {\"schema\":\"");
  }

  @Test
  void shouldKnowWhatItRegisteredWithoutLookUp() {
    behaviour = answers(200, "{\"id\":7}");
    HttpSchemaRegistry registry = new HttpSchemaRegistry(url);
    registry.register("s", SCHEMA);
    assertThat(registry.byId(7)).isEqualTo(SCHEMA);
    assertThat(seen).hasSize(1);
  }

  @Test
  void shouldLookUpAnIdOnce() {
    behaviour = answers(200, "{\"schema\":\"\\\"string\\\"\",\"schemaType\":\"AVRO\"}");
    HttpSchemaRegistry registry = new HttpSchemaRegistry(url + "/");
    assertThat(registry.byId(3)).isEqualTo(Schema.create(Schema.Type.STRING));
    assertThat(registry.byId(3)).isEqualTo(Schema.create(Schema.Type.STRING));
    assertThat(seen).singleElement().asString().startsWith("GET /schemas/ids/3 ");
  }

  @Test
  void shouldNotAskAgainForAnUnknownIdUntilItsTimeIsOver() {
    // given
    behaviour = answers(404, NOT_FOUND);
    HttpSchemaRegistry patient = new HttpSchemaRegistry(url);
    HttpSchemaRegistry forgetful =
        new HttpSchemaRegistry(RegistrySettings.of(url).withCaches(10, 10, Duration.ZERO));

    // when / then
    for (int i = 0; i < 3; i++) {
      assertThat(failureOf(() -> patient.byId(7)))
          .hasMessageContaining(url + "/schemas/ids/7")
          .hasMessageContaining("404 (40403)")
          .hasMessageContaining("Schema 7 not found")
          .extracting(SchemaRegistryException::kind)
          .isEqualTo(Kind.NOT_FOUND);
    }
    assertThat(seen).hasSize(1);
    for (int i = 0; i < 3; i++) {
      failureOf(() -> forgetful.byId(7));
    }
    assertThat(seen).hasSize(4);
  }

  @Test
  void shouldForgetTheOldestUnknownIdAtTheBound() {
    behaviour = answers(404, NOT_FOUND);
    HttpSchemaRegistry registry =
        new HttpSchemaRegistry(RegistrySettings.of(url).withCaches(10, 2, Duration.ofMinutes(1)));
    for (int id = 1; id <= 3; id++) {
      int asked = id;
      failureOf(() -> registry.byId(asked));
    }
    failureOf(() -> registry.byId(3));
    assertThat(seen).hasSize(3);
    failureOf(() -> registry.byId(1));
    assertThat(seen).hasSize(4);
  }

  @Test
  void shouldGiveUpOnASilentServerInTimeAndPause() {
    // given
    behaviour = exchange -> awaitQuietly(released);
    HttpSchemaRegistry registry = new HttpSchemaRegistry(quick(url));

    // when
    long start = System.nanoTime();
    SchemaRegistryException failure = failureOf(() -> registry.byId(1));
    long firstMs = (System.nanoTime() - start) / 1_000_000;
    start = System.nanoTime();
    failureOf(() -> registry.byId(2));
    long secondMs = (System.nanoTime() - start) / 1_000_000;

    // then
    assertThat(failure)
        .hasMessageContaining("within 400 ms")
        .hasMessageContaining(url)
        .extracting(SchemaRegistryException::kind)
        .isEqualTo(Kind.UNAVAILABLE);
    assertThat(firstMs).isBetween(350L, 2_000L);
    assertThat(secondMs).isLessThan(300L);
    assertThat(seen).hasSize(1);
  }

  @Test
  void shouldGiveUpOnABodyThatNeverEnds() {
    behaviour =
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          exchange.getResponseBody().write('{');
          exchange.getResponseBody().flush();
          awaitQuietly(released);
        };
    HttpSchemaRegistry registry = new HttpSchemaRegistry(quick(url));
    assertThat(failureOf(() -> registry.byId(1)).kind()).isEqualTo(Kind.UNAVAILABLE);
  }

  @Test
  void shouldRefuseABodyTooLargeForARegistry() {
    behaviour = answers(200, " ".repeat(5 * 1024 * 1024));
    HttpSchemaRegistry registry = new HttpSchemaRegistry(url);
    assertThat(failureOf(() -> registry.byId(1))).hasMessageContaining("more than 4194304 bytes");
  }

  @Test
  void shouldUseTheNextAddressWhenOneIsDown() throws IOException {
    behaviour = answers(200, "{\"id\":7}");
    HttpSchemaRegistry registry = new HttpSchemaRegistry(quick(unusedUrl() + "," + url));
    assertThat(registry.register("s", SCHEMA)).isEqualTo(7);
  }

  @Test
  void shouldUseTheNextAddressWhenOneIsSilent() throws IOException {
    behaviour = answers(200, "{\"id\":7}");
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      HttpSchemaRegistry registry =
          new HttpSchemaRegistry(
              RegistrySettings.of("http://localhost:" + silent.getLocalPort() + "," + url));
      assertThat(registry.register("s", SCHEMA)).isEqualTo(7);
    }
  }

  @Test
  void shouldNameEveryAddressThatFailed() throws IOException {
    behaviour = answers(503, "<html>down</html>");
    String dead = unusedUrl();
    HttpSchemaRegistry registry = new HttpSchemaRegistry(quick(dead + "," + url));
    assertThat(failureOf(() -> registry.register("s", SCHEMA)))
        .hasMessageContaining(dead)
        .hasMessageContaining(url + "/subjects/s/versions answered status 503")
        .hasMessageContaining("schema.registry.url")
        .extracting(SchemaRegistryException::kind)
        .isEqualTo(Kind.UNAVAILABLE);
  }

  @Test
  void shouldSayWhatToDoAboutARefusal() {
    HttpSchemaRegistry registry = new HttpSchemaRegistry(url);
    behaviour = answers(409, "{\"error_code\":409,\"message\":\"incompatible\"}");
    assertThat(failureOf(() -> registry.register("s", SCHEMA)))
        .hasMessageContaining("status 409 'incompatible'")
        .hasMessageContaining("new fields need a default")
        .extracting(SchemaRegistryException::kind)
        .isEqualTo(Kind.REFUSED);
    behaviour = answers(401, "");
    assertThat(failureOf(() -> registry.register("s", SCHEMA)))
        .hasMessageContaining("basic.auth.user.info");
    behaviour = answers(200, "<html>a web page</html>");
    assertThat(failureOf(() -> registry.register("s", SCHEMA)))
        .hasMessageContaining("base address of a schema registry");
  }

  @Test
  void shouldRefuseSchemasItCannotRead() {
    HttpSchemaRegistry registry = new HttpSchemaRegistry(url);
    behaviour =
        answers(200, "{\"schema\":\"syntax = \\\"proto3\\\"\",\"schemaType\":\"PROTOBUF\"}");
    assertThat(failureOf(() -> registry.byId(1))).hasMessageContaining("PROTOBUF");
    behaviour = answers(200, "{\"schema\":\"{\"}");
    assertThat(failureOf(() -> registry.byId(2))).hasMessageContaining("does not parse");
    int asked = seen.size();
    failureOf(() -> registry.byId(2));
    assertThat(seen).hasSize(asked);
  }

  @Test
  void shouldSendCredentials() {
    List<String> headers = Collections.synchronizedList(new ArrayList<>());
    behaviour =
        exchange -> {
          headers.add(exchange.getRequestHeaders().getFirst("Authorization"));
          answers(200, "{\"id\":7}").answer(exchange);
        };
    new HttpSchemaRegistry(RegistrySettings.of(url).withBasicAuth("u:p")).register("s", SCHEMA);
    assertThat(headers).containsExactly("Basic dTpw");
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
