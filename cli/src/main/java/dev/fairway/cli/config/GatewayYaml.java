package dev.fairway.cli.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.fairway.agent.fallback.FailMode;
import dev.fairway.agent.fallback.FallbackConfig;
import dev.fairway.agent.gateway.GatewayConfig;
import dev.fairway.agent.gateway.GatewayConfig.Bounds;
import dev.fairway.agent.gateway.GatewayConfig.Caller;
import dev.fairway.agent.gateway.GatewayConfig.Estimates;
import dev.fairway.agent.gateway.GatewayConfig.Mode;
import dev.fairway.agent.gateway.GatewayConfig.Route;
import dev.fairway.agent.gateway.GatewayConfig.Upstream;
import dev.fairway.agent.gateway.GatewayConfig.Waits;
import dev.fairway.agent.gateway.InvalidSettingException;
import dev.fairway.agent.gateway.SecretRef;
import dev.fairway.replay.script.InvalidJsonException;
import dev.fairway.replay.script.JsonFields;
import dev.fairway.schemas.Ids;
import dev.fairway.schemas.Quota;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/** The section {@code gateway} of a {@code fairway.yaml}. */
final class GatewayYaml {
  private static final String ID = "gateway";

  /** Members of it have up to 80 characters, and agents 100. */
  private static final int ID_MAX = 19;

  /** What {@code unknown} says where it names no upstream. */
  private static final String REFUSE = "refuse";

  private static final String HOST = "127.0.0.1";

  /** Where the providers' own APIs are. */
  static final Map<String, String> URLS =
      Map.of(
          "anthropic", "https://api.anthropic.com",
          "openai", "https://api.openai.com",
          "groq", "https://api.groq.com/openai",
          "mistral", "https://api.mistral.ai",
          "openrouter", "https://openrouter.ai/api",
          "cerebras", "https://api.cerebras.ai");

  private GatewayYaml() {}

  /**
   * Reads the section.
   *
   * @param quotas the file's, whose {@code models} are routes where the section names none
   * @param allQuotas whether these are all of them, rather than those that could be read
   * @return null if it cannot be told whether it is right, because not all quotas could be read
   * @throws InvalidJsonException with every error of the section
   */
  static GatewaySection parse(JsonNode node, List<Quota> quotas, boolean allQuotas) {
    JsonFields in = JsonFields.rootWithSecrets(node);
    in.throwErrors();
    String id = in.string("id", ID);
    if (!Ids.isId(id) || id.indexOf(':') >= 0 || id.length() > ID_MAX) {
      in.error(
          "id", "expected an agent id without a colon, up to " + ID_MAX + " long, but found " + id);
    }
    String host = in.string("host", HOST);
    Integer port = in.integerOrNull("port");
    Mode mode = in.enumeration("mode", Mode.class, Mode.ENFORCE);
    Map<String, Mode> modes = in.enumerations("modes", Mode.class);
    Map<String, Upstream> upstreams = new HashMap<>();
    in.objects("upstreams", GatewayYaml::target)
        .forEach(
            (name, target) ->
                put(
                    upstreams,
                    name,
                    checked(
                        in,
                        "upstreams." + name + ".url",
                        () -> new Upstream(name, target.url(), target.provider(), target.key()))));
    if (upstreams.containsKey(REFUSE)) {
      in.error("upstreams." + REFUSE, "expected another name; `unknown: refuse` means nobody");
    }
    String unknown = in.string("unknown", REFUSE);
    String unknownTo = unknown.equals(REFUSE) ? null : unknown;
    List<Route> routes = new ArrayList<>(in.objectList("routes", GatewayYaml::route));
    boolean ownRoutes = routes.isEmpty() && !in.hasErrors("routes");
    if (ownRoutes && !in.hasErrors("upstreams")) {
      routes.addAll(routesOf(in, quotas, upstreams));
    }
    boolean routesKnown =
        !in.hasErrors("routes") && !in.hasErrors("upstreams") && (allQuotas || !ownRoutes);
    if (routesKnown && routes.isEmpty() && !upstreams.isEmpty() && unknownTo == null) {
      in.error(
          "upstreams",
          "expected routes, or quotas with models whose provider is one of "
              + providers(upstreams)
              + ", but found neither: every call would be refused");
    }
    List<Caller> callers = in.objectList("callers", GatewayYaml::caller);
    FallbackConfig fallback = fallback(in);
    Estimates estimates = in.object("estimates", GatewayYaml::estimates);
    Waits waits = waits(in);
    Bounds bounds = in.object("bounds", GatewayYaml::bounds);
    in.end();
    int portOrAny = port == null ? 0 : port;
    List<InvalidSettingException> wrong =
        GatewayConfig.wrongIn(host, portOrAny, modes, upstreams, routes, callers, unknownTo);
    // All are judged before any of them counts as an error that others depend on.
    wrong.stream()
        .filter(each -> isKnown(in, each.setting(), routesKnown))
        .toList()
        .forEach(each -> in.error(each.setting(), each.getMessage()));
    in.throwErrors();
    if (!wrong.isEmpty()) {
      return null;
    }
    return new GatewaySection(
        id,
        new GatewayConfig(
            host,
            portOrAny,
            mode,
            modes,
            upstreams,
            routes,
            callers,
            unknownTo,
            estimates == null ? Estimates.DEFAULT : estimates,
            waits,
            bounds == null ? Bounds.DEFAULT : bounds),
        fallback);
  }

