package dev.fairway.cli.demo;

import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionClientConfig;
import dev.fairway.cli.CliException;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.demo.emulator.ProviderLimits;
import dev.fairway.cli.demo.fleet.Admission;
import dev.fairway.cli.demo.fleet.AgentPlan;
import dev.fairway.cli.demo.fleet.FleetPlan;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.QuotaStore;
import dev.fairway.cli.ops.StatusClient;
import dev.fairway.cli.up.Addresses;
import dev.fairway.cli.up.UpProcess;
import dev.fairway.cli.up.UpSettings;
import dev.fairway.schemas.Topics;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The real pipeline in this process: Kafka, registry, coordinator and dispatcher as {@code fairway
 * up} starts them, in a folder that is deleted afterwards, and a client of its own for every agent.
 */
final class EmbeddedPipeline implements AdmissionSide {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedPipeline.class);

  private static final String QUOTA = "fleet";
  private static final int STARTERS = 8;
  private static final long SETTLE_MS_MAX = 15_000;
  private static final long QUOTA_MS_MAX = 15_000;
  private static final long POLL_MS = 50;

  private final FleetLimits limits;
  private final Path data;
  private final UpProcess process;
  private final Map<String, Admission> admissions = new ConcurrentHashMap<>();
  private final Thread stopHook = new Thread(this::stop, "demo-stop");
  private Pipeline pipeline;
  private boolean stopped;

  private EmbeddedPipeline(FleetLimits limits, Path data, UpProcess process) {
    this.limits = limits;
    this.data = data;
    this.process = process;
  }

  /** Starts all of it; returns when every agent is ready to ask. */
  static EmbeddedPipeline start(FleetPlan plan, FleetLimits limits, Consumer<String> progress)
      throws IOException, InterruptedException {
    Path data = Files.createTempDirectory("fairway-demo-");
    UpProcess process =
        new UpProcess(
            new UpSettings(data, null, false, null, null, new Topics(), 0, 0, 0), progress);
    EmbeddedPipeline side = new EmbeddedPipeline(limits, data, process);
    // Ctrl-C must not leave a broker's folder behind.
    Runtime.getRuntime().addShutdownHook(side.stopHook);
    try {
      process.start();
      Addresses addresses = process.addresses();
      side.pipeline =
          new Pipeline(addresses.bootstrap(), addresses.registry(), new Topics(), Map.of());
      side.startClients(plan);
      return side;
    } catch (RuntimeException | InterruptedException e) {
      side.close();
      throw e;
    }
  }

  private void startClients(FleetPlan plan) throws InterruptedException {
    ExecutorService starters = Executors.newFixedThreadPool(STARTERS);
    try {
      List<Future<?>> started = new ArrayList<>();
      for (AgentPlan agent : plan.agents()) {
        started.add(starters.submit(() -> startClient(agent.agent())));
      }
      for (Future<?> one : started) {
        one.get();
      }
    } catch (ExecutionException e) {
      throw new CliException(
          "Expected every agent's client to start, but: " + e.getCause().getMessage(), e);
    } finally {
      starters.shutdownNow();
    }
  }

  private void startClient(String agent) {
    AdmissionClient client =
        AdmissionClient.start(
            AdmissionClientConfig.of(
                    process.addresses().bootstrap(), process.addresses().registry(), agent)
                .build());
    admissions.put(agent, new LeasedAdmission(client, QUOTA));
  }

  @Override
  public void open() {
    new QuotaStore(pipeline).put(QuotaYaml.parse(quota(), "demo").quotas().get(0));
    StatusClient status = new StatusClient(List.of(URI.create(process.addresses().coordinator())));
    poll(
        QUOTA_MS_MAX,
        () -> status.quotasById().containsKey(QUOTA),
        "Expected the coordinator to know quota " + QUOTA);
  }

  /** As an operator would write it: the provider's limits, and what its headers said last. */
  private String quota() {
    ProviderLimits allowed = limits.limits();
    return String.format(
        Locale.ROOT,
        """
        quotas:
          - id: %s
            provider: anthropic
            limits:
              requests_per_minute: %d
              input_tokens_per_minute: %d
              output_tokens_per_minute: %d
            level: {input_tokens: %d}
            margin: {start: %.2f}
        """,
        QUOTA,
        allowed.requests().perMinute(),
        allowed.inputTokens().perMinute(),
        allowed.outputTokens().perMinute(),
        limits.knownOpeningTokens(),
        FleetLimits.MARGIN);
  }

  @Override
  public Admission admissionOf(AgentPlan agent) {
    return admissions.get(agent.agent());
  }

  @Override
  public LeaseTally finish() {
    admissions.values().forEach(Admission::close);
    LeaseTally[] tally = new LeaseTally[1];
    poll(
        SETTLE_MS_MAX,
        () -> {
          tally[0] = JournalTally.count(pipeline, QUOTA);
          return tally[0].unsettled() == 0;
        },
        null);
    return tally[0];
  }

  private interface Condition {
    boolean holds();
  }

  /** Asks until it holds; at the end of the time it fails with the complaint, if there is one. */
  private static void poll(long msMax, Condition condition, String complaint) {
    long untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(msMax);
    try {
      while (!condition.holds()) {
        if (System.nanoTime() > untilNanos) {
          if (complaint != null) {
            throw new CliException(complaint + " within " + msMax + " ms, but it does not.");
          }
          return;
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliException("Interrupted.", e);
    }
  }

  @Override
  public void close() {
    stop();
    try {
      Runtime.getRuntime().removeShutdownHook(stopHook);
    } catch (IllegalStateException e) {
      LOG.debug("The process ends; its hook stops the pipeline", e);
    }
  }

  private synchronized void stop() {
    if (stopped) {
      return;
    }
    stopped = true;
    admissions.values().forEach(Admission::close);
    if (pipeline != null) {
      pipeline.close();
    }
    process.close();
    delete(data);
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      LOG.warn("Expected to delete {}, but: {}. Delete it by hand.", folder, e.toString());
    }
  }
}
