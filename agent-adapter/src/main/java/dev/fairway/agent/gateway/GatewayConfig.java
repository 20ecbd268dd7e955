package dev.fairway.agent.gateway;

import dev.fairway.schemas.DurationText;
import dev.fairway.schemas.Ids;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How a gateway is set up. Immutable; it holds references to secrets, never secrets.
 *
 * @param host address to listen on; other than loopback only with callers
 * @param port port to listen on, 0 for any free one
 * @param mode what it does with the calls of quotas that {@code modes} does not name, until it is
 *     told otherwise
 * @param modes by quota id
 * @param upstreams by name
 * @param routes in order: the first whose pattern matches a model counts
 * @param callers who may call, by token; empty: anybody who reaches the address
 * @param unknown name of the upstream to which calls go that no route is for, uncounted, or null to
 *     refuse them
 * @param waits how long calls wait
 * @param bounds how much it takes
 */
public record GatewayConfig(
    String host,
    int port,
    Mode mode,
    Map<String, Mode> modes,
    Map<String, Upstream> upstreams,
    List<Route> routes,
    List<Caller> callers,
    String unknown,
    Waits waits,
    Bounds bounds) {

  /** What a gateway does with the calls of a quota. */
  public enum Mode {
    /** A call waits for its lease. */
    ENFORCE,
    /** Every call passes at once; the journal shows what admission would have done. */
    OBSERVE
  }

  /**
   * A provider's API.
   *
   * @param name name in routes
   * @param url base URL, to which the path of a call is appended
   * @param provider profile that reads its answers, such as {@code anthropic}
   * @param key its API key; null, without callers: what the client sends is passed on
   */
  public record Upstream(String name, String url, String provider, SecretRef key) {
    /** Checks that everything but the key is there. */
    public Upstream {
      notBlank("an upstream's name", name);
      notBlank("a provider of upstream " + name, provider);
      if (url == null || !url.matches("https?://[^/?#\\s]+(/[^?#\\s]*)?")) {
        throw new IllegalArgumentException(
            "Expected a URL such as https://api.anthropic.com for upstream "
                + name
                + ", but found "
                + url
                + ".");
      }
      url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    }
  }

  /**
   * Which quota a model's calls are charged to, and where they go.
   *
   * @param models patterns; {@code *} stands for any characters
   * @param quota quota id
   * @param upstream name of an upstream
   */
  public record Route(List<String> models, String quota, String upstream) {
    /** Checks the quota id, and that there is a pattern. */
    public Route {
      models = List.copyOf(models);
      if (models.isEmpty() || models.stream().anyMatch(String::isBlank)) {
        throw new IllegalArgumentException(
            "Expected a route with model patterns such as \"claude-*\", but found "
                + models
                + " for quota "
                + quota
                + ".");
      }
      if (!Ids.isQuotaId(quota)) {
        throw new IllegalArgumentException(
            "Expected a quota id `key` or `key/name` in the route of "
                + models
                + ", but found "
                + quota
                + ".");
      }
      notBlank("an upstream in the route of " + models, upstream);
    }
  }

  /**
   * Somebody who may call, and what a call may say about itself. What it says beyond that is
   * ignored.
   *
   * @param name first part of the ids of its agents
   * @param token its bearer token
   * @param tenant tenant of its calls, or null for that of the agent's pattern
   * @param roles roles that its calls may claim; empty: any
   * @param classes classes that its calls may claim; empty: any
   * @param role role of calls that claim none
   * @param leaseClass class of calls that claim none
   * @param operator whether it may switch modes
   */
  public record Caller(
      String name,
      SecretRef token,
      String tenant,
      Set<String> roles,
      Set<String> classes,
      String role,
      String leaseClass,
      boolean operator) {

    /** Who calls a gateway without callers: may claim anything. */
    static final Caller ANYBODY =
        new Caller("any", null, null, Set.of(), Set.of(), "worker", "batch", true);

    /** Whether this is whoever reaches a gateway that asks for no token. */
    boolean isAnybody() {
      return token == null;
    }

    /** Checks the ids. */
    public Caller {
      if (!Ids.isId(name) || name.length() > 30 || name.indexOf(':') >= 0) {
        throw new IllegalArgumentException(
            "Expected a caller's name of 1 to 30 characters A-Z a-z 0-9 . _ -, but found "
                + name
                + ".");
      }
      for (String id : new String[] {tenant, role, leaseClass}) {
        if (id != null && !Ids.isId(id)) {
          throw new IllegalArgumentException(
              "Expected tenant, role and class of caller " + name + " as ids, but found " + id);
        }
      }
      roles = Set.copyOf(roles);
      classes = Set.copyOf(classes);
    }
  }

  /**
   * How long calls wait.
   *
   * @param patience how long a client that does not say is taken to wait for an answer's beginning
   * @param patienceMargin how much earlier than its patience ends a client is answered
   * @param holdMax longest wait for a grant, also of a stream that is kept alive
   * @param keepAlive time between two comments on a stream that waits
   * @param upstreamIdle how long an upstream may stay silent
   * @param drain how long open calls are waited for when the gateway stops
   */
  public record Waits(
      Duration patience,
      Duration patienceMargin,
      Duration holdMax,
      Duration keepAlive,
      Duration upstreamIdle,
      Duration drain) {

    /** 55 s of patience, answered 5 s before its end, 10 min at most, a comment every 10 s. */
    public static final Waits DEFAULT =
        new Waits(
            Duration.ofSeconds(55),
            Duration.ofSeconds(5),
            Duration.ofMinutes(10),
            Duration.ofSeconds(10),
            Duration.ofMinutes(10),
            Duration.ofSeconds(30));

    /** Checks that all are above 0, the margin aside. */
    public Waits {
      positive("patience", patience);
      positive("hold_max", holdMax);
      positive("keep_alive", keepAlive);
      positive("upstream_idle", upstreamIdle);
      positive("drain", drain);
      if (patienceMargin == null || patienceMargin.isNegative()) {
        throw new IllegalArgumentException(
            "Expected a patience_margin of 0 or more, but found "
                + DurationText.of(patienceMargin)
                + ".");
      }
    }
  }

  /**
   * How much a gateway takes; what is beyond is refused.
   *
   * @param bodyBytes largest request body
   * @param bodiesBytes request bodies held at a time
   * @param connections connections at a time; more are not accepted until some close
   * @param openCalls calls at a time
   * @param clientIdle how long a client may take to send or to read the next bytes
   * @param requeues how often a call that the provider refused with 429 is put back in line
   */
  public record Bounds(
      int bodyBytes,
      long bodiesBytes,
      int connections,
      int openCalls,
      Duration clientIdle,
      int requeues) {

    /** 32 MiB a body, 512 MiB in all, 4096 connections, 2048 calls. */
    public static final Bounds DEFAULT =
        new Bounds(32 << 20, 512L << 20, 4_096, 2_048, Duration.ofSeconds(60), 20);

    /** Checks that all are above 0. */
    public Bounds {
      if (bodyBytes < 1
          || bodiesBytes < bodyBytes
          || connections < 1
          || openCalls < 1
          || requeues < 0) {
        throw new IllegalArgumentException(
            "Expected bounds above 0, and bodies_bytes of at least body_bytes, but found "
                + bodyBytes
                + ", "
                + bodiesBytes
                + ", "
                + connections
                + ", "
                + openCalls
                + ", "
                + requeues
                + ".");
      }
      positive("client_idle", clientIdle);
    }
  }

  /** Checks that everything named is there, and that strangers don't reach it. */
  public GatewayConfig {
    notBlank("a host", host);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("Expected a port of 0 to 65535, but found " + port + ".");
    }
    modes = Map.copyOf(modes);
    upstreams = Map.copyOf(upstreams);
    routes = List.copyOf(routes);
    callers = List.copyOf(callers);
    Set<String> names = new HashSet<>();
    for (Route route : routes) {
      known(upstreams, route.upstream(), "the route of " + route.models());
    }
    if (unknown != null) {
      known(upstreams, unknown, "unknown");
    }
    for (Caller caller : callers) {
      if (!names.add(caller.name()) || caller.token() == null) {
        throw new IllegalArgumentException(
            "Expected each caller once and with a token, but found " + caller.name() + ".");
      }
    }
    for (Upstream upstream : upstreams.values()) {
      if (!callers.isEmpty() && upstream.key() == null) {
        throw new IllegalArgumentException(
            "Expected a key for upstream "
                + upstream.name()
                + ", but found none: with callers, what they send are tokens of the gateway's, which"
                + " must not go to a provider.");
      }
    }
    if (callers.isEmpty() && !isLoopback(host)) {
      throw new IllegalArgumentException(
          "Expected callers with tokens where the gateway listens on "
              + host
              + ", but found none. Name them, or listen on 127.0.0.1.");
    }
  }

  /** The same on another port. */
  public GatewayConfig withPort(int newPort) {
    return new GatewayConfig(
        host, newPort, mode, modes, upstreams, routes, callers, unknown, waits, bounds);
  }

  private static void known(Map<String, Upstream> upstreams, String name, String where) {
    if (!upstreams.containsKey(name)) {
      throw new IllegalArgumentException(
          "Expected "
              + where
              + " to name one of the upstreams "
              + upstreams.keySet().stream().sorted().toList()
              + ", but found "
              + name
              + ".");
    }
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  private static void notBlank(String what, String value) {
    if (value == null || value.isBlank()) {
      throw new IllegalArgumentException("Expected " + what + ", but found none.");
    }
  }

  private static void positive(String name, Duration value) {
    if (value == null || value.isNegative() || value.isZero()) {
      throw new IllegalArgumentException(
          "Expected " + name + " above 0, but found " + DurationText.of(value) + ".");
    }
  }
}