  /** Whether what a setting depends on could be read; else it may well be right. */
  private static boolean isKnown(JsonFields in, String setting, boolean routesKnown) {
    return switch (setting.split("[.\\[]", 2)[0]) {
      case "modes" -> routesKnown && !in.hasErrors("modes");
      case "routes", "unknown" -> !in.hasErrors("upstreams") && !in.hasErrors(setting);
      case "callers", "host" -> !in.hasErrors("callers");
      case "upstreams" -> !in.hasErrors("callers") && !in.hasErrors(setting);
      default -> true;
    };
  }

  private record Target(String url, String provider, SecretRef key) {}

  private static Target target(JsonFields in) {
    String provider = in.requiredString("provider");
    String url = in.string("url", URLS.get(provider));
    if (url == null) {
      in.error("url", "expected the base URL of the provider's API, but found none");
    }
    SecretRef key = in.secret("key", GatewayYaml::secret);
    return url == null ? null : new Target(url, provider, key);
  }

  private static SecretRef secret(JsonFields in) {
    String env = in.string("env", null);
    String file = in.string("file", null);
    if (file != null && file.isBlank()) {
      in.error("file", "expected the path of a file that holds the secret, but found none");
      return null;
    }
    try {
      Path path = file == null ? null : Path.of(file);
      return checked(in, "env", () -> new SecretRef(env, path));
    } catch (InvalidPathException e) {
      in.error("file", "expected the path of a file, but found something else");
      return null;
    }
  }

  private static Route route(JsonFields in) {
    List<String> models = in.strings("models");
    String quota = in.requiredString("quota");
    String upstream = in.requiredString("upstream");
    return checked(in, "models", () -> new Route(models, quota, upstream));
  }

  /** A quota's own patterns, to the one upstream of its provider. */
  private static List<Route> routesOf(
      JsonFields in, List<Quota> quotas, Map<String, Upstream> upstreams) {
    List<Route> routes = new ArrayList<>();
    for (Quota quota : quotas) {
      List<String> ofProvider =
          upstreams.values().stream()
              .filter(upstream -> upstream.provider().equals(quota.getProvider()))
              .map(Upstream::name)
              .sorted()
              .toList();
      if (!quota.getModels().isEmpty() && ofProvider.size() == 1) {
        routes.add(new Route(quota.getModels(), quota.getId(), ofProvider.get(0)));
      } else if (!quota.getModels().isEmpty() && ofProvider.size() > 1) {
        in.error(
            "upstreams",
            "expected routes that say to which of "
                + ofProvider
                + " calls of quota "
                + quota.getId()
                + " go, but found none; without routes a provider has one upstream");
      }
    }
    return routes;
  }

  private static Set<String> providers(Map<String, Upstream> upstreams) {
    Set<String> providers = new TreeSet<>();
    upstreams.values().forEach(upstream -> providers.add(upstream.provider()));
    return providers;
  }

