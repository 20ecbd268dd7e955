package dev.fairway.replay.simulate;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.fairway.replay.script.QuotaJson;
import dev.fairway.replay.world.Admission.Terms;
import dev.fairway.replay.world.Dimension;
import dev.fairway.replay.world.ProtocolGate;
import dev.fairway.replay.world.WorldOptions.ProviderModel;
import dev.fairway.replay.world.WorldOptions.Window;
import dev.fairway.schemas.PolicyPreset;
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
    ProviderModel model = terms.provider();
    ObjectNode quota = JsonNodeFactory.instance.objectNode();
    quota.put("id", ProtocolGate.QUOTA);
    // A provider that reserves max_tokens has another profile.
    quota.put("provider", model.maxTokensCharged() ? "bedrock" : "anthropic");
    quota.put("policy", preset.name());
    quota.put("window", model.window().name());
    ObjectNode limits = quota.putObject("limits");
    limits.put("requests_per_minute", terms.limits().requests());
    limits.put("input_tokens_per_minute", terms.limits().inputTokens());
    limits.put("output_tokens_per_minute", terms.limits().outputTokens());
    if (model.window() == Window.TOKEN_BUCKET && model.depthS() != MINUTE_S) {
      // An operator who knows that the bucket is shallow says so, less a second of its rate.
      ObjectNode depth = quota.putObject("depth");
      for (Dimension d : Dimension.values()) {
        long limit = terms.limits().of(d);
        long ofProvider = limit * model.depthS() / MINUTE_S;
        depth.put(d.wireName(), Math.max(1, ofProvider - limit / MINUTE_S));
      }
    }
    quota.setAll(knobs);
    return QuotaJson.parse(quota);
  }
}
