package dev.fairway.cli.up;

import dev.fairway.admission.AdmissionConfig;
import dev.fairway.admission.AdmissionService;
import dev.fairway.agent.gateway.GatewayConfig;
import dev.fairway.cli.CliException;
import dev.fairway.cli.config.GatewaySection;
import dev.fairway.cli.config.StarterConfig;
import dev.fairway.cli.embedded.BrokerCheck;
import dev.fairway.cli.embedded.EmbeddedKafka;
import dev.fairway.cli.embedded.RememberedPorts;
import dev.fairway.cli.embedded.TopicLayout;
import dev.fairway.cli.embedded.TopicSetup;
import dev.fairway.cli.ops.InForce;
import dev.fairway.cli.ops.Pipeline;
import dev.fairway.cli.ops.StatusClient;
import dev.fairway.cli.registry.InProcessSchemaRegistry;
import dev.fairway.dispatcher.DispatcherConfig;
import dev.fairway.dispatcher.DispatcherService;
import dev.fairway.schemas.Quota;
import dev.fairway.schemas.serde.HttpSchemaRegistry;
import dev.fairway.schemas.serde.RegistrySettings;
import dev.fairway.schemas.serde.SchemaRegistryException;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;

/**
 * All of Fairway in this process: Kafka and schema registry unless they are given, topics, quotas,
 * coordinator, dispatcher, and the gateway if there is to be one. {@link #close()} stops it
 * cleanly, from any thread, also while it is still starting.
 */
public final class UpProcess implements AutoCloseable {

  private static final Duration START_TIMEOUT = Duration.ofSeconds(90);
  private static final int REPLICAS_MAX = 3;
  private static final int ANSWER_S = 10;
  private static final String LOOPBACK = "127.0.0.1";

  private final UpSettings settings;
  private final Consumer<String> progress;
  private final Parts parts = new Parts();
  private GatewaySection gateway;
  private Addresses addresses;
  private List<String> quotaIds = List.of();
  private AdmissionService coordinator;
  private DispatcherService dispatcher;

  /**
   * Creates it without starting anything.
   *
   * @param progress gets lines for people while it starts
   */
  public UpProcess(UpSettings settings, Consumer<String> progress) {
    this.settings = settings;
    this.gateway = settings.config() == null ? null : settings.config().gateway();
    this.progress = progress;
  }

  /**
   * Starts everything and waits until requests are decided.
   *
   * @throws RuntimeException if a part does not start, with a message for people; close it then
   */
  public void start() {
    if (gateway != null) {
      GatewayProcess.check(gateway);
      if (gateway.config().upstreams().isEmpty()) {
        progress.accept(
            "gateway.upstreams names none: the gateway serves /v1/leases and /v1/tasks alone, and"
                + " refuses calls of models");
      }
    }
    if (settings.bootstrap() != null) {
      BrokerCheck.require(settings.bootstrap(), clientSettings());
    }
    if (settings.registry() != null) {
      requireRegistry(settings.registry());
    }
    DataFolder data = parts.add("data folder", DataFolder.open(settings.data()));
    requirePorts();
    RememberedPorts ports = RememberedPorts.read(data.path().resolve("ports.properties"));
    String bootstrap = settings.bootstrap() == null ? startKafka(data) : settings.bootstrap();
    String registry =
        settings.registry() == null ? startRegistry(data, ports) : settings.registry();
    int httpPort = ports.choose("coordinator", settings.httpPort(), "--status-port");
    ports.save();
    setUpTopics(bootstrap);
    List<Quota> defined;
    try (Pipeline pipeline =
        new Pipeline(bootstrap, registry, settings.topics(), clientSettings())) {
      QuotaSetup setup = new QuotaSetup(pipeline, progress);
      defined = setup.apply(settings.config());
      quotaIds = setup.ids();
      if (isEmulated()) {
        String provider = parts.add("emulated provider", EmulatedProvider.start()).uri().toString();
        progress.accept("emulated provider at " + provider + ": no call leaves this machine");
        gateway = StarterConfig.emulated(QuotaSetup.DEMO.getId(), provider);
      } else if (settings.emulated() && settings.config() == null) {
        progress.accept("no gateway: nothing says where calls of " + quotaIds + " go");
      }
      if (gateway != null) {
        // Before the dispatcher reads who is registered: no decision for it may go elsewhere.
        GatewayProcess.register(gateway.id(), pipeline);
      }
    }
    AdmissionConfig deciding = coordinatorConfig(data, bootstrap, registry, httpPort);
    DispatcherConfig delivering = dispatcherConfig(bootstrap, registry);
    if (settings.bootstrap() == null) {
      clearLeftovers(bootstrap, deciding.applicationId(), delivering.groupId());
    }
    coordinator = parts.add("coordinator", AdmissionService.start(deciding));
    dispatcher = parts.add("dispatcher", DispatcherService.start(delivering, coordinator.meters()));
    awaitHealthy();
    if (settings.bootstrap() == null) {
      // On a cluster another coordinator may decide by them.
      awaitInForce(httpPort, defined);
    }
    String url = gateway == null ? null : startGateway(data, bootstrap, registry, ports);
    addresses =
        new Addresses(
            bootstrap,
            registry,
            statusUrl(httpPort),
            url,
            settings.topics().prefix(),
            ProcessHandle.current().pid());
    data.publish(addresses);
  }

