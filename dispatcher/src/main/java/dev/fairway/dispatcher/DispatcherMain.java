package dev.fairway.dispatcher;

import dev.fairway.schemas.service.ServiceMain;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a dispatcher alone, against any cluster, until the process is told to end. Settings come
 * from a properties file, from {@code FAIRWAY_*} environment variables, or both; health and metrics
 * are on one HTTP port.
 */
public final class DispatcherMain {

  private static final Logger log = LoggerFactory.getLogger(DispatcherMain.class);

  private static final String USAGE =
      """
      Usage: DispatcherMain [--config FILE] [--help]
      Delivers the decisions of Fairway's journal to the agents' reply topics.
      Settings come from FILE (name=value lines) and from the environment, which wins, for example
        FAIRWAY_BOOTSTRAP_SERVERS=localhost:9092 FAIRWAY_SCHEMA_REGISTRY_URL=http://localhost:8081
      """;

  private DispatcherMain() {}

  /**
   * Runs until SIGTERM or SIGINT, and exits with 0 then, with 2 on wrong usage, with 1 on failure.
   */
  public static void main(String[] args) {
    int status = run(args, System.getenv(), System.out, System.err);
    if (status != ServiceMain.OK) {
      System.exit(status);
    }
  }

  static int run(String[] args, Map<String, String> environment, PrintStream out, PrintStream err) {
    return ServiceMain.run(
        args,
        out,
        err,
        USAGE,
        DispatcherConfig.documentation(),
        file -> {
          serve(DispatcherConfig.load(file, environment));
          return ServiceMain.OK;
        });
  }

  private static void serve(DispatcherConfig config) throws IOException {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    DispatcherService service = DispatcherService.start(config, registry);
    HttpEndpoint http;
    try {
      http =
          HttpEndpoint.start(
              config.httpHost(), config.httpPort(), service::trouble, registry::scrape);
    } catch (IOException e) {
      service.close();
      throw new IOException(
          "Expected to serve health and metrics on %s:%d, but: %s. Choose another with %s and %s."
              .formatted(
                  config.httpHost(),
                  config.httpPort(),
                  e.getMessage(),
                  DispatcherConfig.HTTP_HOST,
                  DispatcherConfig.HTTP_PORT),
          e);
    }
    log.info("Health and metrics on http://{}:{}", config.httpHost(), http.port());
    CountDownLatch stopped = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  service.close();
                  http.close();
                  stopped.countDown();
                },
                "fairway-dispatcher-stop"));
    try {
      stopped.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
