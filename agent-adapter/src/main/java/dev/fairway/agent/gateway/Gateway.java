package dev.fairway.agent.gateway;

import dev.fairway.agent.AdmissionClient;
import dev.fairway.agent.AdmissionException;
import dev.fairway.agent.estimate.EstimateErrors;
import dev.fairway.agent.estimate.EstimateQuality;
import dev.fairway.agent.estimate.InputEstimator;
import dev.fairway.agent.estimate.PrefixBook;
import dev.fairway.agent.estimate.TokenCounter;
import dev.fairway.agent.estimate.TokenCounter.Vocabulary;
import dev.fairway.agent.estimate.TokenizerEstimator;
import dev.fairway.agent.gateway.GatewayConfig.Bounds;
import dev.fairway.agent.gateway.GatewayConfig.Upstream;
import dev.fairway.agent.provider.ProviderProfiles;
import java.net.BindException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.http.HttpCookieStore;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;

/**
 * Speaks the providers' own APIs: a harness points its base URL here and changes nothing else. Each
 * call waits for a lease, goes to its provider, and is settled by what its answer says.
 *
 * <p>It holds no state that another gateway needs: any number of them may run beside each other.
 */
public final class Gateway implements AutoCloseable {
  private static final int THREADS_MAX = 64;
  private static final int HEADER_BYTES_MAX = 64 * 1024;
  private static final long CONNECT_TIMEOUT_MS = 10_000;
  private static final long DRAIN_POLL_MS = 20;

  private final GatewayConfig config;
  private final GatewayCounters counters;
  private final EstimateErrors errors;
  private final LeaseDesk leases;
  private final GatewayHandler handler;
  private final HttpClient client;
  private final Server server;
  private final ServerConnector connector;

  private Gateway(
      GatewayConfig config, Admission admission, ModeStore modes, Map<String, String> environment) {
    this.config = config;
    this.counters = new GatewayCounters();
    QueuedThreadPool threads = new QueuedThreadPool(THREADS_MAX);
    threads.setName("fairway-gateway");
    threads.setDaemon(true);
    ScheduledExecutorScheduler scheduler =
        new ScheduledExecutorScheduler("fairway-gateway-timers", true);
    this.server = new Server(threads, scheduler, null);
    UsedConnections usedConnections = new UsedConnections();
    this.client = upstreamClient(config.bounds(), threads, scheduler, usedConnections);
    client.setIdleTimeout(config.waits().upstreamIdle().toMillis());
    server.addBean(client);
    ByteBudget bodies = new ByteBudget(config.bounds().bodiesBytes());
    this.connector = connector(server, config, bodies);
    this.errors = new EstimateErrors();
    InputEstimator estimator = new TokenizerEstimator(errors);
    Map<String, String> keys = keys(config, environment);
    PrefixBook prefixes = new PrefixBook();
    RetryBook retries = new RetryBook(config.bounds().retries());
    GatewayContext context =
        new GatewayContext(
            config,
            admission,
            estimator,
            errors,
            new CountCalls(
                config.estimates(), client, keys, errors, () -> System.nanoTime() / 1_000_000),
            prefixes,
            new Modes(config, modes),
            new Observations(),
            new PlaceBook(),
            bodies,
            counters,
            client,
            usedConnections,
            scheduler,
            keys);
    this.leases = new LeaseDesk(admission, scheduler, context::nowMs);
    this.handler =
        new GatewayHandler(
            context,
            new Callers(config.callers(), environment),
            new CallPlanner(
                new Router(config), config.waits(), estimator, prefixes, retries, context::epochMs),
            new LeaseApi(
                new TaskApi(admission),
                leases,
                new ModesApi(context.modes(), context.observations()),
                config.waits().holdMax()));
    server.setHandler(handler);
    server.setErrorHandler(new ServerErrors());
  }

  /**
   * Starts a gateway.
   *
   * @param admission stays its owner's; its agent id must be registered with members, else the
   *     decisions for the gateway's agents do not come
   * @param modes where modes are kept that are switched at run time; stays its owner's
   * @throws IllegalArgumentException if a secret is absent or a provider unknown
   * @throws AdmissionException if the address cannot be listened on
   */
  public static Gateway start(GatewayConfig config, AdmissionClient admission, ModeStore modes) {
    return start(config, new KafkaAdmission(admission), modes, System.getenv());
  }

  static Gateway start(
      GatewayConfig config, Admission admission, ModeStore modes, Map<String, String> environment) {
    Gateway gateway = new Gateway(config, admission, modes, environment);
    loadVocabularies(config);
    try {
      gateway.server.start();
      // Answers go through as they are: nothing is followed or answered on the way. They are asked
      // for uncompressed, and unpacked where they come otherwise.
      gateway.client.getContentDecoderFactories().clear();
      gateway.client.getContentDecoderFactories().put(new GzipAnswers("gzip"));
      gateway.client.getContentDecoderFactories().put(new GzipAnswers("x-gzip"));
      gateway.client.getProtocolHandlers().clear();
      gateway.client.getProtocolHandlers().put(new InterimAnswers());
      return gateway;
    } catch (Exception e) {
      gateway.close();
      throw new AdmissionException(
          "Expected to listen on "
              + config.host()
              + ":"
              + config.port()
              + ", but "
              + (e.getCause() instanceof BindException
                  ? "another process does, or the address is none of this machine's"
                  : "failed: " + e.getMessage())
              + ". Stop that process, or set another gateway.port or gateway.host.",
          e);
    }
  }