  /** Waits until it no longer decides: it was closed, or the coordinator gave up after failures. */
  public void awaitStopped() throws InterruptedException {
    coordinator.awaitStopped();
  }

  /** Where it is reached; null before it has started. */
  public Addresses addresses() {
    return addresses;
  }

  /**
   * What an agent is to have in its environment, by name; empty without a gateway to a provider.
   */
  public Map<String, String> agentExports() {
    return gateway == null ? Map.of() : AgentExports.of(gateway.config(), addresses.gateway());
  }

  /** Ids of the quotas that were defined when it started. */
  public List<String> quotaIds() {
    return quotaIds;
  }

  @Override
  public void close() {
    parts.close();
  }

  /** Asks a question of it; any answer will do, also that it knows nothing yet. */
  private static void requireRegistry(String registry) {
    Duration time = Duration.ofSeconds(ANSWER_S);
    RegistrySettings patient = RegistrySettings.of(registry).withTimeouts(time, time, time);
    try {
      new HttpSchemaRegistry(patient)
          .idOf(Quota.getClassSchema().getFullName(), Quota.getClassSchema());
    } catch (SchemaRegistryException e) {
      if (e.kind() == SchemaRegistryException.Kind.UNAVAILABLE) {
        throw e;
      }
    }
  }

  /** Ports that were asked for, before anything runs: the first part alone takes seconds. */
  private void requirePorts() {
    Map<Integer, String> asked = new HashMap<>();
    if (settings.bootstrap() == null) {
      requirePort(asked, LOOPBACK, settings.kafkaPort(), "--port");
    }
    if (settings.registry() == null) {
      requirePort(asked, LOOPBACK, settings.registryPort(), "--registry-port");
    }
    requirePort(asked, LOOPBACK, settings.httpPort(), "--status-port");
    if (gateway != null) {
      GatewayConfig config = gateway.config();
      requirePort(asked, config.host(), config.port(), "gateway.port in --config");
    }
  }

  private static void requirePort(
      Map<Integer, String> asked, String host, int port, String option) {
    if (port == 0) {
      return;
    }
    String other = asked.putIfAbsent(port, option);
    if (other != null) {
      throw new CliException(
          "Expected a port of its own for each part, but "
              + other
              + " and "
              + option
              + " are both "
              + port
              + ".");
    }
    RememberedPorts.requireFree(host, port, option);
  }

  private String startKafka(DataFolder data) {
    progress.accept("starting Kafka in " + data.kafka());
    return parts
        .add("Kafka", EmbeddedKafka.start(data.kafka(), settings.kafkaPort(), Map.of()))
        .bootstrapServers();
  }

  private String startRegistry(DataFolder data, RememberedPorts ports) {
    int port = ports.choose("registry", settings.registryPort(), "--registry-port");
    try {
      return parts
          .add("schema registry", InProcessSchemaRegistry.start(port, data.registry()))
          .url();
    } catch (IOException e) {
      throw new CliException(e.getMessage(), e);
    }
  }

  /** The lock of the data folder says that nobody of last time lives. */
  private void clearLeftovers(String bootstrap, String applicationId, String dispatcherGroupId) {
    try (Admin admin = admin(bootstrap)) {
      Leftovers leftovers = new Leftovers(admin);
      leftovers.abortTransactions(applicationId + "-");
      leftovers.removeMembers(applicationId);
      leftovers.removeMembers(dispatcherGroupId);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliException("Interrupted while starting.", e);
    }
  }

  private Admin admin(String bootstrap) {
    Map<String, Object> client = new HashMap<>(clientSettings());
    client.put("bootstrap.servers", bootstrap);
    return Admin.create(client);
  }

