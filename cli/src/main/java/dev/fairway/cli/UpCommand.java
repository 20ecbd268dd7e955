package dev.fairway.cli;

import dev.fairway.agent.gateway.SecretRef;
import dev.fairway.cli.config.FairwayConfig;
import dev.fairway.cli.config.QuotaYaml;
import dev.fairway.cli.config.StarterConfig;
import dev.fairway.cli.up.Addresses;
import dev.fairway.cli.up.UpProcess;
import dev.fairway.cli.up.UpSettings;
import dev.fairway.schemas.Topics;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code fairway up}: all of it in one process. */
@Command(
    name = "up",
    description = {
      "Run everything in one process: Kafka and schema registry (unless given), coordinator, dispatcher,"
          + " and the gateway, if the configuration has one. Without a configuration: for one key of one"
          + " provider, or, without a key, for an emulated provider.",
      "Prints 'ready' and the addresses when requests are decided. Ctrl-C stops it cleanly; what it knows"
          + " survives in the data folder."
    },
    footer = {
      "",
      "Examples:",
      "  fairway up --provider anthropic --key-env ANTHROPIC_API_KEY",
      "  fairway up --config fairway.yaml --data /var/lib/fairway"
    })
final class UpCommand extends BaseCommand {

  private static final int STOP_S_MAX = 60;

  @Spec private CommandSpec spec;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "A fairway.yaml (default: none; if no quota is defined, there is one, 'demo', and a gateway to an"
              + " emulated provider).")
  private Path config;

  @Option(
      names = "--provider",
      paramLabel = "NAME",
      description =
          "Instead of --config: one quota for all models of a provider, with the limits that its answers name,"
              + " and a gateway. anthropic, cerebras, groq, mistral, openai or openrouter.")
  private String provider;

  @Option(
      names = "--key-env",
      paramLabel = "VAR",
      description = "The environment variable that holds the API key for --provider.")
  private String keyEnv;

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
    FairwayConfig read = configured();
    try {
      return new UpSettings(
          data,
          read,
          bootstrap == null,
          bootstrap,
          registry,
          new Topics(prefix),
          port,
          registryPort,
          statusPort);
    } catch (IllegalArgumentException e) {
      throw new CliException(e.getMessage(), e);
    }
  }

  /** What the file says, or the options in its place; null without either. */
  private FairwayConfig configured() {
    if (provider == null && keyEnv == null) {
      return config == null ? null : QuotaYaml.read(config);
    }
    if (config != null) {
      throw wrong(
          "Expected either --config or --provider, but found both. A gateway section of the file names"
              + " providers and their keys.");
    }
    if (provider == null || keyEnv == null) {
      throw wrong(
          "Expected --provider and --key-env together, but found "
              + (provider == null ? "--key-env" : "--provider")
              + " alone. Name both, as in --provider anthropic --key-env ANTHROPIC_API_KEY, or neither for an"
              + " emulated provider.");
    }
    if (!StarterConfig.providers().contains(provider)) {
      throw wrong(
          "Expected one of "
              + StarterConfig.providers()
              + " for --provider, but found '"
              + provider
              + "'. For another provider write a fairway.yaml with the url of its API, and name it with"
              + " --config.");
    }
    try {
      return StarterConfig.of(provider, SecretRef.ofEnv(keyEnv), null);
    } catch (IllegalArgumentException e) {
      throw wrong("--key-env: " + e.getMessage());
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
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
    process.agentExports().forEach((name, value) -> say("export " + name + "=" + value));
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("ready", true);
    result.put("bootstrap", at.bootstrap());
    result.put("registry", at.registry());
    result.put("coordinator", at.coordinator());
    result.put("gateway", at.gateway());
    result.put("export", process.agentExports());
    result.put("prefix", at.prefix());
    result.put("data", data.toAbsolutePath().toString());
    result.put("quotas", process.quotaIds());
    result.put("pid", at.pid());
    writeJson(result);
  }
}