  /**
   * Looks up every secret and provider that a configuration names, so that what is missing is said
   * before anything is started.
   *
   * @throws IllegalArgumentException if a secret is absent or a provider unknown
   */
  public static void check(GatewayConfig config) {
    keys(config, System.getenv());
    new Callers(config.callers(), System.getenv());
  }

  /** The base URL for clients, such as {@code http://127.0.0.1:8787}. */
  public String url() {
    String host = config.host().contains(":") ? "[" + config.host() + "]" : config.host();
    return "http://" + host + ":" + connector.getLocalPort();
  }

  /** Counters since the start. */
  public GatewayStats stats() {
    return counters.snapshot();
  }

  /** How good the estimates of input are, by model. */
  public Map<String, EstimateQuality> estimates() {
    return errors.all();
  }

  /**
   * Takes no more calls, sends those away that wait, and waits for those under way and for reports
   * on leases that agents hold, at most as long as configured. Idempotent.
   */
  @Override
  public void close() {
    handler.drain();
    long until = System.nanoTime() + config.waits().drain().toNanos();
    try {
      while ((counters.open.get() > 0 || leases.isAnyHeld()) && System.nanoTime() - until < 0) {
        TimeUnit.MILLISECONDS.sleep(DRAIN_POLL_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    leases.close();
    try {
      server.stop();
    } catch (Exception e) {
      throw new AdmissionException("Expected the gateway to stop, but: " + e + ".", e);
    }
  }

  /** In the background; a call that comes before waits for its vocabulary. */
  private static void loadVocabularies(GatewayConfig config) {
    boolean others =
        config.upstreams().values().stream().anyMatch(u -> !u.provider().equals("anthropic"));
    Thread loading =
        new Thread(
            () -> {
              TokenCounter.load(Vocabulary.CL100K);
              if (others) {
                TokenCounter.load(Vocabulary.O200K);
              }
            },
            "fairway-gateway-vocabularies");
    loading.setDaemon(true);
    loading.start();
  }

  private static ServerConnector connector(Server server, GatewayConfig config, ByteBudget bodies) {
    HttpConfiguration http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setSendDateHeader(false);
    http.setRequestHeaderSize(HEADER_BYTES_MAX);
    http.setResponseHeaderSize(HEADER_BYTES_MAX);
    // A slash too many is a base URL that ends with one. What else may be read in two ways is
    // passed
    // on as it came, or refused, by ApiPath.
    http.setUriCompliance(
        UriCompliance.DEFAULT.with(
            "FAIRWAY",
            UriCompliance.Violation.AMBIGUOUS_EMPTY_SEGMENT,
            UriCompliance.Violation.AMBIGUOUS_PATH_ENCODING,
            UriCompliance.Violation.AMBIGUOUS_PATH_PARAMETER,
            UriCompliance.Violation.AMBIGUOUS_PATH_SEGMENT,
            UriCompliance.Violation.AMBIGUOUS_PATH_SEPARATOR,
            UriCompliance.Violation.SUSPICIOUS_PATH_CHARACTERS));
    HttpConnectionFactory connections = new HttpConnectionFactory(http);
    ServerConnector connector =
        new ServerConnector(server, 1, 1, connections) {
          @Override
          protected SocketChannelEndPoint newEndPoint(
              SocketChannel channel, ManagedSelector selector, SelectionKey key) {
            SocketChannelEndPoint endPoint =
                new ReadAheadEndPoint(
                    channel, selector, key, getScheduler(), getExecutor(), bodies);
            endPoint.setIdleTimeout(getIdleTimeout());
            return endPoint;
          }
        };
    connector.setHost(config.host());
    connector.setPort(config.port());
    connector.setIdleTimeout(config.bounds().clientIdle().toMillis());
    server.addConnector(connector);
    server.addBean(new NetworkConnectionLimit(config.bounds().connections(), connector));
    return connector;
  }

  private static HttpClient upstreamClient(
      Bounds bounds,
      QueuedThreadPool threads,
      ScheduledExecutorScheduler scheduler,
      UsedConnections usedConnections) {
    ClientConnector connector = new ClientConnector();
    connector.setSelectors(1);
    HttpClient client = new HttpClient(usedConnections.transport(connector));
    client.setExecutor(threads);
    client.setScheduler(scheduler);
    client.setConnectTimeout(CONNECT_TIMEOUT_MS);
    client.setMaxConnectionsPerDestination(bounds.openCalls());
    client.setMaxRequestsQueuedPerDestination(bounds.openCalls());
    client.setMaxRequestHeadersSize(HEADER_BYTES_MAX);
    client.setMaxResponseHeadersSize(HEADER_BYTES_MAX);
    client.setFollowRedirects(false);
    client.setUserAgentField(null);
    client.setHttpCookieStore(new HttpCookieStore.Empty());
    return client;
  }

  private static Map<String, String> keys(GatewayConfig config, Map<String, String> environment) {
    Map<String, String> keys = new HashMap<>();
    for (Upstream upstream : config.upstreams().values()) {
      if (!ProviderProfiles.names().contains(upstream.provider())) {
        throw new InvalidSettingException(
            "upstreams." + upstream.name() + ".provider",
            "Expected one of the providers "
                + ProviderProfiles.names()
                + " for upstream "
                + upstream.name()
                + ", but found "
                + upstream.provider()
                + ".");
      }
      if (upstream.key() != null) {
        keys.put(upstream.name(), upstream.key().resolve(environment));
      }
    }
    return keys;
  }
}