  private void setUpTopics(String bootstrap) {
    try (Admin admin = admin(bootstrap)) {
      TopicSetup setup = new TopicSetup(admin);
      TopicLayout layout = layout(admin, bootstrap);
      List<String> created = setup.ensure(settings.topics(), layout);
      if (!created.isEmpty()) {
        progress.accept("created topics " + created);
      }
      if (!created.isEmpty() && settings.bootstrap() != null && layout != TopicLayout.CLUSTER) {
        progress.accept(
            "Expected "
                + REPLICAS_MAX
                + " brokers or more at "
                + bootstrap
                + ", but found "
                + layout.replicationFactor()
                + ": these topics have fewer copies.");
      }
      setup.warnings().forEach(progress);
    }
  }

  private TopicLayout layout(Admin admin, String bootstrap) {
    if (settings.bootstrap() == null) {
      return TopicLayout.EMBEDDED;
    }
    try {
      int brokers = admin.describeCluster().nodes().get(ANSWER_S, TimeUnit.SECONDS).size();
      return brokers >= REPLICAS_MAX
          ? TopicLayout.CLUSTER
          : new TopicLayout(TopicLayout.CLUSTER.partitions(), (short) brokers, 1);
    } catch (ExecutionException | TimeoutException e) {
      throw BrokerCheck.unreachable(bootstrap, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliException("Interrupted.", e);
    }
  }

  private AdmissionConfig coordinatorConfig(
      DataFolder data, String bootstrap, String registry, int httpPort) {
    Map<String, String> values = new HashMap<>();
    values.put(AdmissionConfig.STATE_DIR, data.coordinator().toString());
    values.put(AdmissionConfig.HTTP_HOST, LOOPBACK);
    values.put(AdmissionConfig.HTTP_PORT, Integer.toString(httpPort));
    clientSettings().forEach((name, value) -> values.put("kafka." + name, value));
    if (settings.config() != null) {
      values.putAll(settings.config().admission());
    }
    values.put(AdmissionConfig.BOOTSTRAP_SERVERS, bootstrap);
    values.put(AdmissionConfig.SCHEMA_REGISTRY_URL, registry);
    values.put(AdmissionConfig.TOPIC_PREFIX, settings.topics().prefix());
    return AdmissionConfig.of(values);
  }

  private DispatcherConfig dispatcherConfig(String bootstrap, String registry) {
    Map<String, String> values = new HashMap<>();
    clientSettings().forEach((name, value) -> values.put("kafka." + name, value));
    values.put(DispatcherConfig.BOOTSTRAP_SERVERS, bootstrap);
    values.put(DispatcherConfig.SCHEMA_REGISTRY_URL, registry);
    values.put(DispatcherConfig.TOPIC_PREFIX, settings.topics().prefix());
    return DispatcherConfig.of(values);
  }

  private String startGateway(
      DataFolder data, String bootstrap, String registry, RememberedPorts ports) {
    GatewaySection section = gateway;
    int port = section.config().port();
    if (port == 0) {
      port = ports.choose("gateway", 0, "gateway.port in --config");
      ports.save();
    }
    return parts
        .add(
            "gateway",
            GatewayProcess.start(
                section,
                port,
                bootstrap,
                registry,
                settings.topics(),
                data.path().resolve(section.id() + ".handover"),
                clientSettings()))
        .url();
  }

  /** Whoever has configured nothing yet has something to point an agent at. */
  private boolean isEmulated() {
    return settings.emulated()
        && settings.config() == null
        && quotaIds.equals(List.of(QuotaSetup.DEMO.getId()));
  }

  private Map<String, String> clientSettings() {
    return settings.config() == null ? Map.of() : settings.config().kafka();
  }

  /** A first request must not come before the definition of its quota. */
  private void awaitInForce(int httpPort, List<Quota> defined) {
    try {
      StatusClient status = new StatusClient(List.of(URI.create(statusUrl(httpPort))));
      if (!InForce.await(status, defined)) {
        progress.accept(
            "Expected all quotas in force within "
                + InForce.PATIENCE.toSeconds()
                + " s, but some are not. 'fairway quota list' tells why.");
      }
    } catch (CliException e) {
      progress.accept("whether all quotas are in force is not known: " + e.getMessage());
    }
  }

  private static String statusUrl(int httpPort) {
    return "http://" + LOOPBACK + ":" + httpPort;
  }

  private void awaitHealthy() {
    try {
      if (!coordinator.awaitReady(START_TIMEOUT)) {
        throw new CliException(
            "Expected the coordinator to decide within "
                + START_TIMEOUT.toSeconds()
                + " s, but it does not.");
      }
      if (!dispatcher.awaitHealthy(START_TIMEOUT)) {
        throw new CliException(
            "Expected the dispatcher to deliver within "
                + START_TIMEOUT.toSeconds()
                + " s, but: "
                + dispatcher.trouble());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliException("Interrupted while starting.", e);
    }
  }
}
