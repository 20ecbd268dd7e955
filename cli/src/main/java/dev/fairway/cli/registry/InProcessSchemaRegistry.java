package dev.fairway.cli.registry;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A schema registry on the loopback interface, for {@code fairway up} and for tests. It serves the
 * part of Confluent's REST API that clients need to write and read Avro; nothing can be deleted.
 * Ids and versions are kept in the data folder, on disk before they are answered, so they survive a
 * crash.
 *
 * <p>Bounds: 20,000 subjects, 10,000 schemas with 64 Mi characters together, 1,000 versions a
 * subject (error 42205 beyond), bodies of 1 MiB (413), 8 requests at a time (others wait).
 * Thread-safe.
 */
public final class InProcessSchemaRegistry implements AutoCloseable {

  /** An address, not a name: some clients look localhost up as ::1 only. */
  private static final String HOST = "127.0.0.1";

  private static final int THREADS = 8;
  private static final int WAITING_MAX = 64;
  private static final int REQUESTS_MAX = THREADS + WAITING_MAX + 1;

  static {
    // Without it each answer waits for the client's delayed acknowledgement, up to 40 ms.
    if (System.getProperty("sun.net.httpserver.nodelay") == null) {
      System.setProperty("sun.net.httpserver.nodelay", "true");
    }
  }

  private final HttpServer server;
  private final SchemaStore store;
  private final ExecutorService threads;
  private final Semaphore requests;
  private final AtomicBoolean closed = new AtomicBoolean();

  private InProcessSchemaRegistry(
      HttpServer server, SchemaStore store, ExecutorService threads, Semaphore requests) {
    this.server = server;
    this.store = store;
    this.threads = threads;
    this.requests = requests;
  }

  /**
   * Starts a registry; it answers when this returns.
   *
   * @param port port to listen on; 0: any free one
   * @param dataFolder where ids are kept; made if missing; one registry at a time may use it
   * @throws IOException if the port is taken, the folder is in use or cannot be written, or what it
   *     holds cannot be read
   */
  public static InProcessSchemaRegistry start(int port, Path dataFolder) throws IOException {
    SchemaStore store = new SchemaStore(dataFolder, SchemaStore.Limits.DEFAULT);
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getByName(HOST), port), 0);
      ExecutorService threads = threads();
      server.setExecutor(threads);
      RegistryApi api = new RegistryApi(store);
      Semaphore requests = new Semaphore(REQUESTS_MAX);
      server.createContext("/", exchange -> counted(requests, api, exchange));
      server.start();
      return new InProcessSchemaRegistry(server, store, threads, requests);
    } catch (BindException e) {
      store.close();
      throw new IOException(
          "Expected port %d free for the schema registry, but it is taken. Stop what uses it, or choose another."
              .formatted(port),
          e);
    } catch (IOException | RuntimeException e) {
      store.close();
      throw e;
    }
  }

  /** Close takes all permits, and so waits for the requests under way and lets no other begin. */
  private static void counted(Semaphore requests, RegistryApi api, HttpExchange exchange)
      throws IOException {
    if (!requests.tryAcquire()) {
      exchange.close();
      return;
    }
    try {
      api.handle(exchange);
    } finally {
      requests.release();
    }
  }

  private static ExecutorService threads() {
    AtomicInteger number = new AtomicInteger();
    // When all threads are busy and the queue is full, the accepting thread serves, and accepts no
    // more.
    return new ThreadPoolExecutor(
        THREADS,
        THREADS,
        10,
        TimeUnit.SECONDS,
        new ArrayBlockingQueue<>(WAITING_MAX),
        task -> {
          Thread thread = new Thread(task, "schema-registry-" + number.incrementAndGet());
          thread.setDaemon(true);
          return thread;
        },
        new ThreadPoolExecutor.CallerRunsPolicy());
  }

  /** The base address, for {@code schema.registry.url}. */
  public String url() {
    return "http://" + HOST + ":" + server.getAddress().getPort();
  }

  /** Stops it after requests under way, at most a second, and gives the folder free. */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    try {
      // Not server.stop(1): it waits the whole second if a client keeps its connection open.
      requests.tryAcquire(REQUESTS_MAX, 1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    server.stop(0);
    threads.shutdownNow();
    try {
      store.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
