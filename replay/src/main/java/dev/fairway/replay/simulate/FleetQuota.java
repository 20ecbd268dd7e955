package dev.fairway.replay.simulate;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.replay.script.QuotaJson;
import dev.fairway.replay.world.Admission;
import dev.fairway.replay.world.Admission.Terms;
import dev.fairway.schemas.PolicyPreset;
import dev.fairway.schemas.ProviderWindow;
import dev.fairway.schemas.Quota;

/** The quota that an operator would define for the fleet's provider. */
final class FleetQuota {
  private static final int MINUTE_S = 60;

  private FleetQuota() {}

  /**
   * A quota at those limits.
   *
   * @param knobs fields that it has besides, or instead
   * @throws dev.fairway.replay.script.InvalidJsonException if one of them is unknown or no value
   */
  static Quota of(Terms terms, PolicyPreset preset, ObjectNode knobs) {
    ObjectNode quota = JsonNodeFactory.instance.objectNode();
    quota.put("id", Admission.QUOTA);
    // A provider that reserves max_tokens has another profile.
    quota.put("provider", terms.reservesMaxTokens() ? "bedrock" : "anthropic");
    quota.put("policy", preset.name());
    quota.put("window", terms.window().name());
    ObjectNode limits = quota.putObject("limits");
    limits.put("requests_per_minute", terms.requestsPerMinute());
    limits.put("input_tokens_per_minute", terms.inputTokensPerMinute());
    limits.put("output_tokens_per_minute", terms.outputTokensPerMinute());
    if (terms.window() == ProviderWindow.TOKEN_BUCKET && terms.depthS() != MINUTE_S) {
      // An operator who knows that the bucket is shallow says so, less a second of its rate.
      ObjectNode depth = quota.putObject("depth");
      depth.put("requests", depth(terms, terms.requestsPerMinute()));
      depth.put("input_tokens", depth(terms, terms.inputTokensPerMinute()));
      depth.put("output_tokens", depth(terms, terms.outputTokensPerMinute()));
    }
    quota.setAll(knobs);
    return QuotaJson.parse(quota);
  }

  private static long depth(Terms terms, long limit) {
    return Math.max(1, limit * terms.depthS() / MINUTE_S - limit / MINUTE_S);
  }
}
