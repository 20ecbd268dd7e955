package dev.fairway.agent.gateway;

import dev.fairway.agent.fallback.RetryBudget;
import dev.fairway.agent.provider.Credentials;
import dev.fairway.schemas.DurationText;
import dev.fairway.schemas.Ids;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

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
 * @param estimates how input is estimated
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
    Estimates estimates,
    Waits waits,
    Bounds bounds) {

  private static final int PORT_MAX = 65_535;

  /**
   * A base URL with the part that {@link Endpoint} paths begin with, which would be there twice.
   */
  private static final Pattern VERSIONED = Pattern.compile(".*/v1/?");

  /** Hosts whose own APIs a gateway does not speak; below a path there may be one that it does. */
  private static final Pattern OTHER_PATHS =
      Pattern.compile(
          "(bedrock[a-z-]*\\..*\\.amazonaws\\.com|(.*-)?aiplatform\\.googleapis\\.com"
              + "|generativelanguage\\.googleapis\\.com)/?");

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
   * @param url base URL, to which the path of a call is appended; so without the {@code /v1} with
   *     which that begins
   * @param provider profile that reads its answers, such as {@code anthropic}
   * @param key its API key; null, without callers: what the client sends is passed on
   */
  public record Upstream(String name, String url, String provider, SecretRef key) {
    /** Checks that everything but the key is there. */
    public Upstream {
      notBlank("name", "an upstream's name", name);
      notBlank("provider", "a provider of upstream " + name, provider);
      String wrong = wrongIn(url);
      if (wrong != null) {
        throw new InvalidSettingException(
            "url",
            "Expected a URL such as https://api.anthropic.com for upstream "
                + name
                + ", but found "
                + wrong
                + ".");
      }
      url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    }

    /** What is wrong with a base URL, without what may be a secret in it; null if nothing is. */
    private static String wrongIn(String url) {
      if (url == null || !url.matches("https?://.*")) {
        return url == null ? "none" : "one that does not begin with http:// or https://";
      }
      if (Credentials.inAddress(url) != null) {
        return "one with a user, a password or a key in it: those belong into `key`";
      }
      URI parsed;
      try {
        parsed = new URI(url);
      } catch (URISyntaxException e) {
        return "one that is none: " + e.getReason();
      }
      if (parsed.getRawQuery() != null || parsed.getRawFragment() != null) {
        return "one with a query, to which no path can be added";
      }
      if (VERSIONED.matcher(url).matches()) {
        return "one that ends in /v1: leave that out, the path of each call begins with it";
      }
      if (OTHER_PATHS.matcher(String.valueOf(parsed.getHost()) + parsed.getPath()).matches()) {
        return "Bedrock's or Gemini's own API, which has other paths than a gateway's calls: agents"
            + " ask for leases themselves and call it";
      }
      if (parsed.getHost() == null || parsed.getPort() == 0 || parsed.getPort() > PORT_MAX) {
        return "the host and port "
            + parsed.getRawAuthority()
            + " (hosts are of letters, digits, - and ., ports 1 to "
            + PORT_MAX
            + ")";
      }
      return null;
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
        throw new InvalidSettingException(
            "models",
            "Expected a route with model patterns such as \"claude-*\", but found "
                + models
                + " for quota "
                + quota
                + ".");
      }
      if (!Ids.isQuotaId(quota)) {
        throw new InvalidSettingException(
            "quota",
            "Expected a quota id `key` or `key/name` in the route of "
                + models
                + ", but found "
                + quota
                + ".");
      }
      notBlank("upstream", "an upstream in the route of " + models, upstream);
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
        throw new InvalidSettingException(
            "name",
            "Expected a caller's name of 1 to 30 characters A-Z a-z 0-9 . _ -, but found "
                + name
                + ".");
      }
      id("tenant", name, tenant);
      id("role", name, role);
      id("class", name, leaseClass);
      roles = Set.copyOf(roles);
      classes = Set.copyOf(classes);
      among("role", name, role, roles);
      among("class", name, leaseClass, classes);
    }

    private static void id(String setting, String name, String id) {
      if (id != null && !Ids.isId(id)) {
        throw new InvalidSettingException(
            setting,
            "Expected the " + setting + " of caller " + name + " as an id, but found " + id + ".");
      }
    }

    private static void among(String setting, String name, String id, Set<String> ids) {
      if (!ids.isEmpty() && !ids.contains(id)) {
        throw new InvalidSettingException(
            setting,
            "Expected the "
                + setting
                + " of caller "
                + name
                + " to be one of those that it may claim, "
                + ids.stream().sorted().toList()
                + ", but found "
                + id
                + ".");
      }
    }
  }

  /**
   * How the input of calls is estimated.
   *
   * @param countTokens whether Anthropic may be asked for counts, with the key of the call
   * @param countsPerMinute how many counts may be asked for in a minute
   * @param countWait how long a call waits for its count
   */
  public record Estimates(boolean countTokens, int countsPerMinute, Duration countWait) {
    /** By tokenizer alone; if counts are allowed, 60 a minute, each within 500 ms. */
    public static final Estimates DEFAULT = new Estimates(false, 60, Duration.ofMillis(500));

    /** Checks that both numbers are above 0. */
    public Estimates {
      atLeast(1, "counts_per_minute", countsPerMinute);
      positive("count_wait", countWait);
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
        throw new InvalidSettingException(
            "patience_margin",
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
   * @param retries how often one logical call goes upstream again, by whoever's retries
   * @param requeues how often a call that the provider refused with 429 is put back in line
   */
  public record Bounds(
      int bodyBytes,
      long bodiesBytes,
      int connections,
      int openCalls,
      Duration clientIdle,
      int retries,
      int requeues) {

    /** 32 MiB a body, 512 MiB in all, 4096 connections, 2048 calls, 12 retries. */
    public static final Bounds DEFAULT =
        new Bounds(32 << 20, 512L << 20, 4_096, 2_048, Duration.ofSeconds(60), 12, 20);

    /** Checks the ranges. */
    public Bounds {
      atLeast(1, "body_bytes", bodyBytes);
      if (bodiesBytes < bodyBytes) {
        throw new InvalidSettingException(
            "bodies_bytes",
            "Expected bodies_bytes of at least body_bytes, which is "
                + bodyBytes
                + ", but found "
                + bodiesBytes
                + ".");
      }
      atLeast(1, "connections", connections);
      atLeast(1, "open_calls", openCalls);
      atLeast(0, "retries", retries);
      if (retries > RetryBudget.RETRIES_MAX) {
        throw new InvalidSettingException(
            "retries",
            "Expected up to " + RetryBudget.RETRIES_MAX + " retries, but found " + retries + ".");
      }
      atLeast(0, "requeues", requeues);
      positive("client_idle", clientIdle);
    }
  }

  /** Checks that everything named is there, and that strangers don't reach it. */
  public GatewayConfig {
    List<InvalidSettingException> wrong =
        wrongIn(host, port, modes, upstreams, routes, callers, unknown);
    if (!wrong.isEmpty()) {
      throw wrong.get(0);
    }
    modes = Map.copyOf(modes);
    upstreams = Map.copyOf(upstreams);
    routes = List.copyOf(routes);
    callers = List.copyOf(callers);
  }

  /** All that is wrong between the parts of a configuration, each of which may be right alone. */
  public static List<InvalidSettingException> wrongIn(
      String host,
      int port,
      Map<String, Mode> modes,
      Map<String, Upstream> upstreams,
      List<Route> routes,
      List<Caller> callers,
      String unknown) {
    List<InvalidSettingException> wrong = new ArrayList<>();
    if (port < 0 || port > PORT_MAX) {
      wrong.add(
          new InvalidSettingException(
              "port", "Expected a port of 0 to " + PORT_MAX + ", but found " + port + "."));
    }
    for (int i = 0; i < routes.size(); i++) {
      String where = "the route of " + routes.get(i).models();
      known(upstreams, routes.get(i).upstream(), "routes[" + i + "].upstream", where, wrong);
    }
    if (unknown != null) {
      known(upstreams, unknown, "unknown", "unknown", wrong);
    }
    Set<String> quotas = new TreeSet<>();
    routes.forEach(route -> quotas.add(route.quota()));
    for (String quota : new TreeSet<>(modes.keySet())) {
      if (!quotas.contains(quota)) {
        wrong.add(
            new InvalidSettingException(
                "modes." + quota,
                "Expected modes of quotas that routes name, "
                    + quotas
                    + ", but found "
                    + quota
                    + "."));
      }
    }
    checkCallers(callers, upstreams, wrong);
    checkHost(host, callers, wrong);
    return wrong;
  }

  private static void checkHost(
      String host, List<Caller> callers, List<InvalidSettingException> wrong) {
    try {
      notBlank("host", "a host", host);
      if (callers.isEmpty() && !isLoopback(host)) {
        throw new InvalidSettingException(
            "host",
            "Expected callers with tokens where the gateway listens on "
                + host
                + ", but found none. Name them, or listen on 127.0.0.1.");
      }
    } catch (InvalidSettingException e) {
      wrong.add(e);
    }
  }

  private static void checkCallers(
      List<Caller> callers, Map<String, Upstream> upstreams, List<InvalidSettingException> wrong) {
    Map<SecretRef, String> byToken = new HashMap<>();
    Set<String> names = new HashSet<>();
    for (int i = 0; i < callers.size(); i++) {
      String name = callers.get(i).name();
      SecretRef token = callers.get(i).token();
      if (!names.add(name)) {
        wrong.add(
            new InvalidSettingException(
                "callers[" + i + "].name",
                "Expected each caller once, but found " + name + " again."));
      }
      String other = token == null ? null : byToken.putIfAbsent(token, name);
      if (token == null) {
        wrong.add(
            new InvalidSettingException(
                "callers[" + i + "].token",
                "Expected a token for caller " + name + ", but found none."));
      } else if (other != null) {
        wrong.add(
            new InvalidSettingException(
                "callers[" + i + "].token",
                "Expected a token of its own for each caller, but "
                    + name
                    + " and "
                    + other
                    + " have the same."));
      }
    }
    for (Upstream upstream : upstreams.values()) {
      if (!callers.isEmpty() && upstream.key() == null) {
        wrong.add(
            new InvalidSettingException(
                "upstreams." + upstream.name() + ".key",
                "Expected a key for upstream "
                    + upstream.name()
                    + ", but found none: with callers, what they send are tokens of the gateway's,"
                    + " which must not go to a provider."));
      }
    }
  }

  /** The same on another port. */
  public GatewayConfig withPort(int newPort) {
    return new GatewayConfig(
        host, newPort, mode, modes, upstreams, routes, callers, unknown, estimates, waits, bounds);
  }

  private static void known(
      Map<String, Upstream> upstreams,
      String name,
      String setting,
      String where,
      List<InvalidSettingException> wrong) {
    if (!upstreams.containsKey(name)) {
      wrong.add(
          new InvalidSettingException(
              setting,
              "Expected "
                  + where
                  + " to name one of the upstreams "
                  + upstreams.keySet().stream().sorted().toList()
                  + ", but found "
                  + name
                  + "."));
    }
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      throw new InvalidSettingException(
          "host", "Expected an address of this machine, but nobody here knows " + host + ".");
    }
  }

  private static void notBlank(String setting, String what, String value) {
    if (value == null || value.isBlank()) {
      throw new InvalidSettingException(setting, "Expected " + what + ", but found none.");
    }
  }

  private static void atLeast(int least, String setting, int value) {
    if (value < least) {
      throw new InvalidSettingException(
          setting, "Expected " + setting + " of " + least + " or more, but found " + value + ".");
    }
  }

  private static void positive(String setting, Duration value) {
    if (value == null || value.isNegative() || value.isZero()) {
      throw new InvalidSettingException(
          setting, "Expected " + setting + " above 0, but found " + DurationText.of(value) + ".");
    }
  }
}
