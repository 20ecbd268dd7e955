package dev.fairway.agent.gateway;

import dev.fairway.agent.gateway.GatewayConfig.Route;
import dev.fairway.agent.gateway.GatewayConfig.Upstream;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Says where a model's calls go and which quota they take from. Thread-safe. */
final class Router {
  /**
   * Where a call goes.
   *
   * @param quota quota, or null for a call that is passed uncounted
   * @param upstream upstream
   */
  record Target(String quota, Upstream upstream) {}

  private record Rule(Pattern model, Target target) {}

  private final List<Rule> rules;
  private final Target unknown;

  Router(GatewayConfig config) {
    Map<String, Upstream> upstreams = config.upstreams();
    rules =
        config.routes().stream()
            .flatMap(
                route ->
                    route.models().stream()
                        .map(model -> new Rule(glob(model), target(route, upstreams))))
            .toList();
    unknown = config.unknown() == null ? null : new Target(null, upstreams.get(config.unknown()));
  }

  /** Where calls of a model go; null: they are refused. */
  Target ofModel(String model) {
    for (Rule rule : rules) {
      if (rule.model().matcher(model).matches()) {
        return rule.target();
      }
    }
    return unknown;
  }

  /** Where calls go that name no model the gateway reads; null: they are refused. */
  Target ofUnknownPath() {
    return unknown;
  }

  private static Target target(Route route, Map<String, Upstream> upstreams) {
    return new Target(route.quota(), upstreams.get(route.upstream()));
  }

  private static Pattern glob(String pattern) {
    StringBuilder regex = new StringBuilder();
    for (int i = 0; i < pattern.length(); i++) {
      char c = pattern.charAt(i);
      regex.append(c == '*' ? ".*" : Pattern.quote(String.valueOf(c)));
    }
    return Pattern.compile(regex.toString(), Pattern.DOTALL);
  }
}
