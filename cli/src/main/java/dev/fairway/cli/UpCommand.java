package dev.fairway.cli;

import dev.fairway.cli.config.FairwayConfig;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.up.Addresses;
import dev.fairway.cli.up.UpProcess;
import dev.fairway.cli.up.UpSettings;
import dev.fairway.schemas.Topics;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code fairway up}: all of it in one process. */
@Command(
    name = "up",
    description = {
      "Run everything in one process: Kafka and schema registry (unless given), coordinator, dispatcher,"
          + " and the gateway, if the configuration has one.",
      "Prints 'ready' and the addresses when requests are decided. Ctrl-C stops it cleanly; what it knows"
          + " survives in the data folder."
    },
    footer = {"", "Example:", "  fairway up --config fairway.yaml --data /var/lib/fairway"})
final class UpCommand extends BaseCommand {

  private static final int STOP_S_MAX = 60;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "A fairway.yaml (default: none; one quota 'demo' is defined if there is none).")
  private Path config;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      defaultValue = "${FAIRWAY_DATA:-fairway-data}",
      description =
          "Folder of everything that survives a restart (default: $FAIRWAY_DATA, or fairway-data).")
  private Path data;

  @Option(
      names = "--bootstrap",
      paramLabel = "HOST:PORT",
      description = "Kafka to use instead of the embedded one.")
  private String bootstrap;

  @Option(
      names = "--registry",
      converter = RegistryUrlConverter.class,
      paramLabel = "URL",
      description = "Schema registry to use instead of the one in this process.")
  private String registry;

  @Option(
      names = "--prefix",
      paramLabel = "TEXT",
      defaultValue = Topics.DEFAULT_PREFIX,
      description = "Prefix of the topics (default: ${DEFAULT-VALUE}).")
  private String prefix;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      converter = PortConverter.class,
      defaultValue = "0",
      description = "Port of the embedded Kafka (default: that of last time, or a free one).")
  private int port;

  @Option(
      names = "--registry-port",
      paramLabel = "PORT",
      converter = PortConverter.class,
      defaultValue = "0",
      description = "Port of the schema registry (default: likewise).")
  private int registryPort;

  @Option(
      names = "--status-port",
      paramLabel = "PORT",
      converter = PortConverter.class,
      defaultValue = "0",
      description = "Port of the coordinator's status (default: likewise).")
  private int statusPort;

  @Override
  public Integer call() throws InterruptedException {
    UpProcess process = new UpProcess(settings(), line -> note("fairway: " + line));
    Thread stop = new Thread(() -> stop(process), "fairway-stop");
    Runtime.getRuntime().addShutdownHook(stop);
    try {
      process.start();
      sayReady(process);
      process.awaitStopped();
      throw new CliException(
          "The coordinator gave up after too many failures; the log above says why.");
    } catch (RuntimeException | Error e) {
      if (!isStopping(stop)) {
        process.close();
        throw e;
      }
      // A signal came: whatever failed did so because its parts are being stopped, and the hook
      // ends the process.
      stop.join();
      return 0;
    }
  }

  /** Whether a signal has begun to stop the process; if not, none will from now on. */
  private static boolean isStopping(Thread stop) {
    try {
      Runtime.getRuntime().removeShutdownHook(stop);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  /** On a signal the process ends with the code of success, once everything has stopped. */
  private void stop(UpProcess process) {
    note("fairway: stopping");
    Thread closing = new Thread(process::close, "fairway-closing");
    closing.setDaemon(true);
    closing.start();
    boolean isClosed = false;
    try {
      closing.join(TimeUnit.SECONDS.toMillis(STOP_S_MAX));
      isClosed = !closing.isAlive();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    note(
        isClosed
            ? "fairway: stopped"
            : "fairway: not stopped after " + STOP_S_MAX + " s; giving up");
    Runtime.getRuntime().halt(isClosed ? 0 : 1);
  }

  private UpSettings settings() {
    FairwayConfig read = config == null ? null : QuotaYaml.read(config);
    try {
      return new UpSettings(
          data, read, bootstrap, registry, new Topics(prefix), port, registryPort, statusPort);
    } catch (IllegalArgumentException e) {
      throw new CliException(e.getMessage(), e);
    }
  }

  private void sayReady(UpProcess process) {
    Addresses at = process.addresses();
    say(
        "ready  kafka "
            + at.bootstrap()
            + "  registry "
            + at.registry()
            + "  status "
            + at.coordinator()
            + (at.gateway() == null ? "" : "  gateway " + at.gateway()));
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("ready", true);
    result.put("bootstrap", at.bootstrap());
    result.put("registry", at.registry());
    result.put("coordinator", at.coordinator());
    result.put("gateway", at.gateway());
    result.put("prefix", at.prefix());
    result.put("data", data.toAbsolutePath().toString());
    result.put("quotas", process.quotaIds());
    result.put("pid", at.pid());
    writeJson(result);
  }
}
