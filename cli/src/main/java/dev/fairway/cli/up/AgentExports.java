package dev.fairway.cli.up;

import dev.fairway.agent.gateway.GatewayConfig;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Environment variables that have an agent call the gateway instead of its provider. */
final class AgentExports {

  /** Whose models are called by OpenAI's SDKs, too. */
  private static final Set<String> OPENAI_COMPATIBLE =
      Set.of("openai", "groq", "mistral", "openrouter", "cerebras", "generic");

  private AgentExports() {}

  /** By name, sorted; empty if no upstream is of a provider whose SDK takes one. */
  static Map<String, String> of(GatewayConfig config, String url) {
    Map<String, String> exports = new TreeMap<>();
    config
        .upstreams()
        .values()
        .forEach(
            upstream -> {
              if (upstream.provider().equals("anthropic")) {
                exports.put("ANTHROPIC_BASE_URL", url);
              } else if (OPENAI_COMPATIBLE.contains(upstream.provider())) {
                exports.put("OPENAI_BASE_URL", url + "/v1");
              }
            });
    return exports;
  }
}
