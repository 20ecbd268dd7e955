package dev.fairway.admission;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.admission.topology.AdmissionClients;
import dev.fairway.admission.topology.AdmissionTopology;
import dev.fairway.admission.topology.CoordinatorClock;
import dev.fairway.admission.topology.EngineTasks;
import dev.fairway.admission.topology.FailureMemory;
import dev.fairway.schemas.serde.HttpSchemaRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.kafka.KafkaStreamsMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.StreamsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running coordinator: decides for the partitions that Kafka Streams gives it, and serves health,
 * metrics and status. Several with one application id share the partitions. Thread-safe.
 */
public final class AdmissionService implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AdmissionService.class);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
  private static final int LIMIT_DEFAULT = 100;
  private static final int SALT_BYTES = 16;

  private final KafkaStreams streams;
  private final PrometheusMeterRegistry registry;
  private final KafkaStreamsMetrics streamsMetrics;
  private final Restarts restarts;
  private final EngineTasks tasks;
  private final EngineQueries queries;
  private final QuotaGauges gauges;
  private final CoordinatorClock clock;
  private final int partitions;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final AtomicBoolean closed = new AtomicBoolean();
  private HttpEndpoint http;

  private AdmissionService(AdmissionConfig config, int partitions, HttpSchemaRegistry schemas) {
    this.partitions = partitions;
    clock = new CoordinatorClock();
    registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    QuotaLabels labels = new QuotaLabels(config.metricsQuotasMax());
    gauges = new QuotaGauges(registry, labels);
    tasks = new EngineTasks();
    queries = new EngineQueries(tasks, clock);
    restarts = new Restarts(config.restartsMax(), System::nanoTime);
    SecureRandom random = new SecureRandom();
    AdmissionTopology.Parts parts =
        new AdmissionTopology.Parts(
            schemas,
            clock,
            () -> salt(random),
            new AdmissionMetrics(registry, labels),
            new FailureMemory(),
            tasks);
    streams =
        new KafkaStreams(
            AdmissionTopology.build(config.topology(partitions), parts),
            StreamsProperties.of(config),
            new AdmissionClients());
    streams.setUncaughtExceptionHandler(restarts);
    streams.setStateListener((now, before) -> stateChanged(now));
    streamsMetrics = new KafkaStreamsMetrics(streams);
    streamsMetrics.bindTo(registry);
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    registry.gauge("fairway.stream.thread.failures", restarts, Restarts::total);
  }

  /**
   * Starts a coordinator. Returns when its topics and schemas are there and its threads run, before
   * it owns its partitions; see {@link #awaitReady}.
   *
   * @throws StartException if something it needs is not there in time
   */
  public static AdmissionService start(AdmissionConfig config) {
    HttpSchemaRegistry schemas = new HttpSchemaRegistry(config.registry());
    int partitions;
    Map<String, Object> adminSettings = new HashMap<>(config.kafka());
    adminSettings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, config.bootstrapServers());
    try (Admin admin = connect(config, adminSettings)) {
      StartChecks checks =
          new StartChecks(
              admin, config.topics(), config.bootstrapServers(), config.startTimeoutMs());
      partitions = checks.awaitTopics();
      checks.registerSchemas(schemas);
      checks.warn();
    }
    AdmissionService service = new AdmissionService(config, partitions, schemas);
    try {
      service.http = HttpEndpoint.start(config.httpHost(), config.httpPort(), service.pages());
      service.streams.start();
    } catch (StreamsException e) {
      service.close();
      throw new StartException(
          "Expected Kafka Streams to start with state in %s, but: %s. Two instances on one machine need two %s."
              .formatted(config.stateDir(), e.getMessage(), AdmissionConfig.STATE_DIR),
          e);
    } catch (IOException e) {
      service.close();
      throw new StartException(
          "Expected to serve health, metrics and status on %s:%d, but: %s. Choose another with %s and %s."
              .formatted(
                  config.httpHost(),
                  config.httpPort(),
                  e.getMessage(),
                  AdmissionConfig.HTTP_HOST,
                  AdmissionConfig.HTTP_PORT),
          e);
    }
    LOG.info(
        "Coordinator {} of {} partitions; health, metrics and status on http://{}:{}",
        config.applicationId(),
        partitions,
        config.httpHost(),
        service.httpPort());
    return service;
  }

  private static Admin connect(AdmissionConfig config, Map<String, Object> settings) {
    try {
      return Admin.create(settings);
    } catch (ConfigException e) {
      throw e;
    } catch (KafkaException e) {
      throw new StartException(
          "Expected to connect to Kafka at %s, but: %s. Check %s and the kafka.* settings."
              .formatted(
                  config.bootstrapServers(),
                  e.getCause() == null ? e.getMessage() : e.getCause().getMessage(),
                  AdmissionConfig.BOOTSTRAP_SERVERS),
          e);
    }
  }

  /** Port of health, metrics and status. */
  public int httpPort() {
    return http.port();
  }

  /**
   * What {@code /metrics} tells, for other parts of one process to add theirs. It closes with this
   * service.
   */
  public MeterRegistry meters() {
    return registry;
  }

  /** Whether it decides, for those partitions that it owns. */
  public boolean isReady() {
    return streams.state() == KafkaStreams.State.RUNNING;
  }

  /** Whether it has stopped, or is about to: by {@link #close}, or after too many failures. */
  public boolean isStopped() {
    KafkaStreams.State state = streams.state();
    return state.isShuttingDown() || state.hasCompletedShutdown();
  }

  /**
   * Waits until {@link #isReady}.
   *
   * @return false if it is not by then, or has stopped
   */
  public boolean awaitReady(Duration timeout) throws InterruptedException {
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    while (!isReady()) {
      if (isStopped() || System.nanoTime() - deadlineNanos >= 0) {
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
    return true;
  }

  /** Waits until it has stopped. */
  public void awaitStopped() throws InterruptedException {
    stopped.await();
  }

  /** Commits what is decided, leaves the group, so that others take over at once, and stops. */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    streams.close(
        CloseOptions.timeout(CLOSE_TIMEOUT)
            .withGroupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
    streamsMetrics.close();
    if (http != null) {
      http.close();
    }
    registry.close();
    stopped.countDown();
  }

  private void stateChanged(KafkaStreams.State now) {
    LOG.info("Coordinator is {}", now);
    if (now == KafkaStreams.State.ERROR || now == KafkaStreams.State.NOT_RUNNING) {
      stopped.countDown();
    }
  }

  private Map<String, HttpEndpoint.Page> pages() {
    Map<String, HttpEndpoint.Page> pages = new TreeMap<>();
    pages.put("/health", query -> health());
    pages.put("/metrics", query -> metrics());
    pages.put(
        "/status",
        query ->
            answer(
                () ->
                    StatusJson.status(
                        isReady(), tasks.partitions().size(), partitions, queries.quotas())));
    pages.put(
        "/definitions",
        query ->
            answer(
                () ->
                    StatusJson.definitions(
                        queries.quotas(), query.get("quota"), clock.getAsLong())));
    pages.put(
        "/leases",
        query ->
            answer(
                () ->
                    StatusJson.leases(
                        queries.leases(query.get("quota"), limit(query)), clock.getAsLong())));
    pages.put(
        "/queue",
        query ->
            answer(
                () ->
                    StatusJson.queue(
                        queries.queue(query.get("quota"), limit(query)), clock.getAsLong())));
    return pages;
  }

  private HttpEndpoint.Answer health() {
    KafkaStreams.State state = streams.state();
    // While partitions move, those that stay are decided on.
    boolean up = state.isRunningOrRebalancing();
    ObjectNode health = JsonNodeFactory.instance.objectNode();
    health.put("status", up ? "UP" : "DOWN");
    health.put("ready", isReady());
    health.put("streams", state.name());
    tasks.partitions().forEach(health.putArray("partitions")::add);
    health.put("thread_failures", restarts.total());
    return HttpEndpoint.Answer.json(up ? 200 : 503, health);
  }

  private HttpEndpoint.Answer metrics() {
    try {
      gauges.renew(queries.quotas());
    } catch (EngineQueries.NoAnswerException e) {
      LOG.debug("Metrics tell the last known state of quotas: {}", e.getMessage());
    }
    return new HttpEndpoint.Answer(200, "text/plain; version=0.0.4", registry.scrape());
  }

  private interface Query {
    ObjectNode answer() throws EngineQueries.NoAnswerException;
  }

  private static HttpEndpoint.Answer answer(Query query) {
    try {
      return HttpEndpoint.Answer.json(200, query.answer());
    } catch (EngineQueries.NoAnswerException e) {
      return new HttpEndpoint.Answer(503, "text/plain", e.getMessage() + "\n");
    }
  }

  private static int limit(Map<String, String> query) {
    String limit = query.get("limit");
    try {
      int number = limit == null ? LIMIT_DEFAULT : Integer.parseInt(limit);
      if (number >= 1) {
        return Math.min(number, EngineQueries.ENTRIES_MAX);
      }
    } catch (NumberFormatException e) {
      // Told below, as any other number that makes no sense.
    }
    throw new IllegalArgumentException(
        "Expected limit from 1 to " + EngineQueries.ENTRIES_MAX + ", but found '" + limit + "'");
  }

  private static String salt(SecureRandom random) {
    byte[] bytes = new byte[SALT_BYTES];
    random.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