  private static Caller caller(JsonFields in) {
    String name = in.requiredString("name");
    SecretRef token = in.secret("token", GatewayYaml::secret);
    String tenant = in.string("tenant", null);
    List<String> roles = in.strings("roles");
    List<String> classes = in.strings("classes");
    String role = in.string("role", roles.isEmpty() ? "worker" : roles.get(0));
    String leaseClass = in.string("class", classes.isEmpty() ? "batch" : classes.get(0));
    boolean operator = in.bool("operator", false);
    return checked(
        in,
        "name",
        () ->
            new Caller(
                name,
                token,
                tenant,
                new HashSet<>(roles),
                new HashSet<>(classes),
                role,
                leaseClass,
                operator));
  }

  private static Waits waits(JsonFields in) {
    Waits standard = Waits.DEFAULT;
    Duration patience = duration(in, "patience", standard.patience());
    Duration margin = duration(in, "patience_margin", standard.patienceMargin());
    Duration hold = duration(in, "hold_max", standard.holdMax());
    Duration keepAlive = duration(in, "keep_alive", standard.keepAlive());
    Duration idle = duration(in, "upstream_idle", standard.upstreamIdle());
    Duration drain = duration(in, "drain", standard.drain());
    return checked(in, "patience", () -> new Waits(patience, margin, hold, keepAlive, idle, drain));
  }

  private static Estimates estimates(JsonFields in) {
    Estimates standard = Estimates.DEFAULT;
    boolean countTokens = in.bool("count_tokens", standard.countTokens());
    Integer perMinute = in.integerOrNull("counts_per_minute");
    Duration wait = duration(in, "count_wait", standard.countWait());
    return checked(
        in,
        "counts_per_minute",
        () ->
            new Estimates(
                countTokens, perMinute == null ? standard.countsPerMinute() : perMinute, wait));
  }

  private static FallbackConfig fallback(JsonFields in) {
    FallbackConfig standard = FallbackConfig.DEFAULT;
    FailMode mode = in.enumeration("fail_mode", FailMode.class, standard.mode());
    Duration silentAfter = duration(in, "silent_after", standard.silentAfter());
    return checked(in, "silent_after", () -> new FallbackConfig(mode, silentAfter));
  }

  private static Bounds bounds(JsonFields in) {
    Bounds standard = Bounds.DEFAULT;
    Integer bodyBytes = in.integerOrNull("body_bytes");
    Long bodiesBytes = in.longOrNull("bodies_bytes");
    Integer connections = in.integerOrNull("connections");
    Integer openCalls = in.integerOrNull("open_calls");
    Duration clientIdle = duration(in, "client_idle", standard.clientIdle());
    Integer retries = in.integerOrNull("retries");
    Integer requeues = in.integerOrNull("requeues");
    return checked(
        in,
        "body_bytes",
        () ->
            new Bounds(
                bodyBytes == null ? standard.bodyBytes() : bodyBytes,
                bodiesBytes == null ? standard.bodiesBytes() : bodiesBytes,
                connections == null ? standard.connections() : connections,
                openCalls == null ? standard.openCalls() : openCalls,
                clientIdle,
                retries == null ? standard.retries() : retries,
                requeues == null ? standard.requeues() : requeues));
  }

  private static Duration duration(JsonFields in, String name, Duration standard) {
    Long milliseconds = in.durationMs(name);
    return milliseconds == null ? standard : Duration.ofMillis(milliseconds);
  }

  private static <T> void put(Map<String, T> map, String name, T value) {
    if (value != null) {
      map.put(name, value);
    }
  }

  /** What the constructor complains about is an error of the file; then null. */
  private static <T> T checked(JsonFields in, String name, Supplier<T> constructor) {
    try {
      return constructor.get();
    } catch (InvalidSettingException e) {
      in.error(name.substring(0, name.lastIndexOf('.') + 1) + e.setting(), e.getMessage());
      return null;
    } catch (IllegalArgumentException e) {
      in.error(name, e.getMessage());
      return null;
    }
  }
}
